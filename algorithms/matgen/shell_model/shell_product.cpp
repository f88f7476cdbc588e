// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include <tessera/algorithms/matgen/shell_model/shell_model.hpp>
#include <tessera/error.hpp>
#include <tessera/shell_model.hpp>

namespace tessera {
using namespace detail;

namespace {

/// What a sector's determinants have in common.
struct Quantum {
  int twice_m = 0, odd = 0;
  int weight = 0;  ///< above the least; 0 where nothing is truncated
  friend auto operator<=>(const Quantum&, const Quantum&) = default;
};

/// One-body operators that change the quantum numbers alike, of one kind.
class Transfers {
 public:
  Transfers(const ShellModelRows& rows, const ShellNucleons& nucleons) : operators_(rows.operators()) {
    const std::vector<ShellState>& states = nucleons.states();
    const bool truncated = rows.space().excitation.has_value();
    for (int change = 0; change < operators_.changes(); ++change)
      for (const OneBodyOperators::Operator& op : operators_.members(change)) {
        const ShellOrbit &to = rows.orbits()[static_cast<std::size_t>(states[op.to].orbit)],
                         &from = rows.orbits()[static_cast<std::size_t>(states[op.from].orbit)];
        // Between two weights: most pairs of nucleons in high shells are beyond the truncation.
        const std::tuple key{change, (to.l + from.l) % 2, truncated ? to.weight : 0,
                             truncated ? from.weight : 0};
        const auto transfer = numbers_.try_emplace(key, static_cast<int>(members_.size())).first->second;
        if (transfer == static_cast<int>(members_.size())) members_.push_back({change, {}});
        place_[{change, operators_.number(op.to, op.from)}] = {
            static_cast<std::uint16_t>(transfer),
            static_cast<std::uint16_t>(members_[transfer].numbers.size())};
        members_[transfer].numbers.push_back(operators_.number(op.to, op.from));
      }
  }
  struct Members {
    int change;
    std::vector<int> numbers;  ///< of OneBodyOperators
  };
  const std::vector<Members>& all() const noexcept { return members_; }
  struct Place {
    std::uint16_t transfer, number;
  };
  Place at(int change, int number) const { return place_.at({change, number}); }

