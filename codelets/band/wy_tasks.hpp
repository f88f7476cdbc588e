// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/kernels/wy_blocks.hpp>
#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/runtime/task.hpp>

/// The tasks that apply the reflectors of a chase by tiles, as WY blocks (wy_blocks.hpp), on CPUs.
namespace tessera {

/// Pieces of reflectors that one FormWy takes.
inline constexpr Index max_form_pieces = 64;

/// The blocks first_hop .. last_hop - 1 of a group of g sweeps: kernels::form_wy.  [3 g^2 (b + g) a hop]
/// | operand   | mode         | shape                        | what                                       |
/// |-----------|--------------|------------------------------|--------------------------------------------|
/// | workspace | scratch      | reals: kernels::wy_workspace |                                            |
/// | blocks    | write or add | array: kernels::WyLayout     | those of the group, these beside others    |
/// | kept      | read         | arrays                       | the reflectors, as `pieces` describes them |
template <class T>
struct FormWy {
  static constexpr const char* name = "form_wy";
  Scratch<Array<RealOf<T>>> workspace;
  WriteOrAdd<Array<T>> blocks;
  ReadAll<Array<T>> kept;
  Index n = 0, bandwidth = 1, first_sweep = 0, sweeps = 0, first_hop = 0, last_hop = 0;
  std::array<kernels::Reflectors<T>, max_form_pieces> pieces{};

  double flops() const noexcept {
    const double hops = static_cast<double>(last_hop - first_hop), g = static_cast<double>(sweeps);
    return flop_factor<T> * 3 * g * g * (static_cast<double>(bandwidth) + g) * hops;
  }
  std::uint32_t footprint() const noexcept { return footprint_of(bandwidth, sweeps, last_hop - first_hop); }
};

/// C := (product of all blocks of some groups) C: kernels::apply_wy.  [4 b a reflector and column]
/// | operand   | mode       | shape                        | what                                          |
/// |-----------|------------|------------------------------|-----------------------------------------------|
/// | workspace | scratch    | reals: kernels::wy_workspace |                                               |
/// | c         | read-write | n x columns                  |                                               |
/// | blocks    | read       | arrays: kernels::WyLayout    | group i: from sweep first_sweep + i sweeps on |
template <class T>
struct ApplyWy {
  static constexpr const char* name = "apply_wy";
  static constexpr int max_groups = 16;
  Scratch<Array<RealOf<T>>> workspace;
  ReadWrite<Matrix<T>> c;
  ReadAll<Array<T>> blocks;
  Index n = 0, bandwidth = 1, first_sweep = 0, sweeps = 0;
  Index last_sweeps = 0;  ///< sweeps of the last group
  Index columns = 0;

  double flops() const noexcept {
    const Index count = (blocks.size() - 1) * sweeps + last_sweeps;
    // A sweep's reflectors cover its rows once.
    double lengths = 0;
    for (Index s = first_sweep; s < first_sweep + count; ++s) lengths += static_cast<double>(n - 1 - s);
    return flop_factor<T> * 4 * lengths * static_cast<double>(columns);
  }
  std::uint32_t footprint() const noexcept {
    return footprint_of(bandwidth, sweeps, kernels::hop_count(n, bandwidth, first_sweep));
  }
};

}  // namespace tessera
