// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include <tessera/algorithms/matgen/shell_model/shell_model.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_space_count.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/host_memory.hpp>

namespace tessera::detail {

/// The request of a call of entries().
struct ShellModelRows::Window {
  Index first_row, end_row, first_column, end_column;
  const Tile& tile;

  template <bool inside>
  void store(Index row, Index column, double value, std::vector<SparseEntry>& out) const {
    if constexpr (!inside)
      if (column > row || column < first_column || column >= end_column) return;
    out.push_back({static_cast<std::uint32_t>(row - first_row),
                   static_cast<std::uint32_t>(column - first_column), value});
  }
};

/// Rows with one proton determinant: the neutron determinants [first, end) of a class.
struct ShellModelRows::RowGroup {
  int proton_class, neutron_class;
  std::uint32_t proton;  ///< in its class
  Index begin;           ///< row of neutron determinant 0
  std::uint32_t first, end;
};

ShellModelRows::ShellModelRows(ShellInteraction interaction, const ShellModelSpace& space)
    : orbits_(interaction.orbits()), space_(space), operators_(interaction, space.excitation.has_value()) {
  if (interaction.mass_dependence) {
    const MassDependence& mass = *interaction.mass_dependence;
    interaction.scale(std::pow(mass.reference / (mass.core + space.protons + space.neutrons), mass.exponent));
  }
  if (std::abs(space.parity) > 1)
    throw InvalidArgument("parity", std::to_string(space.parity), "1, -1, or 0 for both");
  if (space.excitation && *space.excitation < 0)
    throw InvalidArgument("excitation", std::to_string(*space.excitation), "0 or more");
  std::optional<WeightLimits> limits;
  if (space.excitation) {
    pair_limit_ = max_pair_weight(orbits_, space);
    limits = WeightLimits{*space.excitation, *pair_limit_};
  }
  protons_ = std::make_shared<ShellNucleons>(interaction, operators_, Nucleon::proton, space.protons, limits,
                                             space.by_shells);
  neutrons_ = space.neutrons == space.protons && interaction.isospin_invariant()
                  ? protons_
                  : std::make_shared<ShellNucleons>(interaction, operators_, Nucleon::neutron, space.neutrons,
                                                    limits, space.by_shells);
  if ((space.protons + space.neutrons + space.twice_m) % 2 != 0)
    throw InvalidArgument("twice_m", std::to_string(space.twice_m),
                          "2M even for an even number of particles, odd for an odd one");
  list_tiles();
  negligible_ = 1e-12 * interaction.magnitude();
  require_room_for_strengths();
  for (int change = 0; change < operators_.changes(); ++change)
    strengths_.push_back(strengths_of(interaction, change));
  for (int s = 0; s < static_cast<int>(protons().states().size()); ++s)
    stays_.push_back(operators_.number(s, s));
}

void ShellModelRows::list_tiles() {
  tile_of_.assign(static_cast<std::size_t>(protons().configurations()) *
                      static_cast<std::size_t>(neutrons().configurations()),
                  -1);
  Index begin = 0;
  for (int p = 0; p < protons().configurations(); ++p)
    for (int n = 0; n < neutrons().configurations(); ++n) {
      if (space_.excitation && protons().excitation(p) + neutrons().excitation(n) > *space_.excitation)
        continue;
      const int parity = protons().odd_parity(p) == neutrons().odd_parity(n) ? 1 : -1;
      if (space_.parity != 0 && parity != space_.parity) continue;
      const Index tile_begin = begin;
      const std::size_t offset = groups_.size();
      for (int c = protons().first_class(p); c < protons().first_class(p + 1); ++c) {
        groups_.push_back(begin);
        const int partner = neutrons().find(n, space_.twice_m - protons().at(c).twice_m);
        if (partner >= 0)
          begin +=
              static_cast<Index>(protons().at(c).count) * static_cast<Index>(neutrons().at(partner).count);
      }
      if (begin == tile_begin) {
        groups_.resize(offset);
        continue;
      }
      tile_of_[static_cast<std::size_t>(p) * static_cast<std::size_t>(neutrons().configurations()) +
               static_cast<std::size_t>(n)] = static_cast<int>(tiles_.size());
      tiles_.push_back({p, n, offset});
      tile_begins_.push_back(tile_begin);
    }
  if (begin == 0)
    throw InvalidArgument("twice_m", std::to_string(space_.twice_m),
                          "a 2M (and parity) that the particles can have in these orbits");
  tile_begins_.push_back(begin);
}

bool ShellModelRows::possible(int proton, int neutron) const noexcept {
  if (space_.protons == 0 || space_.neutrons == 0) return false;
  const std::vector<ShellState>& states = protons().states();
  return !pair_limit_ ||
         orbits_[states[proton].orbit].weight + orbits_[states[neutron].orbit].weight <= *pair_limit_;
}

void ShellModelRows::require_room_for_strengths() const {
  double count = 0;
  for (int change = 0; change < operators_.changes(); ++change) {
    const auto& of_neutrons = operators_.members(operators_.opposite(change));
    const auto& blocks = operators_.block_of(operators_.opposite(change));
    for (const auto& proton : operators_.members(change))
      for (std::size_t first = 0, last = 0; first < of_neutrons.size(); first = last) {
        while (last < of_neutrons.size() && blocks[last] == blocks[first]) ++last;
        if (possible(proton.to, of_neutrons[first].to) && possible(proton.from, of_neutrons[first].from))
          count += static_cast<double>(last - first);
      }
  }
  require_host_memory("a list of the elements of a proton and a neutron", count * sizeof(double));
}

ShellModelRows::Strengths ShellModelRows::strengths_of(const ShellInteraction& interaction,
                                                       int change) const {
  const std::vector<ShellState>& states = protons().states();
  const std::vector<OneBodyOperators::Operator>&of_protons = operators_.members(change),
        &of_neutrons = operators_.members(operators_.opposite(change));
  Strengths made;
  made.blocks = operators_.blocks();
  made.block_of = operators_.block_of(operators_.opposite(change)).data();
  made.values.assign(of_neutrons.size(), 0.0);  // the row of all blocks that are left out
  for (const auto& proton : of_protons) {
    made.begins.resize(made.begins.size() + static_cast<std::size_t>(made.blocks), 0);
    std::size_t* const row = &made.begins[made.begins.size() - static_cast<std::size_t>(made.blocks)];
    for (std::size_t first = 0, last = 0; first < of_neutrons.size(); first = last) {
      while (last < of_neutrons.size() && made.block_of[last] == made.block_of[first]) ++last;
      if (!possible(proton.to, of_neutrons[first].to) || !possible(proton.from, of_neutrons[first].from))
        continue;
      row[made.block_of[first]] = made.values.size() - first;
      for (std::size_t n = first; n < last; ++n) {
        const double v = interaction.unlike_element(states[proton.to], states[of_neutrons[n].to],
                                                    states[proton.from], states[of_neutrons[n].from]);
        made.values.push_back(std::abs(v) > negligible_ ? v : 0);
      }
    }
  }
  return made;
}

double ShellModelRows::neutron_field(int proton_number, std::uint32_t neutron) const noexcept {
  const Strengths& kept = strengths_[static_cast<std::size_t>(operators_.no_change())];
  double sum = 0;
  for (const int s : neutrons().occupied(neutron))
    sum += kept.at(proton_number, stays_[static_cast<std::size_t>(s)]);
  return sum;
}

double ShellModelRows::proton_field(int neutron_number, std::uint32_t proton) const noexcept {
  const Strengths& kept = strengths_[static_cast<std::size_t>(operators_.no_change())];
  double sum = 0;
  for (const int s : protons().occupied(proton))
    sum += kept.at(stays_[static_cast<std::size_t>(s)], neutron_number);
  return sum;
}

std::optional<RowFamilies> ShellModelRows::families(Index row) const {
  const Tile& tile = tiles_[static_cast<std::size_t>(
      std::upper_bound(tile_begins_.begin(), tile_begins_.end(), row) - tile_begins_.begin() - 1)];
  // The last class that begins at or before the row; empty ones begin where the next one does.
  int proton_class = protons().first_class(tile.protons);
  while (proton_class + 1 < protons().first_class(tile.protons + 1) &&
         group_begin(tile, proton_class + 1) <= row)
    ++proton_class;
  const ShellNucleons::Class& of_protons = protons().at(proton_class);
  const ShellNucleons::Class& of_neutrons =
      neutrons().at(neutrons().find(tile.neutrons, space_.twice_m - of_protons.twice_m));
  const Index local = row - group_begin(tile, proton_class), width = of_neutrons.count;
  return RowFamilies{of_protons.begin + static_cast<std::uint32_t>(local / width),
                     of_neutrons.begin + static_cast<std::uint32_t>(local % width)};
}

Index ShellModelRows::row_of(std::uint32_t proton, std::uint32_t neutron) const noexcept {
  const ShellNucleons::Class &p = protons().class_of(proton), &n = neutrons().class_of(neutron);
  const Tile& tile = tiles_[static_cast<std::size_t>(
      tile_of_[static_cast<std::size_t>(p.configuration * neutrons().configurations() + n.configuration)])];
  return group_begin(tile, protons().number(p)) + static_cast<Index>(proton - p.begin) * n.count +
         static_cast<Index>(neutron - n.begin);
}

std::vector<ShellModelRows::Group> ShellModelRows::groups() const {
  std::vector<Group> all;
  for (const Tile& tile : tiles_)
    for (int c = protons().first_class(tile.protons); c < protons().first_class(tile.protons + 1); ++c) {
      const int partner = neutrons().find(tile.neutrons, space_.twice_m - protons().at(c).twice_m);
      if (partner >= 0) all.push_back({group_begin(tile, c), c, partner});
    }
  return all;
}

void ShellModelRows::entries(Index first_row, Index end_row, Index first_column, Index end_column,
                             std::vector<SparseEntry>& out) const {
  if (first_row >= end_row) return;
  const auto tile_number =
      std::upper_bound(tile_begins_.begin(), tile_begins_.end(), first_row) - tile_begins_.begin() - 1;
  const Tile& tile = tiles_[static_cast<std::size_t>(tile_number)];
  const Window window{first_row, end_row, first_column, end_column, tile};
  const auto& proton_moves = protons().neighbours(tile.protons);
  const auto& neutron_moves = neutrons().neighbours(tile.neutrons);
  for (std::size_t p = 0; p < proton_moves.size(); ++p)
    for (std::size_t n = 0; n < neutron_moves.size(); ++n) {
      if (proton_moves[p].distance + neutron_moves[n].distance > 2) continue;
      const int to = tile_of_[static_cast<std::size_t>(
          proton_moves[p].configuration * neutrons().configurations() + neutron_moves[n].configuration)];
      if (to < 0 || to > tile_number) continue;
      const Index begin = tile_begins_[to], end = tile_begins_[to + 1];
      if (end <= first_column || end_column <= begin) continue;
      if (to < tile_number && first_column <= begin && end <= end_column)
        add_tile<true>(window, proton_moves[p], static_cast<int>(p), neutron_moves[n], static_cast<int>(n),
                       tiles_[to], out);
      else
        add_tile<false>(window, proton_moves[p], static_cast<int>(p), neutron_moves[n], static_cast<int>(n),
                        tiles_[to], out);
    }
}

template <bool inside>
void ShellModelRows::add_tile(const Window& window, const ShellNucleons::Neighbour& proton_move,
                              int proton_number, const ShellNucleons::Neighbour& neutron_move,
                              int neutron_number, const Tile& to, std::vector<SparseEntry>& out) const {
  const Tile& tile = window.tile;
  for (int c = protons().first_class(tile.protons); c < protons().first_class(tile.protons + 1); ++c) {
    const int partner = neutrons().find(tile.neutrons, space_.twice_m - protons().at(c).twice_m);
    if (partner < 0) continue;
    const Index begin = group_begin(tile, c), width = neutrons().at(partner).count,
                end = begin + width * static_cast<Index>(protons().at(c).count);
    const Index first = std::max(begin, window.first_row), last = std::min(end, window.end_row);
    for (Index row = first; row < last;) {
      const Index proton = (row - begin) / width, of_proton = begin + proton * width;
      const RowGroup group{c,
                           partner,
                           static_cast<std::uint32_t>(proton),
                           of_proton,
                           static_cast<std::uint32_t>(row - of_proton),
                           static_cast<std::uint32_t>(std::min(last - of_proton, width))};
      row = of_proton + width;
      if (proton_move.near >= 0 && neutron_move.near >= 0)
        add_both<inside>(window, group, proton_move.near, neutron_move.near, to, out);
      if (neutron_move.distance == 0) add_protons<inside>(window, group, proton_number, to, out);
      if (proton_move.distance == 0) add_neutrons<inside>(window, group, neutron_number, to, out);
      if (&to == &tile) add_diagonal(window, group, out);
    }
  }
}

template <bool inside>
void ShellModelRows::add_both(const Window& window, const RowGroup& group, int proton_near, int neutron_near,
                              const Tile& to, std::vector<SparseEntry>& out) const {
  const int twice_m = protons().at(group.proton_class).twice_m;
  for (int change = 0; change < operators_.changes(); ++change) {
    const auto proton_moves = protons().moves(group.proton_class, proton_near, change, group.proton);
    if (proton_moves.empty()) continue;
    const int reached = twice_m + 2 * (change - operators_.no_change());
    const int proton_class = protons().find(to.protons, reached),
              neutron_class = neutrons().find(to.neutrons, space_.twice_m - reached);
    if (neutron_class < 0) continue;
    const int opposite = operators_.opposite(change);
    const Index begin = group_begin(to, proton_class), width = neutrons().at(neutron_class).count;
    const Strengths& strengths = strengths_[static_cast<std::size_t>(change)];
    for (std::uint32_t neutron = group.first; neutron < group.end; ++neutron) {
      const auto neutron_moves = neutrons().moves(group.neutron_class, neutron_near, opposite, neutron);
      if (neutron_moves.empty()) continue;
      const Index row = group.begin + neutron;
      for (const ShellNucleons::Move& p : proton_moves) {
        const std::size_t* const of_proton = strengths.row(p.number);
        const double* const values = strengths.values.data();
        const double* const whole_row = strengths.blocks == 1 ? values + of_proton[0] : nullptr;
        const Index column = begin + p.to * width;
        for (const ShellNucleons::Move& n : neutron_moves) {
          const double value =
              whole_row ? whole_row[n.number] : values[of_proton[strengths.block_of[n.number]] + n.number];
          if (value != 0) window.store<inside>(row, column + n.to, p.sign * n.sign * value, out);
        }
      }
    }
  }
}

/// Both kinds alone, and the protons in the field of the neutrons. Stored even if it is zero.
void ShellModelRows::add_diagonal(const Window& window, const RowGroup& group,
                                  std::vector<SparseEntry>& out) const {
  const std::uint32_t proton = protons().at(group.proton_class).begin + group.proton;
  for (std::uint32_t local = group.first; local < group.end; ++local) {
    const std::uint32_t neutron = neutrons().at(group.neutron_class).begin + local;
    double value = protons().energy(proton) + neutrons().energy(neutron);
    for (const int s : protons().occupied(proton))
      value += neutron_field(stays_[static_cast<std::size_t>(s)], neutron);
    const Index row = group.begin + local;
    window.store<false>(row, row, value, out);
  }
}

template <bool inside>
void ShellModelRows::add_protons(const Window& window, const RowGroup& group, int proton_number,
                                 const Tile& to, std::vector<SparseEntry>& out) const {
  const int target = protons().find(to.protons, protons().at(group.proton_class).twice_m);
  if (target < 0) return;
  const Index begin = group_begin(to, target), width = neutrons().at(group.neutron_class).count;
  const std::uint32_t neutrons_begin = neutrons().at(group.neutron_class).begin;
  const bool same_tile = &to == &window.tile;
  for (const ShellNucleons::Element& p :
       protons().elements(group.proton_class, proton_number, group.proton)) {
    const Index column = begin + p.to * width;
    if (same_tile && p.to == group.proton) continue;  // the diagonal
    for (std::uint32_t neutron = group.first; neutron < group.end; ++neutron) {
      const double value =
          p.sign == 0 ? p.value : p.value + p.sign * neutron_field(p.number, neutrons_begin + neutron);
      if (std::abs(value) > negligible_)
        window.store<inside>(group.begin + neutron, column + neutron, value, out);
    }
  }
}

template <bool inside>
void ShellModelRows::add_neutrons(const Window& window, const RowGroup& group, int neutron_number,
                                  const Tile& to, std::vector<SparseEntry>& out) const {
  const int target = neutrons().find(to.neutrons, neutrons().at(group.neutron_class).twice_m);
  if (target < 0) return;
  const bool same_tile = &to == &window.tile;
  const Index width = neutrons().at(target).count,
              column = group_begin(to, group.proton_class) + group.proton * width;
  const std::uint32_t proton = protons().at(group.proton_class).begin + group.proton;
  for (std::uint32_t neutron = group.first; neutron < group.end; ++neutron)
    for (const ShellNucleons::Element& n :
         neutrons().elements(group.neutron_class, neutron_number, neutron)) {
      if (same_tile && n.to == neutron) continue;  // the diagonal
      double value = n.value;
      if (n.sign != 0) value += n.sign * proton_field(n.number, proton);
      if (std::abs(value) > negligible_)
        window.store<inside>(group.begin + neutron, column + n.to, value, out);
    }
}

}  // namespace tessera::detail
