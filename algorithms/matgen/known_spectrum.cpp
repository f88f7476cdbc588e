// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <tessera/algorithms/matgen/known_spectrum.hpp>

namespace tessera::detail {

namespace {

/// The `count` smallest of all sums of one number of each list, ascending; fewer where there are no more.
std::vector<double> smallest_sums(const std::vector<AscendingList>& lists, Index count) {
  std::vector<double> sums{0};
  for (const AscendingList& list : lists) {
    std::vector<double> next;
    // A sum of the numbers i and k has at least (i + 1) (k + 1) - 1 sums below it or equal to it.
    for (Index i = 0; i < static_cast<Index>(sums.size()); ++i)
      for (Index k = 0; k < list.length && (i + 1) * (k + 1) <= count; ++k)
        next.push_back(sums[i] + list.value(k));
    std::sort(next.begin(), next.end());
    next.resize(std::min(next.size(), static_cast<std::size_t>(count)));
    sums = std::move(next);
  }
  return sums;
}

}  // namespace

AscendingList ascending_list(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const Index length = static_cast<Index>(values.size());
  return {length, [values = std::move(values)](Index k) { return values[k]; }};
}

KnownSpectrum spectrum_of_sums(std::string text, std::vector<AscendingList> lists) {
  std::vector<AscendingList> negative;
  for (const AscendingList& list : lists)
    negative.push_back({list.length, [list](Index k) { return -list.value(list.length - 1 - k); }});
  return {std::move(text), [lists = std::move(lists)](Index count) { return smallest_sums(lists, count); },
          [negative = std::move(negative)](Index count) {
            std::vector<double> values = smallest_sums(negative, count);
            for (double& value : values) value = -value;
            return values;
          }};
}

namespace {

auto first_of(std::vector<double> values) {
  return [values = std::move(values)](Index count) {
    return std::vector<double>(values.begin(),
                               values.begin() + std::min(count, static_cast<Index>(values.size())));
  };
}

}  // namespace

KnownSpectrum spectrum_of_lowest(std::string text, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {std::move(text), first_of(std::move(values)), {}};
}

KnownSpectrum spectrum_of_largest(std::string text, std::vector<double> values) {
  std::sort(values.rbegin(), values.rend());
  return {std::move(text), {}, first_of(std::move(values))};
}

}  // namespace tessera::detail
