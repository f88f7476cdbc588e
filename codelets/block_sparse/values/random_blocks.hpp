// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <tessera/runtime/matrix/panel_block.hpp>
#include <tessera/runtime/task.hpp>

/// Random values for the blocks of a panel of a block-sparse matrix.
namespace tessera::detail {

/// Points in a periodic cube to which the block rows (and columns) of a square matrix belong.
struct PeriodicSites {
  std::vector<std::array<double, 3>> position;  ///< of each site, in [0, side)
  double side = 1;                              ///< of the cube
  double decay_length = 1;
  Index blocks_per_site = 1;  ///< block i belongs to site i / blocks_per_site

  /// Squared distance of two sites to the nearest images of each other.
  double distance_squared(Index a, Index b) const noexcept;
};

/// Values uniform in [-1, 1) (real and imaginary part), from a hash of (seed, block row, block column,
/// element), so that they are equal in any distribution. With sites, a block is multiplied by exp(-distance
/// of its row's and column's site / decay length). No flops counted. On CPUs alone; StarPU predicts the
/// time from earlier tasks.
/// | operand | mode  | shape               | what        |
/// |---------|-------|---------------------|-------------|
/// | blocks  | read  | array of PanelBlock | the panel's |
/// | values  | write | array               | the panel's |
template <class T>
struct RandomBlocks {
  static constexpr const char* name = "random_blocks";
  Read<Array<PanelBlock>> blocks;
  Write<Array<T>> values;
  std::uint64_t seed;
  /// With a symmetry, element (i, j) of the matrix follows from (j, i), on both sides of the diagonal if both
  /// are stored.
  Symmetry symmetry;
  const PeriodicSites* sites;  ///< or null; must live until the sequence has ended
};

}  // namespace tessera::detail
