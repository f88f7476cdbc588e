// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/lobpcg/found_pairs.hpp>

namespace tessera::detail {

void FoundPairs::add(const std::vector<double>& values, const std::vector<double>& residuals,
                     const std::vector<double>& scaled, Index count) {
  last_ = pairs_.size();
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
    pairs_.push_back({values[k], residuals[k], scaled[k], static_cast<Index>(last_ + k)});
}

bool FoundPairs::has_gap() const {
  if (last_ == 0) return false;
  double rounding = 0, before = -HUGE_VAL, last = HUGE_VAL;
  std::vector<double> values;
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const double value = sign_ * pairs_[k].value;
    values.push_back(value);
    rounding = std::max(rounding, pairs_[k].residual);
    if (k < last_)
      before = std::max(before, value);
    else
      last = std::min(last, value);
  }
  const auto outermost = values.begin() + (wanted_ - 1);
  std::nth_element(values.begin(), outermost, values.end());
  return last < std::min(before, *outermost) - 2 * rounding;
}

Index FoundPairs::next(Index usual) const {
  if (size() < wanted_) return std::min(usual, wanted_ - size());
  constexpr Index few = 8, most = 24;  // so many more than wanted are looked for
  return has_gap() ? std::min({few, usual, wanted_ + most - size()}) : 0;
}

std::vector<FoundPair> FoundPairs::in_order() const {
  std::vector<FoundPair> sorted = pairs_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const FoundPair& a, const FoundPair& b) { return sign_ * a.value < sign_ * b.value; });
  sorted.resize(std::min(sorted.size(), static_cast<std::size_t>(wanted_)));
  return sorted;
}

}  // namespace tessera::detail
