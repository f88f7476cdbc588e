// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <tessera/codelets/block_sparse/values/random_blocks.hpp>

namespace tessera::detail {

/// Of a water molecule in the liquid, in cubic angstrom.
inline constexpr double water_volume = 29.9;

/// Molecules (or other units) in a periodic cube of lattice cells, at most one in each, numbered along the
/// Morton curve, so that near ones have near numbers. Lengths are in units of a cell unless they say so.
class MoleculeBox {
 public:
  /// `volume`: of a molecule, in cubic angstrom. `jitter`: each is at a random point of the cube of this edge
  /// in the middle of its cell; 0 to 1.
  MoleculeBox(Index molecules, double volume, double jitter, std::uint64_t seed);

  /// The molecules' places; decay length and blocks per site are the caller's to set in a copy.
  const PeriodicSites& sites() const noexcept { return sites_; }
  Index molecules() const noexcept { return static_cast<Index>(sites_.position.size()); }
  double cells_per_angstrom() const noexcept { return cells_per_angstrom_; }

  /// The squared distance within which each molecule has the share `occupation` of all (and itself), on
  /// average over a sample.
  double cutoff_squared(double occupation) const;

  /// Molecules within the cutoff of one, itself among them, ascending.
  void neighbours(Index molecule, double cutoff_squared, std::vector<Index>& found) const;

 private:
  Index cell_number(const std::array<Index, 3>& c) const noexcept {
    return c[0] + cells_ * (c[1] + cells_ * c[2]);
  }
  Index occupant(const std::array<Index, 3>& cell) const noexcept {
    return occupant_[static_cast<std::size_t>(cell_number(cell))];
  }
  void place(Index molecules, double jitter, std::uint64_t seed);

  Index cells_ = 1;  // along an edge of the cube
  double cells_per_angstrom_ = 1;
  std::vector<Index> occupant_;  // molecule in each cell, or -1
  PeriodicSites sites_;
};

}  // namespace tessera::detail
