// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/matgen.hpp>

namespace tessera::detail {

/// A sort of unit.
struct UnitSpecies {
  std::vector<Index> blocks;  ///< functions of each of its blocks
  Index electrons;            ///< valence electrons, even
  double share;               ///< of the units

  Index functions() const noexcept;
};

/// All that options and their kind decide about a system. Energies in hartree.
struct DensityModel {
  DensitySystemOptions options;      ///< nothing is left to the kind
  std::vector<UnitSpecies> species;  ///< their shares add up to 1
  double volume = 0;                 ///< of a unit, in cubic angstrom
  double jitter = 0;                 ///< of the lattice, in cells
  double occupied_spread = 0, virtual_spread = 0;
  double bond = 0;  ///< bound of the norm of S - 1 within a unit

  /// @throws InvalidArgument as density_system does
  static DensityModel make(const DensitySystemOptions& options);

  /// The middle of the gap.
  double mu() const noexcept;
  /// No eigenvalue is nearer to mu than half of this.
  double gap_bound() const noexcept;
  /// No eigenvalue of S is smaller.
  double overlap_bound() const noexcept;
  /// The coupling above which the proof of the gap fails.
  double coupling_limit() const noexcept;
  /// The species of the unit with this random number in [0, 1).
  const UnitSpecies& species_at(double u) const noexcept;

 private:
  void take_kind();
  void require_options() const;
};

/// K in H_ij = K/2 (H_ii S_ij + S_ij H_jj).
inline constexpr double wolfsberg_helmholz = 1.75;

/// density_system on a given grid, with panels of about so many elements; grid{} and 0: as density_system.
template <class T>
DensitySystem<T> density_system_on(Runtime& runtime, const DensitySystemOptions& options,
                                   const ProcessGrid& grid, Index panel_elements);

}  // namespace tessera::detail
