// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <tessera/data.hpp>

namespace tessera {

/// The inner products of a panel step, of double or float, in double on the tensor cores, three products with
/// long sums in one kernel: D := [V^H W; Z^H W; W^H Y] at the rows 0, kb and 2 kb, the first `done` columns
/// of V and Z.
///
/// A cluster of 16 blocks makes a tile of 64 x 64 results: each block adds up over a sixteenth of the rows
/// (eight warps of 32 x 16 results, m16n8k16, rows fetched four steps ahead), and then they add their parts,
/// in a fixed order, through distributed shared memory. Faster than a BLAS up to about 8192 rows, where the
/// start of several kernels counts, and float up to 16384. [4 rows done b + 2 rows b^2]
template <class T>
void launch_tall_inner_products(cudaStream_t stream, MatrixView<const T> vz, MatrixView<const T> w,
                                MatrixView<const T> y, Index done, Index kb, MatrixView<T> d) noexcept;

}  // namespace tessera
