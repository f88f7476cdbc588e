// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/algorithms/matgen/density_kinds.hpp>
#include <tessera/algorithms/matgen/molecule_box.hpp>
#include <tessera/error.hpp>

namespace tessera::detail {

namespace {

constexpr std::array density_kinds{
    DensitySystemKind{"water", "liquid water, one block of 23 functions a molecule, or others"},
    DensitySystemKind{"amorphous", "organic solid of C, N, O (13 functions) and H (5), a block an atom"},
    DensitySystemKind{"tio2", "titanium dioxide, blocks of 26 (Ti), 13 and 13 (O) functions"}};

/// Of the highest occupied level of a unit, in hartree.
constexpr double highest_occupied = -0.3;
/// What the default coupling is of the largest allowed one.
constexpr double default_share_of_limit = 0.8;

void require_blocks(const std::vector<Index>& blocks, bool good, std::string_view expected) {
  if (!good || std::any_of(blocks.begin(), blocks.end(), [](Index size) { return size < 1; }))
    throw InvalidArgument("blocks", fmt::format("{}", fmt::join(blocks, ",")), expected);
}

Index functions_of(const std::vector<Index>& blocks) {
  return std::accumulate(blocks.begin(), blocks.end(), Index(0));
}

/// Groups of atoms with an even number of valence electrons, in shares that give 2.2 atoms a unit, 58 % of
/// them not hydrogen, as CP2K's benchmark of an amorphous solid has.
std::vector<UnitSpecies> organic_groups(Index heavy, Index hydrogen) {
  return {{{heavy, hydrogen, hydrogen}, 6, 0.40},  // CH2
          {{heavy, heavy}, 10, 0.28},              // CO
          {{heavy}, 6, 0.18},                      // O
          {{heavy, hydrogen}, 6, 0.14}};           // NH
}

}  // namespace

Index UnitSpecies::functions() const noexcept {
  return functions_of(blocks);
}

/// Volumes: 29.9 cubic angstrom a molecule of water (1 g/cm3), 27.8 for the organic groups (1.1 g/cm3), 31.6
/// for TiO2 (4.2 g/cm3, rutile).
void DensityModel::take_kind() {
  auto& blocks = options.blocks;
  double default_gap = 0.22, default_decay = 2.6;
  occupied_spread = 0.4, virtual_spread = 0.6, bond = 0.6;
  if (options.kind == "water") {
    if (blocks.empty()) blocks = {23};
    require_blocks(blocks, functions_of(blocks) > 4, "sizes from 1, of more than 4 functions a molecule");
    species = {{blocks, 8, 1}};
    volume = water_volume, jitter = 0.3;
    if (functions_of(blocks) < 12) default_gap = 0.55, default_decay = 1.4, virtual_spread = 0.4;
  } else if (options.kind == "amorphous") {
    if (blocks.empty()) blocks = {13, 5};
    require_blocks(blocks, blocks.size() == 2 && blocks[0] > 3,
                   "two sizes: of C, N and O, at least 4, and of H, at least 1");
    species = organic_groups(blocks[0], blocks[1]);
    volume = 27.8, jitter = 0.4;
  } else if (options.kind == "tio2") {
    if (blocks.empty()) blocks = {26, 13, 13};
    require_blocks(blocks, functions_of(blocks) > 12, "sizes from 1, of more than 12 functions a unit");
    species = {{blocks, 24, 1}};  // Ti with 3s and 3p 12, O 6
    volume = 31.6, jitter = 0.1;
  } else {
    throw InvalidArgument("kind", options.kind, "water, amorphous or tio2");
  }
  if (std::all_of(species.begin(), species.end(), [](const auto& unit) { return unit.blocks.size() == 1; }))
    bond = 0;
  if (!options.gap) options.gap = default_gap;
  if (!options.decay) options.decay = default_decay;
}

void DensityModel::require_options() const {
  constexpr Index most = Index(1) << 30;
  if (options.molecules < 0 || options.molecules > most)
    throw InvalidArgument("molecules", fmt::to_string(options.molecules), fmt::format("0 to {}", most));
  if (!(*options.gap > 0 && std::isfinite(*options.gap)))
    throw InvalidArgument("gap", fmt::to_string(*options.gap), "a finite number above 0");
  if (!(*options.decay >= 0.2 && *options.decay <= 10))
    throw InvalidArgument("decay", fmt::to_string(*options.decay), "0.2 to 10 angstrom");
  if (!(options.threshold >= 0 && std::isfinite(options.threshold)))
    throw InvalidArgument("threshold", fmt::to_string(options.threshold), "a finite number from 0");
  if (options.coupling && !(*options.coupling >= 0 && *options.coupling < coupling_limit()))
    throw InvalidArgument("coupling", fmt::to_string(*options.coupling),
                          fmt::format("0 to below {:.4g}, where the gap may close", coupling_limit()));
}

DensityModel DensityModel::make(const DensitySystemOptions& options) {
  DensityModel model;
  model.options = options;
  model.take_kind();
  model.require_options();
  if (!options.coupling) model.options.coupling = default_share_of_limit * model.coupling_limit();
  return model;
}

double DensityModel::mu() const noexcept {
  return highest_occupied + *options.gap / 2;
}

double DensityModel::coupling_limit() const noexcept {
  const double half = *options.gap / 2, largest = half + std::max(occupied_spread, virtual_spread);
  return std::min(1.0, 2 / wolfsberg_helmholz / (1 + std::sqrt(largest / half)));
}

double DensityModel::gap_bound() const noexcept {
  const double half = *options.gap / 2, largest = half + std::max(occupied_spread, virtual_spread);
  const double x = wolfsberg_helmholz * *options.coupling / 2;
  return 2 * (half * (1 - x) * (1 - x) - x * x * largest) / (1 + *options.coupling);
}

double DensityModel::overlap_bound() const noexcept {
  return (1 - bond) * (1 - *options.coupling);
}

const UnitSpecies& DensityModel::species_at(double u) const noexcept {
  std::size_t k = 0;
  for (; k + 1 < species.size() && u >= species[k].share; ++k) u -= species[k].share;
  return species[k];
}

}  // namespace tessera::detail

namespace tessera {

std::span<const DensitySystemKind> density_system_kinds() noexcept {
  return detail::density_kinds;
}

}  // namespace tessera
