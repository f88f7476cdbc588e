// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>

#include <tessera/algorithms/matgen/bit_combinations.hpp>

namespace tessera::detail {

// The rank of p_1 < p_2 < ... is binomial(p_1, 1) + binomial(p_2, 2) + ...: the number of smaller ones. What
// the high bits add depends on them alone, since the number of set low bits is ones minus theirs.
BitCombinations::BitCombinations(int bits, int ones) : bits_(bits), ones_(ones), low_bits_(bits / 2) {
  binomials_.assign(static_cast<std::size_t>((bits + 1) * (ones + 2)), 0);
  for (int n = 0; n <= bits; ++n) {
    binomials_[n * (ones + 2)] = 1;
    for (int k = 1; k <= ones + 1 && n > 0; ++k)
      binomials_[n * (ones + 2) + k] = binomial(n - 1, k - 1) + binomial(n - 1, k);
  }
  count_ = binomial(bits, ones);
  const auto sum = [&](std::uint64_t part, int shift, int below) {
    Index rank = 0;
    for (int p = 0; part >> p != 0; ++p)
      if (part >> p & 1) rank += binomial(p + shift, ++below);
    return rank;
  };
  low_.assign(std::size_t{1} << low_bits_, 0);
  high_.assign(std::size_t{1} << (bits - low_bits_), 0);
  for (std::uint64_t part = 0; part < low_.size(); ++part)
    if (std::popcount(part) <= ones) low_[part] = sum(part, 0, 0);
  for (std::uint64_t part = 0; part < high_.size(); ++part)
    if (std::popcount(part) <= ones) high_[part] = sum(part, low_bits_, ones - std::popcount(part));
}

std::uint64_t BitCombinations::combination(Index rank) const noexcept {
  std::uint64_t mask = 0;
  int k = ones_;
  for (int p = bits_ - 1; p >= 0 && k > 0; --p)
    if (rank >= binomial(p, k)) {
      rank -= binomial(p, k--);
      mask |= std::uint64_t{1} << p;
    }
  return mask;
}

}  // namespace tessera::detail
