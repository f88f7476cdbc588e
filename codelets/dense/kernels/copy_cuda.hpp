// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <span>

#include <cuda_runtime.h>

#include <tessera/data.hpp>

/// The kernels behind the tasks of copy.hpp on a GPU. All pointers are device memory, everything is
/// enqueued on the stream; sizes of zero do nothing (a result is still written where there is one).
namespace tessera::device {

/// *out := largest absolute value of the part of the tile that counts (real and imaginary parts apart),
/// entries (row0 + i, col0 + j) of the triangle `uplo`. If an entry that counts is not finite, *bad_column
/// becomes its column in the tile from 1, the lowest of all, and *out is NaN; otherwise *bad_column stays.
/// `bad_column` may be host memory that the device sees. Reads the tile once; the result does not depend on
/// the order.
template <class T>
void launch_max_abs(cudaStream_t stream, MatrixView<const T> tile, Uplo uplo, Index row0, Index col0,
                    RealOf<T>* out, long long* bad_column);

/// *scale := the power of two that brings the largest of *values[k] to [1/2, 1), 1 if all are zero; a power
/// of four if asked for. `values` is an array of the host, of device pointers.
template <class R>
void launch_choose_scale(cudaStream_t stream, std::span<const R* const> values, R* scale, bool power_of_four);

/// destination := *scale op(source), op none or adjoint; real where row0 + i = col0 + j. Bytes: source and
/// destination once each; the adjoint goes through shared memory in squares, so that both are read and
/// written along columns.
template <class T>
void launch_copy(cudaStream_t stream, MatrixView<const T> source, Op op, const RealOf<T>* scale,
                 MatrixView<T> destination, Index row0, Index col0);

/// out[k] := values[k] / *scale.
template <class R>
void launch_divide_by(cudaStream_t stream, const R* values, const R* scale, Index count, R* out);

/// X := sqrt(*scale) X.
template <class T>
void launch_scale_by_root(cudaStream_t stream, const RealOf<T>* scale, MatrixView<T> x);

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
