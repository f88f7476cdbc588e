// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cublas_v2.h>

#include <tessera/codelets/tile_part.hpp>

/// The device side of blas3.hpp where it is more than one call of cuBLAS, on plain device memory. Of
/// Hermitian matrices the lower triangle counts; what is above the diagonal of a matrix that is written may
/// change. All of it runs on the handle's stream.
namespace tessera {

/// C := C - A A^H. [n^2 k]
template <class T>
void launch_herk_subtract(cublasHandle_t handle, MatrixView<const T> a, MatrixView<T> c) noexcept;

/// C := C - A B^H - B A^H. [2 n^2 k]
template <class T>
void launch_her2k_subtract(cublasHandle_t handle, MatrixView<const T> a, MatrixView<const T> b,
                           MatrixView<T> c) noexcept;

/// A := L with L L^H = A, recursively on halves: no work space, and nearly all of it general products.
/// `failure`: device-visible; becomes the order of the leading minor that is not positive definite, if it was
/// 0. [n^3 / 3]
template <class T>
void launch_potrf(cublasHandle_t handle, MatrixView<T> a, long long* failure) noexcept;

/// A := L^-1 A L^-H, recursively on halves as LAPACK's hegst does it on blocks. [n^3]
template <class T>
void launch_hegst(cublasHandle_t handle, MatrixView<T> a, MatrixView<const T> l) noexcept;

}  // namespace tessera
