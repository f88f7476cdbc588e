// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/dense/two_sided.hpp>

/// What the bodies of two_sided.hpp and panel_step.hpp consist of besides BLAS, on plain memory, by context.
namespace tessera {

/// Y := beta Y + sum of the parts, beta 0 or 1.
template <class T>
void sum_parts(const HostContext& on, std::span<const MatrixView<const T>> parts, int beta,
               MatrixView<T> y) noexcept;
template <class T>
void sum_parts(const CudaContext& on, std::span<const MatrixView<const T>> parts, int beta,
               MatrixView<T> y) noexcept;

/// Entry (i, j) of the source is entry (place.row + i, place.column + j) of the band matrix; entries outside
/// of the band are left out.
template <class T>
void copy_to_band(const HostContext& on, MatrixView<const T> source, const BandPlace& place,
                  MatrixView<T> segment) noexcept;
template <class T>
void copy_to_band(const CudaContext& on, MatrixView<const T> source, const BandPlace& place,
                  MatrixView<T> segment) noexcept;

template <class T>
void set_zero(const HostContext& on, MatrixView<T> a) noexcept;
template <class T>
void set_zero(const CudaContext& on, MatrixView<T> a) noexcept;

// On a GPU alone:

/// D := sum of the pieces; the rows [kb + done, kb + done + b) become 1/2 W^H A W. One kernel.
template <class T>
void launch_inner_sum(const CudaContext& on, std::span<const MatrixView<const T>> pieces, Index done,
                      Index kb, Index b, MatrixView<T> d) noexcept;

/// The inner products of a panel step, of double or float, in double on the tensor cores, three products with
/// long sums in one kernel: D := [V^H W; Z^H W; W^H Y] at the rows 0, kb and 2 kb, the first `done` columns
/// of V and Z.
///
/// A cluster of 16 blocks makes a tile of 64 x 64 results: each block adds up over a sixteenth of the rows
/// (eight warps of 32 x 16 results, m16n8k16, rows fetched four steps ahead), and then they add their parts,
/// in a fixed order, through distributed shared memory. [4 rows done b + 2 rows b^2]
template <class T>
void launch_tall_inner_products(const CudaContext& on, MatrixView<const T> vz, MatrixView<const T> w,
                                MatrixView<const T> y, Index done, Index kb, MatrixView<T> d) noexcept;

/// C := C - V_i Z_j^H - Z_i V_j^H with the first `done` columns of V and Z; VZ_i has the rows of C, VZ_j has
/// as many rows as C has columns. With a workspace of 2 kb x (columns of C) and done = kb it is one product.
template <class T>
void launch_subtract_pair(const CudaContext& on, MatrixView<const T> vz_i, MatrixView<const T> vz_j,
                          Index done, Index kb, T* workspace, MatrixView<T> c) noexcept;

/// C := C - V Z^H - Z V^H, C Hermitian, both triangles; workspace as above.
template <class T>
void launch_hermitian_update(const CudaContext& on, MatrixView<const T> vz, Index done, Index kb,
                             T* workspace, MatrixView<T> c) noexcept;

}  // namespace tessera
