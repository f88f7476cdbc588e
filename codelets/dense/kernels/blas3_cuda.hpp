// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <tessera/runtime/device_task.hpp>

/// The device side of blas3.hpp where it is more than one call of cuBLAS, on plain device memory. Of
/// Hermitian matrices the lower triangle counts; what is above the diagonal of a matrix that is written may
/// change. All of it runs on the context's stream.
namespace tessera {

/// C := C - A A^H. [n^2 k]
template <class T>
void launch_herk_subtract(const CudaContext& on, MatrixView<const T> a, MatrixView<T> c) noexcept;

/// C := C - A B^H - B A^H. [2 n^2 k]
template <class T>
void launch_her2k_subtract(const CudaContext& on, MatrixView<const T> a, MatrixView<const T> b,
                           MatrixView<T> c) noexcept;

/// Size of potrf's work space.
template <class T>
std::size_t potrf_bytes(Index n);

/// A := L with L L^H = A, by cuSOLVER, in `work` of potrf_bytes<T>(a.rows) bytes, aligned as by cudaMalloc.
/// `failure`: device-visible; becomes the order of the leading minor that is not positive definite, if it was
/// 0. False if cuSOLVER refuses the call. [n^3 / 3]
template <class T>
bool launch_potrf(const CudaContext& on, MatrixView<T> a, std::span<char> work, long long* failure);

/// Order up to which two triangular solves with the whole square are faster than LAPACK's hegst on blocks.
inline constexpr Index hegst_base = 4096;

/// A := L^-1 A L^-H, recursively on halves as LAPACK's hegst does it on blocks, down to order `base`. [n^3,
/// up to order `base` 2 n^3]
template <class T>
void launch_hegst(const CudaContext& on, MatrixView<T> a, MatrixView<const T> l,
                  Index base = hegst_base) noexcept;

}  // namespace tessera

#endif  // TESSERA_WITH_CUDA
