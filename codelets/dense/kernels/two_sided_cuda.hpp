// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <cublas_v2.h>

#include <tessera/codelets/common/tile_part.hpp>

/// The device side of two_sided.hpp, on plain device memory. All of it runs on the handle's stream.
namespace tessera {

/// The view of what is only read.
template <class T>
MatrixView<const T> constant(const MatrixView<T>& a) noexcept {
  return {a.data, a.rows, a.cols, a.ld};
}

/// Y := [Y +] A W, A Hermitian with both triangles valid.
template <class T>
void launch_hermitian_product(cublasHandle_t handle, MatrixView<const T> a, MatrixView<const T> w, bool fresh,
                              MatrixView<T> y) noexcept;

/// Y_i := [Y_i +] A W_j, Y_j := [Y_j +] A^H W_i.
template <class T>
void launch_product_pair(cublasHandle_t handle, MatrixView<const T> a, MatrixView<const T> w_i,
                         MatrixView<const T> w_j, bool fresh_i, bool fresh_j, MatrixView<T> y_i,
                         MatrixView<T> y_j) noexcept;

/// Y := [Y +] sum of the parts.
template <class T>
void launch_sum_parts(cudaStream_t stream, std::span<const MatrixView<const T>> parts, bool fresh,
                      MatrixView<T> y) noexcept;

/// D := [V^H W; Z^H W; W^H Y] at the rows 0, kb and 2 kb; VZ has the rows of W and Y.
template <class T>
void launch_inner_products(cublasHandle_t handle, MatrixView<const T> vz, MatrixView<const T> w,
                           MatrixView<const T> y, Index done, Index kb, MatrixView<T> d) noexcept;

/// D := sum of the pieces; the rows [kb + done, kb + done + b) become 1/2 W^H A W.
template <class T>
void launch_inner_sum(cudaStream_t stream, std::span<const MatrixView<const T>> pieces, Index done, Index kb,
                      Index b, MatrixView<T> d) noexcept;

/// Z := Y - V (Z^H W) - Z (V^H W) - V_new (1/2 W^H A W) into the columns [kb + done, kb + done + b) of VZ.
template <class T>
void launch_form_z(cublasHandle_t handle, MatrixView<const T> d, MatrixView<const T> y, Index done, Index kb,
                   MatrixView<T> vz) noexcept;

/// C := C - V_i Z_j^H - Z_i V_j^H with the first `done` columns of V and Z; VZ_i has the rows of C, VZ_j has
/// as many rows as C has columns. With a workspace of 2 kb x (columns of C) and done = kb it is one product.
template <class T>
void launch_subtract_pair(cublasHandle_t handle, MatrixView<const T> vz_i, MatrixView<const T> vz_j,
                          Index done, Index kb, T* workspace, MatrixView<T> c) noexcept;

/// C := C - V Z^H - Z V^H, C Hermitian, both triangles; workspace as above.
template <class T>
void launch_hermitian_update(cublasHandle_t handle, MatrixView<const T> vz, Index done, Index kb,
                             T* workspace, MatrixView<T> c) noexcept;

template <class T>
void launch_set_zero(cudaStream_t stream, MatrixView<T> a) noexcept;

/// Entry (i, j) of the source is entry (row0 + i, col0 + j) of the band matrix, whose column first_col is the
/// first one of the segment; entries outside of the band are left out.
template <class T>
void launch_copy_to_band(cudaStream_t stream, MatrixView<const T> source, Index b, Index row0, Index col0,
                         Index first_col, MatrixView<T> segment) noexcept;

}  // namespace tessera
