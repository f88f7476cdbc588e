// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <tessera/algorithms/matgen/bit_combinations.hpp>
#include <tessera/algorithms/matgen/generator_families.hpp>
#include <tessera/algorithms/matgen/known_spectrum.hpp>
#include <tessera/algorithms/sparse/function_rows.hpp>

namespace tessera::detail {

namespace {

/// Of one pair, ascending: the roots of 1 / G = sum 1 / (2 a - E), one below each 2 a, by bisection; G > 0.
std::vector<double> one_pair_energies(int levels, double g) {
  std::vector<double> energies;
  for (int k = 1; k <= levels; ++k) {
    double low = k == 1 ? 2 - g * levels - 1 : 2 * k - 2, high = 2 * k;
    for (;;) {
      const double middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      double sum = -1 / g;
      for (int a = 1; a <= levels; ++a) sum += 1 / (2 * a - middle);
      (sum < 0 ? low : high) = middle;
    }
    energies.push_back(low);
  }
  return energies;
}

}  // namespace

SparseGenerator pairing_model_generator(const KindArguments& arguments) {
  arguments.require_count(1, 3);
  const int levels = static_cast<int>(
      arguments.integer(1, "the number of levels", 0, 1, BitCombinations::largest_number_of_bits));
  const int pairs = static_cast<int>(arguments.integer(2, "the number of pairs", levels / 2, 0, levels));
  const double g = arguments.real(3, "G", 0.5);
  const BitCombinations states(levels, pairs);
  const auto row = [=](Index i, auto&& store) {
    const std::uint64_t occupied = states.combination(i);
    double diagonal = -g * pairs;
    for (int from = 0; from < levels; ++from) {
      if ((occupied >> from & 1) == 0) continue;
      diagonal += 2 * (from + 1);
      for (int to = 0; to < from; ++to)
        if ((occupied >> to & 1) == 0)
          store(states.rank(occupied ^ (std::uint64_t{1} << from | std::uint64_t{1} << to)), -g);
    }
    store(i, diagonal);
  };
  SparseGenerator made{function_rows(states.count(), row), nullptr, {}};
  if (pairs == 1 && g > 0)
    made.spectrum =
        spectrum_of_sums("All eigenvalues: the roots of Richardson's equation 1 / G = sum 1 / (2 a - E).",
                         {ascending_list(one_pair_energies(levels, g))});
  else if (pairs == levels || pairs == 0)
    made.spectrum = spectrum_of_sums("The eigenvalue: the energy of all pairs, levels (levels + 1 - G) or 0.",
                                     {ascending_list({pairs * (pairs + 1 - g)})});
  else
    made.spectrum.text = "The eigenvalues solve Richardson's equations, which have no closed form.";
  return made;
}

}  // namespace tessera::detail
