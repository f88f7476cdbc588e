// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tessera::detail {

struct ShellOrbit;

/// Where the two-body elements <ab;J|V|cd;J> are in an array: one square for each J and parity, with the pairs of
/// orbits that couple to it.
class PairTable {
 public:
  PairTable() = default;
  /// @param max_weight  pairs of orbits with a larger sum of weights are left out
  /// @param ordered     ab and ba are two pairs; else a <= b
  PairTable(const std::vector<ShellOrbit>& orbits, std::optional<int> max_weight, bool ordered);

  /// Elements in all.
  std::size_t size() const noexcept { return size_; }
  bool has(int a, int b) const noexcept { return pairs_[number(a, b)] >= 0; }
  /// @pre the table has both pairs, which have one parity and couple to j
  std::size_t position(int a, int b, int c, int d, int j) const noexcept {
    const Place &left = place(a, b, j), &right = place(c, d, j);
    return left.begin + left.row * left.width + right.row;
  }

 private:
  struct Place {
    std::size_t begin = 0;  ///< of the square
    std::size_t row = 0;    ///< of the pair in the square
    std::size_t width = 0;  ///< of the square
  };
  std::size_t number(int a, int b) const noexcept {
    return static_cast<std::size_t>(a) * orbits_ + static_cast<std::size_t>(b);
  }
  const Place& place(int a, int b, int j) const noexcept {
    return places_[static_cast<std::size_t>(pairs_[number(a, b)]) * j_values_ + static_cast<std::size_t>(j)];
  }
  std::size_t orbits_ = 0, j_values_ = 0, size_ = 0;
  std::vector<int> pairs_;     ///< the pair's number, or -1
  std::vector<Place> places_;  ///< by pair and J
};

}  // namespace tessera::detail
