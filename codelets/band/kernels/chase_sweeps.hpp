// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/band_view.hpp>
#include <tessera/codelets/band/kernels/device_reflectors.hpp>

/// The chase by sweeps over the whole matrix, as GPUs run it (chase_sweeps_cuda.hpp), and the same on a CPU
/// core.
namespace tessera::kernels {

/// The largest bandwidth that launch_chase_sweeps takes.
inline constexpr Index max_device_bandwidth = 128;

/// Bytes of workspace for chase_sweeps and launch_chase_sweeps of up to `sweeps` sweeps, aligned to 64.
template <class T>
std::size_t chase_sweeps_workspace(Index n, Index bandwidth, Index sweeps) noexcept;

/// The sweeps shape.first_sweep + j, 0 <= j < shape.sweeps, over all columns (see chase.hpp for the
/// mathematics) of a band matrix in one segment of n columns (BandLayout). The sweeps of a matrix must all
/// run here or all by launch_chase_sweeps, which does not keep the bulge's room clean.
///
/// Arguments
///   shape      n, b, the sweeps, and how their reflectors are kept
///   segment    the band: read and written
///   kept       shape.size() elements, written; null: the reflectors are not kept
///   workspace  chase_sweeps_workspace<T>(n, b, sweeps) bytes
/// Flops: 12 b^2 a hop (times 4 for complex types).
template <class T>
void chase_sweeps(const DeviceReflectors& shape, T* segment, T* kept, void* workspace) noexcept;

}  // namespace tessera::kernels
