// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include <tessera/algorithms/matgen/bit_combinations.hpp>
#include <tessera/algorithms/matgen/generator_families.hpp>
#include <tessera/algorithms/matgen/known_spectrum.hpp>
#include <tessera/algorithms/sparse/function_rows.hpp>

namespace tessera::detail {

namespace {

constexpr int largest_number_of_sites = 24;

/// Energies of all states of one spin's electrons without interaction.
std::vector<double> free_energies(const BitCombinations& states, int sites, bool periodic) {
  std::vector<double> levels, all;
  for (int k = 0; k < sites; ++k)
    levels.push_back(periodic ? -2 * std::cos(2 * k * std::numbers::pi / sites)
                              : -2 * std::cos((k + 1) * std::numbers::pi / (sites + 1)));
  for (Index i = 0; i < states.count(); ++i) {
    const std::uint64_t occupied = states.combination(i);
    double energy = 0;
    for (int k = 0; k < sites; ++k)
      if (occupied >> k & 1) energy += levels[k];
    all.push_back(energy);
  }
  return all;
}

/// Calls store(rank, value) for each electron of one spin that may hop. Beyond the ends it passes all others.
template <class Store>
void hop(const BitCombinations& states, std::uint64_t occupied, int sites, bool periodic, Store store) {
  for (int s = 0; s < (periodic ? sites : sites - 1); ++s) {
    const int next = (s + 1) % sites;
    if (((occupied >> s ^ occupied >> next) & 1) == 0) continue;
    const double sign = next == 0 && std::popcount(occupied) % 2 == 0 ? -1 : 1;
    store(states.rank(occupied ^ (std::uint64_t{1} << s | std::uint64_t{1} << next)), -sign);
  }
}

}  // namespace

SparseGenerator hubbard_chain_generator(const KindArguments& arguments) {
  arguments.require_count(1, 3);
  const int sites =
      static_cast<int>(arguments.integer(1, "the number of sites", 0, 2, largest_number_of_sites));
  if (sites % 2 != 0) arguments.fail("an even number of sites");
  const double u = arguments.real(2, "U", 4);
  const bool periodic = arguments.choice(3, "open", "periodic", sites > 2);
  if (periodic && sites < 4) arguments.fail("at least 4 sites in a periodic chain");
  const BitCombinations states(sites, sites / 2);
  const Index count = states.count();
  const auto row = [=](Index i, auto&& store) {
    const Index up_rank = i / count, down_rank = i % count;
    const std::uint64_t up = states.combination(up_rank), down = states.combination(down_rank);
    store(i, u * std::popcount(up & down));
    hop(states, up, sites, periodic, [&](Index to, double value) { store(to * count + down_rank, value); });
    hop(states, down, sites, periodic, [&](Index to, double value) { store(up_rank * count + to, value); });
  };
  std::vector<Index> tiles;
  for (Index k = 0; k <= count; ++k) tiles.push_back(k * count);
  SparseGenerator made{function_rows(count * count, row, std::move(tiles)), nullptr, {}};
  if (sites == 2) {
    const double root = std::sqrt(u * u + 16);
    made.spectrum =
        spectrum_of_sums("All eigenvalues: (U - sqrt(U^2 + 16)) / 2, 0, U and (U + sqrt(U^2 + 16)) / 2.",
                         {ascending_list({(u - root) / 2, 0, u, (u + root) / 2})});
  } else if (u == 0) {
    const AscendingList free = ascending_list(free_energies(states, sites, periodic));
    made.spectrum = spectrum_of_sums(
        periodic ? "All eigenvalues: free electrons in the levels -2 cos(2 k pi / n), k = 0, ..., n - 1."
                 : "All eigenvalues: free electrons in the levels -2 cos(k pi / (n + 1)), k = 1, ..., n.",
        {free, free});
  } else {
    made.spectrum.text = "The spectrum is symmetric about n U / 4; no eigenvalue is known in closed form.";
  }
  return made;
}

}  // namespace tessera::detail
