// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include <tessera/algorithms/matgen/bit_combinations.hpp>
#include <tessera/algorithms/matgen/generator_families.hpp>
#include <tessera/algorithms/matgen/known_spectrum.hpp>
#include <tessera/algorithms/sparse/function_rows.hpp>

namespace tessera::detail {

namespace {

using Bonds = std::vector<std::pair<int, int>>;

std::shared_ptr<const SymmetricRows> heisenberg_rows(int sites, const Bonds& bonds) {
  const BitCombinations states(sites, sites / 2);
  // S_i . S_j is 1/4 for equal spins; opposite ones have -1/4 and change places with 1/2.
  const auto row = [=](Index i, auto&& store) {
    const std::uint64_t spins = states.combination(i);
    double diagonal = 0;
    for (const auto& [a, b] : bonds) {
      const bool opposite = ((spins >> a ^ spins >> b) & 1) != 0;
      diagonal += opposite ? -0.25 : 0.25;
      const std::uint64_t exchanged = spins ^ (std::uint64_t{1} << a | std::uint64_t{1} << b);
      if (opposite && exchanged < spins) store(states.rank(exchanged), 0.5);
    }
    store(i, diagonal);
  };
  return function_rows(states.count(), row);
}

/// Above all other levels is that of parallel spins, then come single spin waves.
/// Source: P. Caputo, T. M. Liggett, T. Richthammer, J. Amer. Math. Soc. 23, 831 (2010).
std::vector<double> highest_levels(std::size_t bonds, double graph_gap, int multiplicity) {
  const double parallel = 0.25 * static_cast<double>(bonds);
  std::vector<double> levels(static_cast<std::size_t>(multiplicity) + 1, parallel - 0.5 * graph_gap);
  levels[0] = parallel;
  return levels;
}

double graph_gap(int sites, bool periodic) {
  return 2 - 2 * std::cos((periodic ? 2 : 1) * std::numbers::pi / sites);
}

}  // namespace

SparseGenerator heisenberg_chain_generator(const KindArguments& arguments) {
  arguments.require_count(1, 2);
  const int sites = static_cast<int>(
      arguments.integer(1, "the number of sites", 0, 2, BitCombinations::largest_number_of_bits));
  if (sites % 2 != 0) arguments.fail("an even number of sites");
  const bool periodic = arguments.choice(2, "open", "periodic", sites > 2);
  if (periodic && sites < 4) arguments.fail("at least 4 sites in a periodic chain");
  Bonds bonds;
  for (int s = 0; s + 1 < sites; ++s) bonds.emplace_back(s, s + 1);
  if (periodic) bonds.emplace_back(sites - 1, 0);
  SparseGenerator made{heisenberg_rows(sites, bonds), nullptr, {}};
  if (sites == 2)
    made.spectrum = spectrum_of_sums("All eigenvalues: -3/4 and 1/4.", {ascending_list({-0.75, 0.25})});
  else if (sites == 4 && periodic)
    made.spectrum = spectrum_of_sums("All eigenvalues: -2, -1, 0 (three times) and 1.",
                                     {ascending_list({-2, -1, 0, 0, 0, 1})});
  else
    made.spectrum = spectrum_of_largest(
        "The largest eigenvalues: bonds / 4, and one spin wave below it (twice in a periodic chain).",
        highest_levels(bonds.size(), graph_gap(sites, periodic), periodic ? 2 : 1));
  return made;
}

SparseGenerator heisenberg_ladder_generator(const KindArguments& arguments) {
  arguments.require_count(1, 2);
  const int rungs = static_cast<int>(
      arguments.integer(1, "the number of rungs", 0, 1, BitCombinations::largest_number_of_bits / 2));
  const bool periodic = arguments.choice(2, "open", "periodic", rungs > 2);
  if (periodic && rungs < 3) arguments.fail("at least 3 rungs in a periodic ladder");
  Bonds bonds;
  for (int r = 0; r < rungs; ++r) {
    bonds.emplace_back(2 * r, 2 * r + 1);
    for (int leg = 0; leg < 2; ++leg)
      if (r + 1 < rungs || periodic) bonds.emplace_back(2 * r + leg, 2 * ((r + 1) % rungs) + leg);
  }
  const double gap = rungs == 1 ? 2 : std::min(2.0, graph_gap(rungs, periodic));
  return {heisenberg_rows(2 * rungs, bonds), nullptr,
          spectrum_of_largest("The two largest eigenvalues: bonds / 4, and one spin wave below it.",
                              highest_levels(bonds.size(), gap, 1))};
}

}  // namespace tessera::detail
