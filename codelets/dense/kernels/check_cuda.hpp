// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <cuda_runtime.h>

#include <tessera/data.hpp>

/// The kernels behind the tasks of check.hpp on a GPU. All pointers are device memory, everything is
/// enqueued on the stream. Sums are in double and their order depends on the sizes alone.
namespace tessera::device {

/// sums[c] := sum_i |R(i, c) - values[c] Y(i, c)|, or of |R| alone if y is null. R is read once.
template <class T>
void launch_column_sums(cudaStream_t stream, MatrixView<const T> r, const MatrixView<const T>* y,
                        const RealOf<T>* values, double* sums);

/// sums[d] := sum_c |P(d, c) - delta(d, first + c)|, delta the identity if `identity`, else zero; P is the
/// columns from `first` on of a matrix. If first > 0, added to the sums of the columns before.
template <class T>
void launch_row_sums(cudaStream_t stream, MatrixView<const T> p, bool identity, Index first, double* sums);

/// What AbsoluteTileSums writes: column sums, and row sums behind them or, on the diagonal, those of the
/// strict lower triangle added to them. A is read twice.
template <class T>
void launch_tile_sums(cudaStream_t stream, MatrixView<const T> a, bool diagonal, double* sums);

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
