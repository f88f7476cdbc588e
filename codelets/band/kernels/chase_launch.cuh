// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/kernels/chase.hpp>
#include <tessera/codelets/common/device_scalar.cuh>

/// What the kernels of launch_chase_sweeps share.
namespace tessera::detail::kernels {

/// The sweeps first + j, begin <= j < end, of a band matrix. Their reflectors are kept as those of a shape whose
/// first sweep is `first`, if vectors is not null.
template <class S>
struct ChaseArguments {
  Index n, ld;
  int b;
  Index first, begin, end, group;
  S* band;  ///< the element (0, 0)
  S* vectors;
  S* taus;
  std::byte* workspace;  ///< chase_sweeps_workspace bytes

  __device__ S* at(Index row, Index column) const { return band + column * ld + (row - column); }
  /// DeviceReflectors::first_block of the group of sweep j.
  __device__ Index first_block(Index j) const {
    const Index before = j / group;
    return before == 0 ? 0 : floor_sum(before, b, group, n - 2 - first + b - (before - 1) * group);
  }
};

/// Where a warp keeps its part of D or B between the passes of a step.
enum class Keep { registers, shared, global };

/// The chase with a thread block for each sweep.
template <class S>
void launch_chase_by_sweeps(CUstream_st* stream, const ChaseArguments<S>& arguments) noexcept;

/// The chase with a thread block for each step, all on the GPU together. It keeps B in registers, or in shared memory,
/// which is slower, but then twice as many steps fit. @return false if it did not start, and nothing was changed.
template <class S>
bool launch_chase_by_steps(CUstream_st* stream, const ChaseArguments<S>& arguments, Keep keep_b) noexcept;
/// The steps of a sweep that launch_chase_by_steps can take; 0 for bandwidths that it does not support.
template <class S>
Index steps_together(Index bandwidth, Keep keep_b) noexcept;

}  // namespace tessera::detail::kernels
