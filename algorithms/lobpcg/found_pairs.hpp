// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::detail {

struct FoundPair {
  double value, residual, scaled;
  Index place;  ///< of its vector among those found
};

/// The pairs that a solve for more than a block holds has found so far, a group after the other.
class FoundPairs {
 public:
  /// @param sign  1 for the smallest values, -1 for the largest
  FoundPairs(double sign, Index wanted) : sign_(sign), wanted_(wanted) {}

  Index size() const { return static_cast<Index>(pairs_.size()); }
  /// The first `count` of a group.
  void add(const std::vector<double>& values, const std::vector<double>& residuals,
           const std::vector<double>& scaled, Index count);
  /// All of another FoundPairs: pairs() and before_last().
  void restore(std::vector<FoundPair> pairs, Index before_last) {
    pairs_ = std::move(pairs);
    last_ = static_cast<std::size_t>(before_last);
  }
  const std::vector<FoundPair>& pairs() const { return pairs_; }
  /// Pairs before the last group.
  Index before_last() const { return static_cast<Index>(last_); }
  /// How many the next group, of `usual` pairs at most, is to find; 0 where all are there, or 24 more than wanted.
  Index next(Index usual) const;
  /// Whether the last group has found pairs that one before has missed: there might be more then.
  bool has_gap() const;
  /// The wanted ones, from the wanted end on.
  std::vector<FoundPair> in_order() const;

 private:
  double sign_;
  Index wanted_;
  std::vector<FoundPair> pairs_;
  std::size_t last_ = 0;  ///< pairs before the last group
};

}  // namespace tessera::detail
