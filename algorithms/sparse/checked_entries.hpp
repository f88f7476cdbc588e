// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera::detail {

/// Calls visit(row, column, value) for the entries of a part of the matrix, with rows and columns of the
/// whole. V: the type in which the values must be finite.
/// @throws InvalidArgument for entries outside the part, above the diagonal or not finite
template <class V, class Visit>
void for_checked_entries(const SymmetricRows& rows, Index first_row, Index end_row, Index first_column,
                         Index end_column, std::vector<SparseEntry>& space, const Visit& visit) {
  constexpr Index max_columns = Index(1) << 32;
  for (Index begin = first_column; begin < end_column; begin += max_columns) {
    const Index end = std::min(end_column, begin + max_columns);
    space.clear();
    rows.entries(first_row, end_row, begin, end, space);
    for (const SparseEntry& entry : space) {
      const Index row = first_row + entry.row, column = begin + entry.column;
      const auto refuse = [&](const char* expected) {
        throw InvalidArgument("rows", fmt::format("entry ({}, {}) = {}", row, column, entry.value), expected);
      };
      if (row >= end_row || column >= end) refuse("entries inside the rows and columns that are asked for");
      if (column > row) refuse("entries of the lower triangle");
      if (!std::isfinite(static_cast<V>(entry.value))) refuse("finite values");
      visit(row, column, entry.value);
    }
  }
}

}  // namespace tessera::detail
