// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/matgen/shell_model/shell_nucleons.hpp>
#include <tessera/error.hpp>

namespace tessera::detail {

namespace {

std::uint64_t bit(int state) noexcept {
  return std::uint64_t{1} << state;
}

/// Applies c_k (k occupied) or c+_k (k empty) to a determinant; -1 or 1.
int flip(std::uint64_t& mask, int k) noexcept {
  const int sign = std::popcount(mask & (bit(k) - 1)) % 2 == 0 ? 1 : -1;
  mask ^= bit(k);
  return sign;
}

/// All ways to put `nucleons` into orbits of these sizes, in lexicographic order.
void list_occupations(const std::vector<int>& sizes, int nucleons, std::vector<int>& begun,
                      std::vector<std::vector<int>>& all) {
  if (begun.size() == sizes.size()) {
    if (nucleons == 0) all.push_back(begun);
    return;
  }
  for (int k = 0; k <= std::min(nucleons, sizes[begun.size()]); ++k) {
    begun.push_back(k);
    list_occupations(sizes, nucleons - k, begun, all);
    begun.pop_back();
  }
}

/// Next larger number with as many bits set.
std::uint64_t next_combination(std::uint64_t mask) noexcept {
  const std::uint64_t lowest = mask & (~mask + 1), ripple = mask + lowest;
  return (((ripple ^ mask) >> 2) / lowest) | ripple;
}

/// Two states that a pair is scattered to, with the matrix element.
struct PairElement {
  int i, j;
  double value;
};

/// For each k < l (number l (l - 1) / 2 + k) the pairs i < j with <ij|V|kl> != 0, of two nucleons of one
/// kind.
std::vector<std::vector<PairElement>> pair_elements(const ShellInteraction& interaction,
                                                    const std::vector<ShellState>& states, Nucleon kind) {
  std::vector<std::vector<PairElement>> all;
  const int count = static_cast<int>(states.size());
  for (int l = 0; l < count; ++l)
    for (int k = 0; k < l; ++k) {
      std::vector<PairElement>& of_pair = all.emplace_back();
      for (int j = 0; j < count; ++j)
        for (int i = 0; i < j; ++i) {
          const double value = interaction.like_element(states[i], states[j], states[k], states[l], kind);
          if (value != 0) of_pair.push_back({i, j, value});
        }
    }
  return all;
}

}  // namespace

int move_nucleon(std::uint64_t& mask, int to, int from) noexcept {
  const int removed = flip(mask, from);
  return removed * flip(mask, to);
}

OneBodyOperators::OneBodyOperators(const std::vector<ShellState>& states) : states_(states.size()) {
  for (const ShellState& state : states) none_ = std::max(none_, state.twice_m);
  members_.resize(static_cast<std::size_t>(changes()));
  change_.resize(states_ * states_);
  number_.resize(states_ * states_);
  for (int i = 0; i < static_cast<int>(states_); ++i)
    for (int k = 0; k < static_cast<int>(states_); ++k) {
      const int change = (states[i].twice_m - states[k].twice_m) / 2 + none_;
      change_[at(i, k)] = change;
      number_[at(i, k)] = count(change);
      members_[change].push_back({i, k});
    }
}

ShellNucleons::ShellNucleons(const ShellInteraction& interaction, const OneBodyOperators& operators,
                             Nucleon kind, int nucleons)
    : kind_(kind), states_(interaction.states()), changes_(static_cast<std::uint64_t>(operators.changes())) {
  const int states = static_cast<int>(states_.size());
  const char* const name = kind == Nucleon::proton ? "protons" : "neutrons";
  if (nucleons < 0 || nucleons > states)
    throw InvalidArgument(name, std::to_string(nucleons),
                          fmt::format("0 to {} nucleons of a kind in these orbits", states));
  double determinants = 1;
  for (int k = 0; k < nucleons; ++k) determinants *= static_cast<double>(states - k) / (k + 1);
  if (determinants > 0x1p24)
    throw InvalidArgument(name, std::to_string(nucleons), "at most 2^24 Slater determinants of one kind");
  list_determinants(interaction, nucleons);
  list_neighbours();
  list_moves(operators);
  list_elements(interaction, operators);
}

void ShellNucleons::list_determinants(const ShellInteraction& interaction, int nucleons) {
  const std::vector<ShellOrbit>& orbits = interaction.orbits();
  std::vector<int> sizes, begun;
  for (const ShellOrbit& orbit : orbits) sizes.push_back(orbit.twice_j + 1);
  list_occupations(sizes, nucleons, begun, occupations_);
  using Determinant = std::pair<int, std::uint64_t>;  // 2M and the bits
  for (std::size_t c = 0; c < occupations_.size(); ++c) {
    std::vector<Determinant> here{{0, 0}};
    int first_state = 0, odd = 0;
    for (std::size_t a = 0; a < orbits.size(); ++a) {
      const int occupied = occupations_[c][a];
      std::vector<Determinant> longer;
      const std::uint64_t end = bit(sizes[a]);
      for (std::uint64_t part = bit(occupied) - 1; part < end; part = next_combination(part)) {
        int twice_m = 0;
        for (int k = 0; k < sizes[a]; ++k)
          if (part >> k & 1) twice_m += states_[first_state + k].twice_m;
        for (const auto& [m, mask] : here) longer.emplace_back(m + twice_m, mask | part << first_state);
        if (part == 0) break;
      }
      here = std::move(longer);
      first_state += sizes[a];
      odd += occupied * orbits[a].l;
    }
    std::sort(here.begin(), here.end());
    odd_parity_.push_back(odd % 2 != 0);
    first_class_.push_back(static_cast<int>(classes_.size()));
    for (std::size_t k = 0; k < here.size(); ++k) {
      const auto number = static_cast<std::uint32_t>(masks_.size());
      if (k == 0 || here[k].first != here[k - 1].first)
        classes_.push_back({static_cast<int>(c), here[k].first, number, 0});
      ++classes_.back().count;
      masks_.push_back(here[k].second);
      class_of_.push_back(static_cast<int>(classes_.size()) - 1);
    }
  }
  first_class_.push_back(static_cast<int>(classes_.size()));
  number_of_.reserve(masks_.size());
  for (std::uint32_t k = 0; k < masks_.size(); ++k) number_of_.emplace(masks_[k], k);
}

void ShellNucleons::list_neighbours() {
  const int count = configurations();
  neighbours_.resize(static_cast<std::size_t>(count));
  for (int c = 0; c < count; ++c) {
    int near = 0;
    for (int d = 0; d < count; ++d) {
      int moved = 0;
      for (std::size_t a = 0; a < occupations_[c].size(); ++a)
        moved += std::max(occupations_[d][a] - occupations_[c][a], 0);
      if (moved <= 2) neighbours_[c].push_back({d, moved, moved <= 1 ? near++ : -1});
    }
  }
}

int ShellNucleons::find(int configuration, int twice_m) const noexcept {
  const auto begin = classes_.begin() + first_class_[configuration],
             end = classes_.begin() + first_class_[configuration + 1];
  const auto found =
      std::lower_bound(begin, end, twice_m, [](const Class& c, int m) { return c.twice_m < m; });
  return found == end || found->twice_m != twice_m ? -1 : static_cast<int>(found - classes_.begin());
}

void ShellNucleons::list_moves(const OneBodyOperators& operators) {
  const int states = static_cast<int>(states_.size());
  struct Found {
    std::uint64_t bucket;
    Move move;
  };
  std::vector<Found> found;
  std::vector<int> near(static_cast<std::size_t>(configurations()));
  for (const Class& from : classes_) {
    found.clear();
    std::uint64_t nears = 0;
    for (const Neighbour& neighbour : neighbours_[from.configuration])
      if (neighbour.near >= 0) near[neighbour.configuration] = neighbour.near, ++nears;
    for (std::uint32_t local = 0; local < from.count; ++local) {
      const std::uint64_t mask = masks_[from.begin + local];
      for (int k = 0; k < states; ++k)
        for (int i = 0; i < states; ++i) {
          if ((mask >> k & 1) == 0 || (mask >> i & 1) != 0) continue;
          std::uint64_t moved = mask;
          const int sign = move_nucleon(moved, i, k);
          const std::uint32_t number = number_of_.at(moved);
          const Class& to = classes_[class_of_[number]];
          const int change = operators.change(i, k);
          const std::uint64_t row = static_cast<std::uint64_t>(near[to.configuration]) * changes_ +
                                    static_cast<std::uint64_t>(change);
          found.push_back({row * from.count + local,
                           {number - to.begin, static_cast<std::uint16_t>(operators.number(i, k)),
                            static_cast<std::int16_t>(sign)}});
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Found& a, const Found& b) { return a.bucket < b.bucket; });
    move_offset_.push_back(move_begins_.size());
    std::size_t next = 0;
    for (std::uint64_t row = 0; row < nears * changes_; ++row) {
      move_begins_.push_back(moves_.size());
      for (std::uint32_t local = 0; local < from.count; ++local) {
        for (; next < found.size() && found[next].bucket == row * from.count + local; ++next)
          moves_.push_back(found[next].move);
        move_begins_.push_back(moves_.size());
      }
    }
  }
}

/// An element with its place: the neighbour configuration's number times the class's size, plus the
/// determinant.
struct ShellNucleons::FoundElement {
  std::uint64_t bucket;
  Element element;
};

/// The energy, and, with the value zero, all moves of one nucleon that keep M: the other kind's field acts on
/// them.
template <class Add>
void ShellNucleons::list_one_body(const ShellInteraction& interaction, const OneBodyOperators& operators,
                                  std::uint64_t mask, const Add& add) const {
  const int states = static_cast<int>(states_.size());
  double energy = 0;
  for (int k = 0; k < states; ++k)
    if (mask >> k & 1) energy += interaction.energy(kind_, states_[k].orbit);
  add(mask, 0, 0, energy);
  for (int k = 0; k < states; ++k)
    for (int i = 0; i < states; ++i) {
      if ((mask >> k & 1) == 0 || (mask >> i & 1) != 0 || states_[i].twice_m != states_[k].twice_m) continue;
      std::uint64_t moved = mask;
      const int sign = move_nucleon(moved, i, k);
      add(moved, operators.number(i, k), sign, 0.0);
    }
}

/// <ij|V|kl> c+_i c+_j c_l c_k for all k < l that are occupied.
template <class Pairs, class Add>
void ShellNucleons::list_two_body(const Pairs& pairs, std::uint64_t mask, const Add& add) const {
  for (int l = 0; l < static_cast<int>(states_.size()); ++l)
    for (int k = 0; k < l; ++k) {
      if ((mask >> k & 1) == 0 || (mask >> l & 1) == 0) continue;
      std::uint64_t rest = mask;
      int removed = flip(rest, k);
      removed *= flip(rest, l);
      for (const auto& pair : pairs[l * (l - 1) / 2 + k]) {
        if ((rest >> pair.i & 1) != 0 || (rest >> pair.j & 1) != 0) continue;
        std::uint64_t reached = rest;
        int sign = removed * flip(reached, pair.j);
        sign *= flip(reached, pair.i);
        add(reached, 0, 0, sign * pair.value);
      }
    }
}

void ShellNucleons::list_elements(const ShellInteraction& interaction, const OneBodyOperators& operators) {
  const auto pairs = pair_elements(interaction, states_, kind_);
  energies_.resize(masks_.size());
  std::vector<FoundElement> found;
  std::vector<std::uint64_t> neighbour_of(static_cast<std::size_t>(configurations()));
  for (const Class& from : classes_) {
    found.clear();
    const std::vector<Neighbour>& neighbours = neighbours_[from.configuration];
    for (std::size_t k = 0; k < neighbours.size(); ++k) neighbour_of[neighbours[k].configuration] = k;
    for (std::uint32_t local = 0; local < from.count; ++local) {
      const std::uint64_t mask = masks_[from.begin + local];
      const auto add = [&](std::uint64_t reached, int number, int sign, double value) {
        const std::uint32_t determinant = number_of_.at(reached);
        const Class& to = classes_[class_of_[determinant]];
        found.push_back({neighbour_of[to.configuration] * from.count + local,
                         {determinant - to.begin, static_cast<std::uint16_t>(number),
                          static_cast<std::int16_t>(sign), value}});
      };
      list_one_body(interaction, operators, mask, add);
      list_two_body(pairs, mask, add);
    }
    // Contributions to one element are summed in the order in which they were found.
    std::stable_sort(found.begin(), found.end(), [](const FoundElement& a, const FoundElement& b) {
      return std::pair(a.bucket, a.element.to) < std::pair(b.bucket, b.element.to);
    });
    store_elements(from, neighbour_of[from.configuration], found);
  }
}

void ShellNucleons::store_elements(const Class& from, std::uint64_t own,
                                   const std::vector<FoundElement>& found) {
  element_offset_.push_back(element_begins_.size());
  std::size_t next = 0;
  for (std::uint64_t row = 0; row < neighbours_[from.configuration].size(); ++row) {
    element_begins_.push_back(elements_.size());
    for (std::uint32_t local = 0; local < from.count; ++local) {
      const std::uint64_t bucket = row * from.count + local;
      while (next < found.size() && found[next].bucket == bucket) {
        Element element = found[next].element;
        for (++next;
             next < found.size() && found[next].bucket == bucket && found[next].element.to == element.to;
             ++next)
          element.value += found[next].element.value;
        elements_.push_back(element);
        if (row == own && element.to == local) energies_[from.begin + local] = element.value;
      }
      element_begins_.push_back(elements_.size());
    }
  }
}

}  // namespace tessera::detail
