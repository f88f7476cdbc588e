// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <tessera/codelets/band/band_view.hpp>
#include <tessera/codelets/band/device_reflectors.hpp>

/// The chase on a GPU: plain host functions on device pointers.
namespace tessera::kernels {

/// Bytes of launch_chase_sweeps' workspace.
std::size_t chase_sweeps_workspace(Index n, Index bandwidth, Index sweeps, std::size_t element_bytes) noexcept;

/// The sweeps reflectors.first_sweep + j, 0 <= j < reflectors.sweeps, over all columns (see chase.hpp for the
/// mathematics), of a band matrix in one segment of n columns (BandLayout); b <= 128. Whole sequences of sweeps
/// only: the room for the bulge holds no zeros afterwards, which later calls know and chase_tile does not.
///
/// Arguments
///   reflectors   n, b, the sweeps and how their reflectors are kept
///   segment      the band: read and written
///   kept         reflectors.size() elements, written; null: the reflectors are not kept
///   workspace    chase_sweeps_workspace(..) bytes, aligned to 64
/// Flops: 12 b^2 a hop (times 4 for complex types).
template <class T>
void launch_chase_sweeps(cudaStream_t stream, const DeviceReflectors& reflectors, T* segment, T* kept,
                         void* workspace) noexcept;

}  // namespace tessera::kernels
