// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera::detail {

/// What lists values of V, and the type of its values: double, or std::complex<double>.
template <class V>
using EntryOf = std::conditional_t<is_complex<V>, ComplexSparseEntry, SparseEntry>;
template <class V>
using EntryValue = decltype(EntryOf<V>::value);

/// For messages.
template <class T>
std::string value_text(T x) {
  if constexpr (is_complex<T>)
    return fmt::format("{} + {} i", real_part(x), imag_part(x));
  else
    return fmt::format("{}", x);
}

template <class T>
bool finite_value(T x) noexcept {
  return std::isfinite(real_part(x)) && std::isfinite(imag_part(x));
}

/// Calls visit(row, column, value) for the entries of a part of the matrix, with rows and columns of the
/// whole. V: the type in which the values must be finite.
/// @throws InvalidArgument for entries outside the part, above the diagonal or not finite, and a diagonal that is not
/// real
template <class V, class Visit>
void for_checked_entries(const SymmetricRows& rows, Index first_row, Index end_row, Index first_column,
                         Index end_column, std::vector<EntryOf<V>>& space, const Visit& visit) {
  constexpr Index max_columns = Index(1) << 32;
  for (Index begin = first_column; begin < end_column; begin += max_columns) {
    const Index end = std::min(end_column, begin + max_columns);
    space.clear();
    if constexpr (is_complex<V>)
      rows.complex_entries(first_row, end_row, begin, end, space);
    else
      rows.entries(first_row, end_row, begin, end, space);
    for (const EntryOf<V>& entry : space) {
      const Index row = first_row + entry.row, column = begin + entry.column;
      const auto refuse = [&](const char* expected) {
        throw InvalidArgument(
            "rows", fmt::format("entry ({}, {}) = {}", row, column, value_text(entry.value)), expected);
      };
      if (row >= end_row || column >= end) refuse("entries inside the rows and columns that are asked for");
      if (column > row) refuse("entries of the lower triangle");
      if (!finite_value(static_cast<V>(entry.value))) refuse("finite values");
      if (row == column && imag_part(entry.value) != 0) refuse("a real diagonal");
      visit(row, column, entry.value);
    }
  }
}

}  // namespace tessera::detail
