// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/stored_rows.hpp>
#include <tessera/runtime/error.hpp>
#include <tessera/runtime/matrix_market.hpp>

namespace tessera {
namespace {

std::string text_of(const StoredRows::Entry& entry) {
  return fmt::format("({}, {}) = {}", entry.row, entry.column, entry.value);
}

void require_tiles(Index order, const std::vector<Index>& tiles) {
  if (tiles.empty()) return;
  if (tiles.front() != 0 || tiles.back() != order ||
      std::adjacent_find(tiles.begin(), tiles.end(), std::greater_equal<>()) != tiles.end())
    throw InvalidArgument("tiles", fmt::format("{} numbers", tiles.size()),
                          fmt::format("rows that ascend from 0 to {}", order));
}

/// Both triangles of a general file, each as entries of the lower one: they must be the same. The largest
/// element counts for zero.
void require_equal(const std::string& path, std::vector<StoredRows::Entry>& lower,
                   std::vector<StoredRows::Entry>& upper) {
  const auto before = [](const StoredRows::Entry& a, const StoredRows::Entry& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  };
  std::sort(lower.begin(), lower.end(), before);
  std::sort(upper.begin(), upper.end(), before);
  double largest = 0;
  for (const auto* side : {&lower, &upper})
    for (const StoredRows::Entry& entry : *side) largest = std::max(largest, std::abs(entry.value));
  auto low = lower.begin(), high = upper.begin();
  while (low != lower.end() || high != upper.end()) {
    if (low != lower.end() && low->row == low->column) {
      ++low;
      continue;
    }
    const bool only_low = high == upper.end() || (low != lower.end() && before(*low, *high)),
               only_high = !only_low && (low == lower.end() || before(*high, *low));
    const StoredRows::Entry& at = only_high ? *high : *low;
    const double difference = (only_high ? 0 : low->value) - (only_low ? 0 : high->value);
    if (std::abs(difference) > 1e-13 * largest)
      throw InputError(path, 0,
                       fmt::format("is not symmetric: element ({}, {}) and its mirror image differ by {:.3g}",
                                   at.row + 1, at.column + 1, std::abs(difference)));
    if (!only_high) ++low;
    if (!only_low) ++high;
  }
}

}  // namespace

StoredRows::StoredRows(Index order, const std::vector<Entry>& entries, std::vector<Index> tiles)
    : tiles_(std::move(tiles)) {
  if (order < 0) throw InvalidArgument("order", fmt::format("{}", order), "at least 0");
  require_tiles(order, tiles_);
  begins_.assign(static_cast<std::size_t>(order) + 1, 0);
  for (const Entry& entry : entries) {
    if (entry.row < 0 || entry.row >= order || entry.column < 0 || entry.column > entry.row)
      throw InvalidArgument("entries", text_of(entry), fmt::format("the lower triangle of order {}", order));
    if (!std::isfinite(entry.value)) throw InvalidArgument("entries", text_of(entry), "finite values");
    ++begins_[static_cast<std::size_t>(entry.row) + 1];
  }
  for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  std::vector<std::pair<Index, double>> sorted(entries.size());
  std::vector<Index> next = begins_;
  for (const Entry& entry : entries)
    sorted[static_cast<std::size_t>(next[static_cast<std::size_t>(entry.row)]++)] = {entry.column,
                                                                                     entry.value};
  for (Index i = 0; i < order; ++i) {
    const auto begin = sorted.begin() + begins_[static_cast<std::size_t>(i)],
               end = sorted.begin() + begins_[static_cast<std::size_t>(i) + 1];
    std::sort(begin, end);
    const auto twice =
        std::adjacent_find(begin, end, [](const auto& a, const auto& b) { return a.first == b.first; });
    if (twice != end)
      throw InvalidArgument("entries", text_of({i, twice->first, twice->second}), "none given twice");
  }
  columns_.reserve(sorted.size());
  values_.reserve(sorted.size());
  for (const auto& [column, value] : sorted) {
    columns_.push_back(column);
    values_.push_back(value);
  }
}

StoredRows StoredRows::read(const std::string& path, std::vector<Index> tiles) {
  MatrixMarketReader reader(path);
  require_hermitian_header<double>(reader);
  const bool general = reader.header().symmetry == MatrixMarketSymmetry::general,
             array = reader.header().format == MatrixMarketFormat::array;
  std::vector<Entry> lower, upper;
  reader.for_each([&](Index row, Index column, std::complex<double> given) {
    const double value = matrix_market_value<double>(reader, given);
    if (array && value == 0) return;
    (general && column > row ? upper : lower)
        .push_back({std::max(row, column), std::min(row, column), value});
  });
  if (general) require_equal(path, lower, upper);
  return {reader.header().rows, lower, std::move(tiles)};
}

void StoredRows::entries(Index first_row, Index end_row, Index first_column, Index end_column,
                         std::vector<SparseEntry>& out) const {
  for (Index row = first_row; row < end_row; ++row) {
    const auto begin = columns_.begin() + begins_[static_cast<std::size_t>(row)],
               end = columns_.begin() + begins_[static_cast<std::size_t>(row) + 1];
    for (auto column = std::lower_bound(begin, end, first_column); column != end && *column < end_column;
         ++column)
      out.push_back({static_cast<std::uint32_t>(row - first_row),
                     static_cast<std::uint32_t>(*column - first_column),
                     values_[static_cast<std::size_t>(column - columns_.begin())]});
  }
}

}  // namespace tessera
