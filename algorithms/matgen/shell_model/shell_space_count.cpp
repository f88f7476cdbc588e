// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <tessera/algorithms/matgen/shell_model/shell_model.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_space_count.hpp>

namespace tessera::detail {

namespace {

/// The weights of all single-particle states, ascending.
std::vector<int> weights_of_states(const std::vector<ShellOrbit>& orbits) {
  std::vector<int> weights;
  for (const ShellOrbit& orbit : orbits)
    weights.insert(weights.end(), static_cast<std::size_t>(orbit.twice_j + 1), orbit.weight);
  std::sort(weights.begin(), weights.end());
  return weights;
}

}  // namespace

int least_weight(const std::vector<ShellOrbit>& orbits, int nucleons) {
  const std::vector<int> weights = weights_of_states(orbits);
  return std::accumulate(weights.begin(), weights.begin() + nucleons, 0);
}

int max_pair_weight(const std::vector<ShellOrbit>& orbits, const ShellModelSpace& space) {
  const std::vector<int> weights = weights_of_states(orbits);
  const auto states = static_cast<int>(weights.size());
  if (!space.excitation || std::min(space.protons, space.neutrons) < 0 ||
      std::max(space.protons, space.neutrons) > states)
    return 0;
  // The others have at least the weights of as many nucleons less; what the two have more than the highest two of
  // the lowest state is excitation.
  const auto highest = [&](int nucleons, int of_these) {
    return std::accumulate(weights.begin() + (nucleons - of_these), weights.begin() + nucleons, 0);
  };
  int most = 2 * weights.front();
  for (int of_protons = 0; of_protons <= 2; ++of_protons)
    if (of_protons <= space.protons && 2 - of_protons <= space.neutrons)
      most = std::max(most, highest(space.protons, of_protons) + highest(space.neutrons, 2 - of_protons));
  return most + *space.excitation;
}

NucleonCount::NucleonCount(const std::vector<ShellOrbit>& orbits, int nucleons,
                           std::optional<int> excitation) {
  const std::vector<int> weights = weights_of_states(orbits);
  const auto states = static_cast<int>(weights.size());
  if (nucleons < 0 || nucleons > states) {
    counts_.assign(2, 0.0);
    return;
  }
  // Weights from the lowest orbit's, so that sums of fewer nucleons cannot exceed what is left to come.
  const int lowest = weights.front(), least = least_weight(orbits, nucleons) - nucleons * lowest;
  const int highest = std::accumulate(weights.end() - nucleons, weights.end(), 0) - nucleons * lowest;
  levels_ = excitation ? std::min(*excitation, highest - least) + 1 : 1;
  const int sums = excitation ? least + levels_ : 1;
  std::vector<int> twice_j;
  for (const ShellOrbit& orbit : orbits)
    for (int twice_m = -orbit.twice_j; twice_m <= orbit.twice_j; twice_m += 2)
      twice_j.push_back(std::abs(twice_m));
  std::sort(twice_j.rbegin(), twice_j.rend());
  max_twice_m_ = std::accumulate(twice_j.begin(), twice_j.begin() + nucleons, 0);
  const int width = 2 * max_twice_m_ + 1;
  const auto at = [&](int count, int sum, int odd, int twice_m) {
    return ((static_cast<std::size_t>(count) * static_cast<std::size_t>(sums) +
             static_cast<std::size_t>(sum)) *
                2 +
            static_cast<std::size_t>(odd)) *
               static_cast<std::size_t>(width) +
           static_cast<std::size_t>(twice_m + max_twice_m_);
  };
  // The generating function: a factor 1 + (one nucleon) for each state.
  std::vector<double> ways(at(nucleons, sums - 1, 1, max_twice_m_) + 1, 0.0);
  ways[at(0, 0, 0, 0)] = 1;
  for (const ShellOrbit& orbit : orbits)
    for (int own = -orbit.twice_j; own <= orbit.twice_j; own += 2) {
      const int weight = excitation ? orbit.weight - lowest : 0;
      for (int count = nucleons; count > 0; --count)
        for (int sum = weight; sum < sums; ++sum)
          for (int odd = 0; odd < 2; ++odd)
            for (int m = std::max(-max_twice_m_, -max_twice_m_ + own);
                 m <= std::min(max_twice_m_, max_twice_m_ + own); ++m)
              ways[at(count, sum, odd, m)] += ways[at(count - 1, sum - weight, (odd + orbit.l) % 2, m - own)];
    }
  const auto first = static_cast<std::ptrdiff_t>(at(nucleons, excitation ? least : 0, 0, -max_twice_m_));
  counts_.assign(ways.begin() + first, ways.end());
}

double NucleonCount::operator()(int excitation, bool odd, int twice_m) const noexcept {
  if (excitation < 0 || excitation >= levels_ || std::abs(twice_m) > max_twice_m_) return 0;
  const auto width = static_cast<std::size_t>(2 * max_twice_m_ + 1);
  return counts_[(2 * static_cast<std::size_t>(excitation) + (odd ? 1 : 0)) * width +
                 static_cast<std::size_t>(twice_m + max_twice_m_)];
}

double NucleonCount::total() const noexcept {
  return std::accumulate(counts_.begin(), counts_.end(), 0.0);
}

double count_states(const std::vector<ShellOrbit>& orbits, const ShellModelSpace& space) {
  const NucleonCount protons(orbits, space.protons, space.excitation),
      neutrons(orbits, space.neutrons, space.excitation);
  double states = 0;
  for (int p = 0; p <= protons.max_excitation(); ++p)
    for (int n = 0; n <= neutrons.max_excitation(); ++n) {
      if (space.excitation && p + n > *space.excitation) break;
      for (const bool odd_protons : {false, true})
        for (const bool odd_neutrons : {false, true}) {
          const int parity = odd_protons == odd_neutrons ? 1 : -1;
          if (space.parity != 0 && parity != space.parity) continue;
          for (int m = -protons.max_twice_m(); m <= protons.max_twice_m(); ++m)
            states += protons(p, odd_protons, m) * neutrons(n, odd_neutrons, space.twice_m - m);
        }
    }
  return states;
}

}  // namespace tessera::detail
