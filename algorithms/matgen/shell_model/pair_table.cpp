// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdlib>

#include <tessera/algorithms/matgen/shell_model/pair_table.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_interaction.hpp>

namespace tessera::detail {

PairTable::PairTable(const std::vector<ShellOrbit>& orbits, std::optional<int> max_weight, bool ordered)
    : orbits_(orbits.size()) {
  for (const ShellOrbit& orbit : orbits)
    j_values_ = std::max(j_values_, static_cast<std::size_t>(orbit.twice_j + 1));
  const int count = static_cast<int>(orbits.size());
  pairs_.assign(orbits_ * orbits_, -1);
  int pairs = 0;
  for (int a = 0; a < count; ++a)
    for (int b = ordered ? 0 : a; b < count; ++b)
      if (!max_weight || orbits[a].weight + orbits[b].weight <= *max_weight) pairs_[number(a, b)] = pairs++;
  places_.resize(static_cast<std::size_t>(pairs) * j_values_);
  const auto visit = [&](const auto& each) {
    for (int a = 0; a < count; ++a)
      for (int b = 0; b < count; ++b) {
        if (!has(a, b)) continue;
        const int last = (orbits[a].twice_j + orbits[b].twice_j) / 2;
        for (int j = std::abs(orbits[a].twice_j - orbits[b].twice_j) / 2; j <= last; ++j)
          each(places_[static_cast<std::size_t>(pairs_[number(a, b)]) * j_values_ +
                       static_cast<std::size_t>(j)],
               2 * static_cast<std::size_t>(j) + static_cast<std::size_t>((orbits[a].l + orbits[b].l) % 2));
      }
  };
  std::vector<std::size_t> widths(2 * j_values_), begins(2 * j_values_);
  visit([&](Place& place, std::size_t square) { place.row = widths[square]++; });
  for (std::size_t square = 0; square < widths.size(); ++square) {
    begins[square] = size_;
    size_ += widths[square] * widths[square];
  }
  visit([&](Place& place, std::size_t square) {
    place.begin = begins[square];
    place.width = widths[square];
  });
}

}  // namespace tessera::detail
