// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/matgen/shell_model/shell_nucleons.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_space_count.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/host_memory.hpp>

namespace tessera::detail {

namespace {

/// Applies c_k (k occupied) or c+_k (k empty) to a determinant; -1 or 1.
int flip(Determinant& mask, int k) noexcept {
  const int sign = mask.count_below(k) % 2 == 0 ? 1 : -1;
  mask.flip(k);
  return sign;
}

/// All ways to put nucleons into orbits, in lexicographic order, with a sum of weights up to a limit.
class Occupations {
 public:
  Occupations(const std::vector<ShellOrbit>& orbits, int lowest_weight, int max_weight)
      : orbits_(orbits), lowest_(lowest_weight), max_weight_(max_weight) {}
  std::vector<std::vector<int>> of(int nucleons) {
    add(nucleons, 0);
    return std::move(all_);
  }

 private:
  /// `weight`: of those that are placed, above `lowest_` each.
  void add(int left, int weight) {
    if (begun_.size() == orbits_.size()) {
      if (left == 0) all_.push_back(begun_);
      return;
    }
    const ShellOrbit& orbit = orbits_[begun_.size()];
    const int each = orbit.weight - lowest_;
    for (int k = 0; k <= std::min(left, orbit.twice_j + 1); ++k) {
      if (max_weight_ >= 0 && weight + k * each > max_weight_) break;
      begun_.push_back(k);
      add(left - k, weight + k * each);
      begun_.pop_back();
    }
  }
  const std::vector<ShellOrbit>& orbits_;
  int lowest_, max_weight_;  ///< max_weight_ < 0: no limit
  std::vector<int> begun_;
  std::vector<std::vector<int>> all_;
};

/// Next larger number with as many bits set.
std::uint64_t next_combination(std::uint64_t mask) noexcept {
  const std::uint64_t lowest = mask & (~mask + 1), ripple = mask + lowest;
  return (((ripple ^ mask) >> 2) / lowest) | ripple;
}

using MaskAndM = std::pair<int, Determinant>;  // 2M and the bits

/// All determinants with these numbers of nucleons in the orbits.
std::vector<MaskAndM> determinants_of(const std::vector<ShellOrbit>& orbits,
                                      const std::vector<ShellState>& states,
                                      const std::vector<int>& occupations) {
  std::vector<MaskAndM> here{{0, {}}};
  int first_state = 0;
  for (std::size_t a = 0; a < orbits.size(); ++a) {
    const int occupied = occupations[a], size = orbits[a].twice_j + 1;
    std::vector<MaskAndM> longer;
    const std::uint64_t end = std::uint64_t{1} << size;
    for (std::uint64_t part = (std::uint64_t{1} << occupied) - 1; occupied > 0 && part < end;
         part = next_combination(part)) {
      int twice_m = 0;
      Determinant mask;
      for (int k = 0; k < size; ++k)
        if (part >> k & 1) {
          twice_m += states[first_state + k].twice_m;
          mask.flip(first_state + k);
        }
      for (const auto& [m, former] : here) longer.emplace_back(m + twice_m, former.united(mask));
    }
    if (occupied > 0) here = std::move(longer);
    first_state += size;
  }
  return here;
}

/// The orbits' weights, ascending, each once.
std::vector<int> distinct_weights(const std::vector<ShellOrbit>& orbits) {
  std::vector<int> weights;
  for (const ShellOrbit& orbit : orbits) weights.push_back(orbit.weight);
  std::sort(weights.begin(), weights.end());
  weights.erase(std::unique(weights.begin(), weights.end()), weights.end());
  return weights;
}

std::size_t place_in(const std::vector<int>& ascending, int value) {
  return static_cast<std::size_t>(std::lower_bound(ascending.begin(), ascending.end(), value) -
                                  ascending.begin());
}

}  // namespace

int move_nucleon(Determinant& mask, int to, int from) noexcept {
  const int removed = flip(mask, from);
  return removed * flip(mask, to);
}

OneBodyOperators::OneBodyOperators(const ShellInteraction& interaction, bool truncated) {
  const std::vector<ShellState> states = interaction.states();
  states_ = states.size();
  for (const ShellState& state : states) none_ = std::max(none_, state.twice_m);
  const auto all_changes = static_cast<std::size_t>(changes());
  members_.resize(all_changes);
  block_of_.resize(all_changes);
  change_.resize(states_ * states_);
  number_.resize(states_ * states_);
  const std::vector<int> weights = truncated ? distinct_weights(interaction.orbits()) : std::vector<int>{0};
  const std::size_t groups = weights.size();
  blocks_ = static_cast<int>(groups * groups);
  std::vector<std::vector<int>> states_of(groups);
  for (std::size_t s = 0; s < states_; ++s)
    states_of[truncated ? place_in(weights, interaction.orbits()[states[s].orbit].weight) : 0].push_back(
        static_cast<int>(s));
  for (std::size_t block = 0; block < groups * groups; ++block)
    for (const int i : states_of[block / groups])
      for (const int k : states_of[block % groups]) {
        const int change = (states[i].twice_m - states[k].twice_m) / 2 + none_;
        change_[at(i, k)] = change;
        number_[at(i, k)] = count(change);
        members_[change].push_back({i, k});
        block_of_[change].push_back(static_cast<std::uint16_t>(block));
      }
}

ShellNucleons::ShellNucleons(const ShellInteraction& interaction, const OneBodyOperators& operators,
                             Nucleon kind, int nucleons, const std::optional<WeightLimits>& limits,
                             bool by_shells)
    : kind_(kind),
      nucleons_(static_cast<std::size_t>(std::max(nucleons, 0))),
      limits_(limits),
      states_(interaction.states()),
      changes_(static_cast<std::uint64_t>(operators.changes())) {
  const int states = static_cast<int>(states_.size());
  const char* const name = kind == Nucleon::proton ? "protons" : "neutrons";
  if (nucleons < 0 || nucleons > states)
    throw InvalidArgument(name, std::to_string(nucleons),
                          fmt::format("0 to {} nucleons of a kind in these orbits", states));
  const std::optional<int> excitation = limits ? std::optional(limits->excitation) : std::nullopt;
  if (NucleonCount(interaction.orbits(), nucleons, excitation).total() > 0x1p24)
    throw InvalidArgument(name, std::to_string(nucleons), "at most 2^24 Slater determinants of one kind");
  for (const ShellState& state : states_) {
    const ShellOrbit& orbit = interaction.orbits()[static_cast<std::size_t>(state.orbit)];
    weights_.push_back(limits ? orbit.weight : 0);
    odd_.push_back(orbit.l % 2 != 0);
  }
  list_determinants(interaction, by_shells);
  list_neighbours();
  const auto pairs = pair_elements(interaction);
  require_room(pairs);
  list_moves(operators);
  list_elements(interaction, operators, pairs);
}

void ShellNucleons::list_determinants(const ShellInteraction& interaction, bool by_shells) {
  const std::vector<ShellOrbit>& orbits = interaction.orbits();
  const std::vector<int> shells = distinct_weights(orbits);
  const int nucleons = static_cast<int>(nucleons_), least = least_weight(orbits, nucleons);
  const int max_weight = limits_ ? least - nucleons * shells.front() + limits_->excitation : -1;
  std::map<std::vector<int>, std::vector<MaskAndM>> by_configuration;
  for (const std::vector<int>& of_orbits : Occupations(orbits, shells.front(), max_weight).of(nucleons)) {
    std::vector<int> occupations = of_orbits;
    if (by_shells) {
      occupations.assign(shells.size(), 0);
      for (std::size_t a = 0; a < orbits.size(); ++a)
        occupations[place_in(shells, orbits[a].weight)] += of_orbits[a];
    }
    const std::vector<MaskAndM> here = determinants_of(orbits, states_, of_orbits);
    std::vector<MaskAndM>& all = by_configuration[std::move(occupations)];
    all.insert(all.end(), here.begin(), here.end());
  }
  for (auto& [occupations, here] : by_configuration) {
    std::sort(here.begin(), here.end());
    const auto configuration = static_cast<int>(occupations_.size());
    occupations_.push_back(occupations);
    int odd = 0, weight = 0;
    here.front().second.for_each([&](int state) {
      odd += odd_[static_cast<std::size_t>(state)] ? 1 : 0;
      weight += weights_[static_cast<std::size_t>(state)];
    });
    odd_parity_.push_back(odd % 2 != 0);
    excitations_.push_back(limits_ ? weight - least : 0);
    first_class_.push_back(static_cast<int>(classes_.size()));
    for (std::size_t k = 0; k < here.size(); ++k) {
      const auto number = static_cast<std::uint32_t>(masks_.size());
      if (k == 0 || here[k].first != here[k - 1].first)
        classes_.push_back({configuration, here[k].first, number, 0});
      ++classes_.back().count;
      masks_.push_back(here[k].second);
      masks_.back().for_each([&](int state) { occupied_.push_back(static_cast<std::uint16_t>(state)); });
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

/// Calls visit(to, from) for each move of one nucleon that stays in the space.
template <class Visit>
void ShellNucleons::for_moves(std::uint32_t determinant, const Visit& visit) const {
  const Determinant& mask = masks_[determinant];
  const int excitation = excitations_[classes_[class_of_[determinant]].configuration];
  for (const int k : occupied(determinant))
    for (int i = 0; i < static_cast<int>(states_.size()); ++i)
      if (!mask.has(i) && keeps(excitation + weights_[i] - weights_[k])) visit(i, k);
}

void ShellNucleons::list_moves(const OneBodyOperators& operators) {
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
    for (std::uint32_t local = 0; local < from.count; ++local)
      for_moves(from.begin + local, [&](int i, int k) {
        Determinant moved = masks_[from.begin + local];
        const int sign = move_nucleon(moved, i, k);
        const std::uint32_t number = number_of_.at(moved);
        const Class& to = classes_[class_of_[number]];
        const int change = operators.change(i, k);
        const std::uint64_t row = static_cast<std::uint64_t>(near[to.configuration]) * changes_ +
                                  static_cast<std::uint64_t>(change);
        found.push_back({row * from.count + local,
                         {number - to.begin, static_cast<std::uint16_t>(operators.number(i, k)),
                          static_cast<std::int16_t>(sign)}});
      });
    store_moves(from, nears, found);
  }
}

template <class Found>
void ShellNucleons::store_moves(const Class& from, std::uint64_t nears, std::vector<Found>& found) {
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.bucket < b.bucket; });
  move_offset_.push_back(move_rows_.size());
  std::size_t next = 0;
  for (std::uint64_t row = 0; row < nears * changes_; ++row) {
    if (next == found.size() || found[next].bucket >= (row + 1) * from.count) {
      move_rows_.push_back(no_moves);
      continue;
    }
    move_rows_.push_back(move_begins_.size());
    move_begins_.push_back(moves_.size());
    for (std::uint32_t local = 0; local < from.count; ++local) {
      for (; next < found.size() && found[next].bucket == row * from.count + local; ++next)
        moves_.push_back(found[next].move);
      move_begins_.push_back(moves_.size());
    }
  }
}

/// Two states that a pair is scattered to, with the matrix element.
struct ShellNucleons::PairElement {
  int i, j;
  double value;
};

/// For each k < l (number l (l - 1) / 2 + k) the pairs i < j with <ij|V|kl> != 0.
std::vector<std::vector<ShellNucleons::PairElement>> ShellNucleons::pair_elements(
    const ShellInteraction& interaction) const {
  std::map<std::pair<int, bool>, std::vector<std::pair<int, int>>> pairs;  // by 2M and parity
  const int count = nucleons_ < 2 ? 0 : static_cast<int>(states_.size());
  const auto visit_pairs = [&](const auto& visit) {
    for (int j = 0; j < count; ++j)
      for (int i = 0; i < j; ++i) visit(i, j, limits_ && weights_[i] + weights_[j] > limits_->pair);
  };
  const auto key = [&](int i, int j) {
    return std::pair(states_[i].twice_m + states_[j].twice_m, odd_[i] != odd_[j]);
  };
  visit_pairs([&](int i, int j, bool left_out) {
    if (!left_out) pairs[key(i, j)].emplace_back(i, j);
  });
  std::vector<std::vector<PairElement>> all;
  visit_pairs([&](int k, int l, bool left_out) {
    std::vector<PairElement>& of_pair = all.emplace_back();
    if (left_out) return;
    for (const auto& [i, j] : pairs.at(key(k, l))) {
      const double value = interaction.like_element(states_[i], states_[j], states_[k], states_[l], kind_);
      if (value != 0) of_pair.push_back({i, j, value});
    }
  });
  return all;
}

/// Counts what the lists will have.
void ShellNucleons::require_room(const std::vector<std::vector<PairElement>>& pairs) const {
  double moves = 0, elements = 0;
  for (std::uint32_t d = 0; d < determinants(); ++d) {
    for_moves(d, [&](int i, int k) {
      ++moves;
      if (states_[i].twice_m == states_[k].twice_m && odd_[i] == odd_[k]) ++elements;
    });
    list_two_body(pairs, d, [&](const auto&) { ++elements; });
  }
  require_host_memory(fmt::format("listing what operators do to {} determinants of {}s", determinants(),
                                  kind_ == Nucleon::proton ? "proton" : "neutron"),
                      moves * sizeof(Move) + elements * sizeof(Element));
}

/// An element with its place: the neighbour configuration's number times the class's size, plus the
/// determinant.
struct ShellNucleons::FoundElement {
  std::uint64_t bucket;
  Element element;
};

/// The energy, and, with the value zero, all moves of one nucleon that keep M and the parity: the other kind's field
/// acts on them.
template <class Add>
void ShellNucleons::list_one_body(const ShellInteraction& interaction, const OneBodyOperators& operators,
                                  std::uint32_t determinant, const Add& add) const {
  double energy = 0;
  for (const int k : occupied(determinant)) energy += interaction.energy(kind_, states_[k].orbit);
  add(masks_[determinant], 0, 0, energy);
  for_moves(determinant, [&](int i, int k) {
    if (states_[i].twice_m != states_[k].twice_m || odd_[i] != odd_[k]) return;
    Determinant moved = masks_[determinant];
    const int sign = move_nucleon(moved, i, k);
    add(moved, operators.number(i, k), sign, 0.0);
  });
}

/// Calls add(make) for each <ij|V|kl> c+_i c+_j c_l c_k with k < l occupied that stays in the space; make() tells the
/// determinant and the value.
template <class Add>
void ShellNucleons::list_two_body(const std::vector<std::vector<PairElement>>& pairs,
                                  std::uint32_t determinant, const Add& add) const {
  const int excitation = excitations_[classes_[class_of_[determinant]].configuration];
  const auto states = occupied(determinant);
  for (std::size_t b = 0; b < states.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) {
      const int k = states[a], l = states[b];
      Determinant rest = masks_[determinant];
      int removed = flip(rest, k);
      removed *= flip(rest, l);
      for (const PairElement& pair : pairs[static_cast<std::size_t>(l) * (l - 1) / 2 + k]) {
        if (rest.has(pair.i) || rest.has(pair.j) ||
            !keeps(excitation + weights_[pair.i] + weights_[pair.j] - weights_[k] - weights_[l]))
          continue;
        add([&] {
          Determinant reached = rest;
          int sign = removed * flip(reached, pair.j);
          sign *= flip(reached, pair.i);
          return std::pair(reached, sign * pair.value);
        });
      }
    }
}

void ShellNucleons::list_elements(const ShellInteraction& interaction, const OneBodyOperators& operators,
                                  const std::vector<std::vector<PairElement>>& pairs) {
  energies_.resize(masks_.size());
  std::vector<FoundElement> found;
  std::vector<std::uint64_t> neighbour_of(static_cast<std::size_t>(configurations()));
  for (const Class& from : classes_) {
    found.clear();
    const std::vector<Neighbour>& neighbours = neighbours_[from.configuration];
    for (std::size_t k = 0; k < neighbours.size(); ++k) neighbour_of[neighbours[k].configuration] = k;
    for (std::uint32_t local = 0; local < from.count; ++local) {
      const auto add = [&](const Determinant& reached, int number, int sign, double value) {
        const std::uint32_t determinant = number_of_.at(reached);
        const Class& to = classes_[class_of_[determinant]];
        found.push_back({neighbour_of[to.configuration] * from.count + local,
                         {determinant - to.begin, static_cast<std::uint16_t>(number),
                          static_cast<std::int16_t>(sign), value}});
      };
      list_one_body(interaction, operators, from.begin + local, add);
      list_two_body(pairs, from.begin + local, [&](const auto& make) {
        const auto [reached, value] = make();
        add(reached, 0, 0, value);
      });
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
