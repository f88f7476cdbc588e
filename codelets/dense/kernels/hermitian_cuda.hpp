// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cublas_v2.h>

#include <tessera/types.hpp>

/// Hermitian matrices on the device, of which the lower triangle counts: updates by general products in block
/// columns (a triangular product of cuBLAS stays far below its general one), and the completion of the upper
/// triangle. Everything is column-major and runs on the stream or the handle's stream.
namespace tessera {

/// Upper triangle := adjoint of the lower one; the diagonal becomes real. [no flops, reads and writes n^2 /
/// 2]
template <class T>
void launch_mirror_lower(cudaStream_t stream, Index n, T* a, Index lda) noexcept;

/// C := C - X Y^H for the lower triangle of C (n x n), X and Y n x k. Entries above the diagonal, near it,
/// change too. [n^2 k]
template <class T>
void subtract_lower_product(cublasHandle_t handle, Index n, Index k, const T* x, Index ldx, const T* y,
                            Index ldy, T* c, Index ldc) noexcept;

}  // namespace tessera
