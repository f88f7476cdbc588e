// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <tessera/codelets/band/kernels/chase_sweeps.hpp>

/// The band family on a GPU: plain host functions on device pointers.
namespace tessera::kernels {

/// chase_sweeps on a GPU, b <= max_device_bandwidth; complex<double> with b > 64 works without keeping
/// anything on the chip, much slower. The workspace needs no initial value.
template <class T>
void launch_chase_sweeps(cudaStream_t stream, const DeviceReflectors& shape, T* segment, T* kept,
                         void* workspace) noexcept;

/// band_to_segment (band_copy.hpp) for a whole segment from pieces of `piece_columns` columns each: first
/// `begin_gather`, then `gather_piece` for each, then `end_gather`, which stores 1 + the first column (from
/// 0) with a number that is not finite to *bad, if there is one.
template <class T>
void launch_begin_gather(cudaStream_t stream, T* segment) noexcept;
template <class T>
void launch_gather_piece(cudaStream_t stream, Index n, Index bandwidth, Index first, Index count,
                         const T* from, Index ld, T* segment, Index at) noexcept;
template <class T>
void launch_end_gather(cudaStream_t stream, T* segment, long long* bad) noexcept;

/// segment_to_tridiagonal (band_copy.hpp).
template <class T>
void launch_segment_to_tridiagonal(cudaStream_t stream, Index n, Index bandwidth, Index first, Index count,
                                   const T* segment, RealOf<T>* d, RealOf<T>* e) noexcept;

}  // namespace tessera::kernels
