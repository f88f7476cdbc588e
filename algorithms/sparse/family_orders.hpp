// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <tessera/codelets/sparse/csb_index.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera::detail {

/// The orders of a segment's rows for GPUs (CsbOrder); all empty where rows have no families.
struct FamilyOrders {
  std::vector<std::uint32_t> first, second, families;

  FamilyOrders(const SymmetricRows& rows, Index begin, Index end) {
    std::vector<std::uint32_t> first_families;
    for (Index row = begin; row < end; ++row)
      if (const auto of_row = rows.families(row)) {
        first_families.push_back(of_row->first);
        families.push_back(of_row->second);
      }
    first = ordered_by(first_families);
    second = ordered_by(families);
  }
  operator CsbOrder() const { return {first, second, families}; }

 private:
  static std::vector<std::uint32_t> ordered_by(const std::vector<std::uint32_t>& numbers) {
    std::vector<std::uint32_t> order(numbers.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return numbers[a] < numbers[b]; });
    return order;
  }
};

}  // namespace tessera::detail
