// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <tests/support/matrix.hpp>

#include <tessera/sparse_matrix.hpp>

namespace tessera::test {

/// Rows from a function of row and column (column <= row) that is zero where no entry is stored. It
/// is evaluated for every element, so it suits small matrices only.
class FunctionRows final : public SymmetricRows {
 public:
  using Element = std::function<double(Index, Index)>;
  FunctionRows(Index order, Element element, std::vector<Index> tiles = {})
      : order_(order), element_(std::move(element)), tiles_(std::move(tiles)) {}
  Index order() const override { return order_; }
  std::span<const Index> tiles() const override { return tiles_; }
  void entries(Index first_row, Index end_row, Index first_column, Index end_column,
               std::vector<SparseEntry>& out) const override {
    for (Index row = first_row; row < end_row; ++row)
      for (Index column = first_column; column < end_column && column <= row; ++column)
        if (const double value = element_(row, column); value != 0)
          out.push_back({static_cast<std::uint32_t>(row - first_row),
                         static_cast<std::uint32_t>(column - first_column), value});
  }

 private:
  Index order_;
  Element element_;
  std::vector<Index> tiles_;
};

/// Rows from lists of (column, value) in any order.
class ListRows final : public SymmetricRows {
 public:
  using List = std::vector<std::pair<Index, double>>;
  using Lists = std::vector<List>;
  explicit ListRows(Lists rows, std::vector<Index> tiles = {})
      : rows_(std::move(rows)), tiles_(std::move(tiles)) {}
  Index order() const override { return static_cast<Index>(rows_.size()); }
  std::span<const Index> tiles() const override { return tiles_; }
  void entries(Index first_row, Index end_row, Index first_column, Index end_column,
               std::vector<SparseEntry>& out) const override {
    for (Index row = first_row; row < end_row; ++row)
      for (const auto& [column, value] : rows_[static_cast<std::size_t>(row)])
        if (column >= first_column && column < end_column)
          out.push_back({static_cast<std::uint32_t>(row - first_row),
                         static_cast<std::uint32_t>(column - first_column), value});
  }
  const std::vector<List>& lists() const { return rows_; }

  Index stored() const {
    Index sum = 0;
    for (const List& row : rows_) sum += static_cast<Index>(row.size());
    return sum;
  }
  /// Product with a row-major block, using both triangles, row-major and in double.
  std::vector<double> multiply(const std::vector<double>& x, Index columns) const {
    std::vector<double> y(x.size());
    const auto add = [&](Index to, double value, Index from) {
      for (Index j = 0; j < columns; ++j)
        y[static_cast<std::size_t>(to * columns + j)] +=
            value * x[static_cast<std::size_t>(from * columns + j)];
    };
    for (Index row = 0; row < order(); ++row)
      for (const auto& [column, value] : rows_[static_cast<std::size_t>(row)]) {
        add(row, value, column);
        if (column != row) add(column, value, row);
      }
    return y;
  }
  /// Largest sum of moduli in a row, using both triangles.
  double norm() const {
    std::vector<double> sums(rows_.size());
    for (std::size_t row = 0; row < rows_.size(); ++row)
      for (const auto& [column, value] : rows_[row]) {
        sums[row] += std::abs(value);
        if (static_cast<std::size_t>(column) != row)
          sums[static_cast<std::size_t>(column)] += std::abs(value);
      }
    return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
  }

 private:
  std::vector<List> rows_;
  std::vector<Index> tiles_;
};

/// A random matrix with about the given number of stored entries per row. Entries are nonzero
/// integers from -4 to 4, which are exact in all types. Half of the diagonal is empty. With `far`
/// entries may be anywhere, else within a band. Columns of a row are in arbitrary order.
inline ListRows random_rows(Index order, double entries_of_row, std::uint64_t seed,
                            std::vector<Index> tiles = {}, bool far = true) {
  const auto uniform = [&](std::uint64_t stream, Index i, Index j) {
    return (random_uniform(seed, stream, i, j) + 1) / 2;
  };
  std::vector<ListRows::List> rows(static_cast<std::size_t>(order));
  for (Index row = 0; row < order; ++row) {
    std::vector<Index> columns;
    const auto count = static_cast<Index>(2 * entries_of_row * uniform(1, row, 0));
    for (Index k = 0; k < count; ++k) {
      const double u = uniform(2, row, k);
      const Index reach = far ? row : std::min<Index>(row, 40);
      columns.push_back(row - std::min(reach, static_cast<Index>(u * static_cast<double>(reach + 1))));
    }
    if (uniform(3, row, 0) < 0.5) columns.push_back(row);
    ListRows::List& list = rows[static_cast<std::size_t>(row)];
    for (const Index column : columns) {
      const auto same = [&](const auto& entry) { return entry.first == column; };
      if (std::find_if(list.begin(), list.end(), same) != list.end()) continue;
      const double value = std::floor(uniform(4, row, column) * 8) - 4;
      list.emplace_back(column, value >= 0 ? value + 1 : value);
    }
  }
  return ListRows(std::move(rows), std::move(tiles));
}

}  // namespace tessera::test
