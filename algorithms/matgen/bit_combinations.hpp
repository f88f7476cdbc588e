// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::detail {

/// The numbers of `bits` bits of which `ones` are set, in ascending order: a rank is the sum of two table
/// entries, one for each half of the bits. Source: H. Q. Lin, Phys. Rev. B 42, 6561 (1990).
class BitCombinations {
 public:
  static constexpr int largest_number_of_bits = 40;
  /// 0 <= ones <= bits <= 40.
  BitCombinations(int bits, int ones);
  Index count() const noexcept { return count_; }
  Index rank(std::uint64_t mask) const noexcept {
    return low_[mask & (low_.size() - 1)] + high_[mask >> low_bits_];
  }
  std::uint64_t combination(Index rank) const noexcept;

 private:
  int bits_, ones_, low_bits_;
  Index count_;
  std::vector<Index> binomials_;  ///< binomial(n, k) at n (ones + 2) + k
  std::vector<Index> low_, high_;
  Index binomial(int n, int k) const noexcept { return binomials_[n * (ones_ + 2) + k]; }
};

}  // namespace tessera::detail
