// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <tessera/codelets/sparse/csb_index.hpp>
#include <tessera/runtime/parallel_for.hpp>
#include <tessera/types.hpp>

namespace tessera::detail {

/// The triangles by rows of Y: those of Y_I, then those of Y_J, or one of them (CsbSides). Of a row, the
/// entries of the first pass stand before those of the second one. A row of X is numbered by its place in the
/// order of the first pass, also in the second pass: in that order a strip's rows have runs of about the same
/// length.
template <class V>
class PieceRows {
 public:
  /// A row's entries in a pass.
  struct Range {
    std::int64_t begin, end;
    std::int64_t size() const noexcept { return end - begin; }
  };
  Range range(std::int64_t row, int pass) const noexcept {
    const auto i = static_cast<std::size_t>(row);
    if (seconds.empty()) return {begins[i], begins[i + 1]};
    return pass == 0 ? Range{begins[i], seconds[i]} : Range{seconds[i], begins[i + 1]};
  }

  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> seconds;   ///< where the second pass begins; empty: there is none
  std::unique_ptr<std::uint32_t[]> x;  ///< places of rows of X, ascending in a pass of a row of Y
  std::unique_ptr<V[]> values;

  PieceRows(std::span<const CsbPieceView<V>> parts_of_piece, std::int64_t rows, std::int64_t columns,
            const CsbOrders& orders, int threads, CsbSides sides)
      : on_diagonal_(parts_of_piece.front().on_diagonal),
        counts_{sides == CsbSides::columns ? 0 : rows, on_diagonal_ || sides == CsbSides::rows ? 0 : columns},
        order_of_x_{copy(on_diagonal_ ? orders.rows : orders.columns),
                    copy(on_diagonal_ ? CsbOrder{} : orders.rows)} {
    const std::int64_t parts = std::min<std::int64_t>(8 * threads, count());
    const auto for_parts = [&](const auto& work) {
      parallel_for(threads, parts, [&](std::int64_t part, int) {
        work(count() * part / parts, count() * (part + 1) / parts);
      });
    };
    begins.assign(static_cast<std::size_t>(count()) + 1, 0);
    for_parts([&](std::int64_t first, std::int64_t end) {
      for_entries(parts_of_piece, first, end,
                  [&](std::int64_t i, std::int64_t, V) { ++begins[std::size_t(i) + 1]; });
    });
    for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    // Not initialized: one thread would write all of it.
    x = std::make_unique_for_overwrite<std::uint32_t[]>(static_cast<std::size_t>(begins.back()));
    values = std::make_unique_for_overwrite<V[]>(static_cast<std::size_t>(begins.back()));
    if (orders.two_passes()) seconds.assign(static_cast<std::size_t>(count()), 0);
    const std::vector<std::uint32_t> places[2] = {inverse(order_of_x_[0]), inverse(order_of_x_[1])};
    for_parts([&](std::int64_t first, std::int64_t end) {
      std::vector<std::int64_t> next(begins.begin() + first, begins.begin() + end);
      for_entries(parts_of_piece, first, end, [&](std::int64_t i, std::int64_t j, V value) {
        const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(i - first)]++);
        x[at] = static_cast<std::uint32_t>(j);
        values[at] = value;
      });
      std::vector<Entry> entries;
      for (std::int64_t i = first; i < end; ++i)
        if (i >= counts_[0])
          order_row(i, i - counts_[0], orders.columns, orders.rows, places[1], entries);
        else
          order_row(i, i, orders.rows, on_diagonal_ ? orders.rows : orders.columns, places[0], entries);
    });
  }

  /// Rows of Y: in all, of Y_I (side 0), and of Y_J (side 1).
  std::int64_t count() const noexcept { return counts_[0] + counts_[1]; }
  std::int64_t count(int side) const noexcept { return counts_[side]; }
  /// The row of X_J (side 0) or X_I at a place.
  std::uint32_t row_of_x(int side, std::uint32_t place) const noexcept {
    return order_of_x_[side].empty() ? place : order_of_x_[side][place];
  }

 private:
  using Entry = std::pair<std::uint32_t, V>;

  static std::vector<std::uint32_t> copy(const CsbOrder& order) {
    return {order.first.begin(), order.first.end()};
  }
  static std::vector<std::uint32_t> inverse(const std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> places(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) places[order[k]] = static_cast<std::uint32_t>(k);
    return places;
  }
  /// visit(row, row of X, value) for the entries of rows first, ..., end - 1: of side 0, Y_I += A X_J, and
  /// then of side 1, Y_J += A^H X_I, whose rows follow; on the diagonal they are the same ones, and what is
  /// on the matrix's diagonal counts once.
  template <class Visit>
  void for_entries(std::span<const CsbPieceView<V>> parts, std::int64_t first, std::int64_t end,
                   const Visit& visit) const {
    const std::int64_t second = on_diagonal_ ? 0 : counts_[0];
    for (int side = 0; side < 2; ++side) {
      if (!on_diagonal_ && counts_[side] == 0) continue;
      for (const CsbPieceView<V>& part : parts)
        for (const CsbCell& cell : std::span(part.cells, static_cast<std::size_t>(part.cell_count))) {
          const std::int64_t begin = side ? second + cell.first_column : std::int64_t(cell.first_row),
                             last = begin + (side ? cell.last_column : cell.last_row);
          if (last < first || begin >= end) continue;
          for (std::int64_t e = cell.first_entry; e < cell.first_entry + cell.entries; ++e) {
            const std::int64_t at = begin + (side ? part.columns[e] : part.rows[e]);
            if (at < first || at >= end) continue;
            const std::int64_t row = std::int64_t(cell.first_row) + part.rows[e],
                               column = std::int64_t(cell.first_column) + part.columns[e];
            if (side == 0)
              visit(at, column, part.values[e]);
            else if (!part.on_diagonal || row != column)
              visit(at, row, conjugate(part.values[e]));
          }
        }
    }
  }
  /// Number `row`, which is row `local` of its segment: the passes, and the places of rows of X. `entries`:
  /// memory that rows share.
  void order_row(std::int64_t row, std::int64_t local, const CsbOrder& own, const CsbOrder& others,
                 const std::vector<std::uint32_t>& places, std::vector<Entry>& entries) {
    const auto i = static_cast<std::size_t>(row);
    const auto begin = static_cast<std::size_t>(begins[i]), end = static_cast<std::size_t>(begins[i + 1]);
    if (seconds.empty() && places.empty() && std::is_sorted(x.get() + begin, x.get() + end)) return;
    entries.clear();
    for (std::size_t e = begin; e < end; ++e) entries.emplace_back(x[e], values[e]);
    auto middle = entries.end();
    if (!seconds.empty()) {
      const std::uint32_t family = own.families[static_cast<std::size_t>(local)];
      middle = std::partition(entries.begin(), entries.end(),
                              [&](const auto& entry) { return others.families[entry.first] != family; });
      seconds[i] = begins[i] + std::distance(entries.begin(), middle);
    }
    if (!places.empty())
      for (auto& [x_row, value] : entries) x_row = places[x_row];
    // No two entries of a row have the same row of X: the order is unique.
    const auto ascending = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::sort(entries.begin(), middle, ascending);
    std::sort(middle, entries.end(), ascending);
    for (std::size_t e = begin; e < end; ++e) std::tie(x[e], values[e]) = entries[e - begin];
  }

  const bool on_diagonal_;
  const std::int64_t counts_[2];                    ///< rows of Y_I, and of another Y_J
  const std::vector<std::uint32_t> order_of_x_[2];  ///< by side; empty: as they are
};

}  // namespace tessera::detail
