// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <tessera/runtime/data.hpp>

/// Products with a tall matrix of few columns, in double on the tensor cores: one kernel for what takes
/// several products of a BLAS (a sum of two products; three products with long sums, split and added up in a
/// fixed order). Tiles of 64 x 64 results, eight warps of 32 x 16, m16n8k16.
namespace tessera {

/// D := [V^H W; Z^H W; W^H Y] at the rows 0, kb and 2 kb, the first `done` columns of V and Z. The rows of W
/// are split over the 16 blocks of a cluster, which add their parts through distributed shared memory. [4
/// rows done b + 2 rows b^2]
void launch_tall_inner_products(cudaStream_t stream, MatrixView<const double> vz, MatrixView<const double> w,
                                MatrixView<const double> y, Index done, Index kb,
                                MatrixView<double> d) noexcept;

/// A product A op(B) of a sum: A has the rows of the result and `depth` columns.
struct TallFactor {
  const double* a;
  const double* b;
  Index depth;
};
/// C := X - A1 op(B1) - A2 op(B2), op: none or transpose for both; C may be X. [2 rows cols (depth1 +
/// depth2)]
void launch_tall_update(cudaStream_t stream, const TallFactor (&factors)[2], Index lda, Index ldb,
                        bool transpose_b, MatrixView<const double> x, MatrixView<double> c) noexcept;

}  // namespace tessera