 private:
  const OneBodyOperators& operators_;
  std::map<std::tuple<int, int, int, int>, int> numbers_;
  std::vector<Members> members_;
  std::map<std::pair<int, int>, Place> place_;
};

/// One kind of nucleon as a species, and where its determinants are.
struct NucleonSpecies {
  Species species;
  std::vector<Quantum> sectors;
  std::vector<std::uint32_t> determinants;  ///< of each state
};

std::vector<Quantum> quanta_of(const ShellNucleons& nucleons) {
  std::vector<Quantum> all;
  for (std::uint32_t k = 0; k < nucleons.determinants(); ++k) {
    const ShellNucleons::Class& own = nucleons.class_of(k);
    all.push_back({own.twice_m, nucleons.odd_parity(own.configuration) ? 1 : 0,
                   nucleons.excitation(own.configuration)});
  }
  return all;
}

/// Elements of the kind's own Hamiltonian and all moves of one nucleon, by determinants.
template <class Element, class Move>
void for_operators(const ShellModelRows& rows, const ShellNucleons& nucleons, std::uint32_t determinant,
                   const Element& element, const Move& move) {
  const ShellNucleons::Class& own = nucleons.class_of(determinant);
  const OneBodyOperators& operators = rows.operators();
  const int number = nucleons.number(own);
  const std::uint32_t local = determinant - own.begin;
  const auto& neighbours = nucleons.neighbours(own.configuration);
  for (std::size_t k = 0; k < neighbours.size(); ++k) {
    const int same = nucleons.find(neighbours[k].configuration, own.twice_m);
    if (same >= 0)
      for (const ShellNucleons::Element& e : nucleons.elements(number, static_cast<int>(k), local))
        if (e.value != 0) element(nucleons.at(same).begin + e.to, e.value);
    if (neighbours[k].near < 0) continue;
    for (int change = 0; change < operators.changes(); ++change) {
      const int to =
          nucleons.find(neighbours[k].configuration, own.twice_m + 2 * (change - operators.no_change()));
      if (to < 0) continue;
      for (const ShellNucleons::Move& m : nucleons.moves(number, neighbours[k].near, change, local))
        move(nucleons.at(to).begin + m.to, change, m.number, m.sign);
    }
  }
  for (const int s : nucleons.occupied(determinant))
    move(determinant, operators.no_change(), operators.number(s, s), 1);
}

NucleonSpecies species_of(const ShellModelRows& rows, const ShellNucleons& nucleons,
                          const Transfers& transfers) {
  NucleonSpecies made;
  const std::vector<Quantum> quanta = quanta_of(nucleons);
  made.determinants.resize(quanta.size());
  for (std::uint32_t k = 0; k < quanta.size(); ++k) made.determinants[k] = k;
  std::stable_sort(made.determinants.begin(), made.determinants.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return quanta[a] < quanta[b]; });
  std::vector<std::uint32_t> state(quanta.size());
  for (std::uint32_t k = 0; k < quanta.size(); ++k) {
    state[made.determinants[k]] = k;
    const Quantum& own = quanta[made.determinants[k]];
    if (k == 0 || own != made.sectors.back()) {
      made.sectors.push_back(own);
      made.species.sectors.push_back(k);
    }
  }
  made.species.sectors.push_back(static_cast<Index>(quanta.size()));
  for (std::uint32_t k = 0; k < quanta.size(); ++k)
    for_operators(
        rows, nucleons, k,
        [&](std::uint32_t to, double value) {
          made.species.elements.push_back({state[to], state[k], value});
        },
        [&](std::uint32_t to, int change, int number, int sign) {
          const Transfers::Place place = transfers.at(change, number);
          made.species.moves.push_back(
              {state[to], state[k], place.transfer, place.number, static_cast<std::int16_t>(sign)});
        });
  return made;
}

/// The part of the strengths between two transfers; empty if all are zero.
std::vector<double> strengths_of(const ShellModelRows& rows, const Transfers::Members& protons,
                                 const Transfers::Members& neutrons) {
  if (neutrons.change != rows.operators().opposite(protons.change)) return {};
  std::vector<double> strengths;
  for (const int a : protons.numbers)
    for (const int b : neutrons.numbers) strengths.push_back(rows.strength(protons.change, a, b));
  if (std::all_of(strengths.begin(), strengths.end(), [](double v) { return v == 0; })) return {};
  return strengths;
}

ShellModelProduct product_of(const ShellModelRows& rows) {
  ShellModelProduct product;
  const Transfers transfers(rows, rows.protons());
  NucleonSpecies protons = species_of(rows, rows.protons(), transfers),
                 neutrons = species_of(rows, rows.neutrons(), transfers);
  const ShellModelSpace& space = rows.space();
  for (std::size_t p = 0; p < protons.sectors.size(); ++p)
    for (std::size_t n = 0; n < neutrons.sectors.size(); ++n) {
      const Quantum &own = protons.sectors[p], &other = neutrons.sectors[n];
      const int parity = own.odd == other.odd ? 1 : -1;
      if (own.twice_m + other.twice_m != space.twice_m || (space.parity != 0 && parity != space.parity) ||
          (space.excitation && own.weight + other.weight > *space.excitation))
        continue;
      product.structure.pairs.push_back({static_cast<Index>(p), static_cast<Index>(n)});
      for (Index k = protons.species.sectors[p]; k < protons.species.sectors[p + 1]; ++k)
        for (Index l = neutrons.species.sectors[n]; l < neutrons.species.sectors[n + 1]; ++l)
          product.rows.push_back(rows.row_of(protons.determinants[static_cast<std::size_t>(k)],
                                             neutrons.determinants[static_cast<std::size_t>(l)]));
    }
  const std::vector<Transfers::Members>& all = transfers.all();
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = 0; b < all.size(); ++b) {
      std::vector<double> strengths = strengths_of(rows, all[a], all[b]);
      if (strengths.empty()) continue;
      product.structure.couplings.push_back({static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b),
                                             static_cast<Index>(all[a].numbers.size()),
                                             static_cast<Index>(all[b].numbers.size()),
                                             std::move(strengths)});
    }
  product.structure.first = std::move(protons.species);
  product.structure.second = std::move(neutrons.species);
  return product;
}

}  // namespace

ShellModelProduct shell_model_product(const SparseGenerator& generator) {
  const auto* const rows = dynamic_cast<const ShellModelRows*>(generator.a.get());
  if (rows == nullptr)
    throw InvalidArgument("generator", "a matrix of another kind", "a matrix of the kind 'shell'");
  return product_of(*rows);
}

}  // namespace tessera
