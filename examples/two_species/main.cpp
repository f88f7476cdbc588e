// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The lowest energy of a Hubbard chain at half filling, for several repulsions U, without a stored matrix: the
// electrons of both spins are the two species. Without U it is known in closed form.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;

constexpr int sites = 8, electrons = sites / 2;

/// The electrons of one spin: hops between neighbours, and as operators the occupations of the sites.
tessera::Species one_spin() {
  std::vector<std::uint64_t> states;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << sites; ++bits)
    if (std::popcount(bits) == electrons) states.push_back(bits);
  tessera::Species spin;
  spin.sectors = {0, static_cast<Index>(states.size())};
  for (std::uint32_t k = 0; k < states.size(); ++k)
    for (int s = 0; s < sites; ++s) {
      const std::uint64_t here = std::uint64_t{1} << s, both = here | here << 1;
      if (states[k] & here) spin.moves.push_back({k, k, 0, static_cast<std::uint16_t>(s), 1});
      if (s + 1 == sites || std::popcount(states[k] & both) != 1) continue;
      const auto to = std::lower_bound(states.begin(), states.end(), states[k] ^ both) - states.begin();
      spin.elements.push_back({static_cast<std::uint32_t>(to), k, -1});
    }
  return spin;
}

int main() {
  tessera::TwoSpeciesStructure chain;
  chain.first = chain.second = one_spin();
  chain.pairs = {{0, 0}};  // every state of one spin with every one of the other
  chain.couplings = {{0, 0, sites, sites, std::vector<double>(sites * sites, 0.0)}};

  double without = 0;
  for (int k = 1; k <= electrons; ++k) without -= 4 * std::cos(k * std::numbers::pi / (sites + 1));
  tessera::Runtime runtime;
  std::printf("%6s%16s  (n = %ld)\n", "U", "lowest energy", static_cast<long>(chain.order()));
  bool right = true;
  for (const double u : {0., 2., 4., 8.}) {
    for (int s = 0; s < sites; ++s) chain.couplings[0].strengths[s * (sites + 1)] = u;
    const auto h = tessera::TwoSpeciesOperator<double>::build(runtime, chain);
    const auto r = tessera::lobpcg(
        runtime, {.a = &h},
        {.count = 1, .method = tessera::EigenMethod::generalized_davidson, .tolerance = 1e-10});
    std::printf("%6.1f%16.10f\n", u, r ? r.values[0] : std::nan(""));
    if (u == 0) right = r && std::abs(r.values[0] - without) < 1e-8;
  }
  return right ? 0 : 1;
}
