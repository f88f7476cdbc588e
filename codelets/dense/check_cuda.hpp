// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <tessera/runtime/data.hpp>

/// The kernels behind the codelets of check.hpp on a GPU. All pointers are device memory, everything is
/// enqueued on the stream (the handle's where there is one). Sums are in double and their order depends on
/// the sizes alone.
namespace tessera::device {

/// Y := Y + A X, A Hermitian n x n of which the lower triangle counts. In columns of blocks: the blocks on
/// the diagonal by hemm, what is below, once as it is and once adjoint, by GEMM. Flops: 2 n^2 columns of Y.
template <class T>
void multiply_hermitian(cublasHandle_t handle, MatrixView<const T> a, MatrixView<const T> x, MatrixView<T> y);

/// sums[c] := sum_i |R(i, c) - values[c] Y(i, c)|, or of |R| alone if y is null. R is read once.
template <class T>
void launch_column_sums(cudaStream_t stream, MatrixView<const T> r, const MatrixView<const T>* y,
                        const RealOf<T>* values, double* sums);

/// sums[d] := sum_c |P(d, c) - delta(d, c)|, delta the identity if `identity`, else zero.
template <class T>
void launch_row_sums(cudaStream_t stream, MatrixView<const T> p, bool identity, double* sums);

/// What codelet tile_sums writes: column sums, and row sums behind them or, on the diagonal, those of the
/// strict lower triangle added to them. A is read twice.
template <class T>
void launch_tile_sums(cudaStream_t stream, MatrixView<const T> a, bool diagonal, double* sums);

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
