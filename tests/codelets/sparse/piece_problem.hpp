// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tessera/codelets/sparse/csb_index.hpp>
#include <tessera/codelets/sparse/multiply_csb.hpp>
#include <tessera/matgen.hpp>

/// CSB matrix pieces that cover all special cases, and their expected products from a plain loop.
namespace tessera::test {
using namespace detail;

template <class V>
class PieceProblem {
 public:
  using Coordinates = std::set<std::pair<std::int64_t, std::int64_t>>;

  PieceProblem(std::string name, std::int64_t rows, std::int64_t columns, bool on_diagonal)
      : name(std::move(name)), rows(rows), columns(columns) {
    shape.on_diagonal = on_diagonal;
  }

  /// Adds a cell with these entries, at coordinates within the cell. A cell with too many entries
  /// is split.
  void add_cell(std::int64_t first_row, std::int64_t cell_rows, std::int64_t first_column,
                std::int64_t cell_columns, const Coordinates& entries) {
    for (auto entry = entries.begin(); entry != entries.end();) {
      CsbCell cell{};
      cell.first_entry = static_cast<std::int64_t>(values_.size());
      cell.first_row = static_cast<std::uint32_t>(first_row);
      cell.first_column = static_cast<std::uint32_t>(first_column);
      cell.last_row = static_cast<std::uint16_t>(cell_rows - 1);
      cell.last_column = static_cast<std::uint16_t>(cell_columns - 1);
      for (; entry != entries.end() && cell.entries < csb_cell_entries; ++entry, ++cell.entries) {
        rows_.push_back(static_cast<std::uint16_t>(entry->first));
        columns_.push_back(static_cast<std::uint16_t>(entry->second));
        values_.push_back(static_cast<V>(random_uniform(7, 0, static_cast<Index>(values_.size()), 0)));
      }
      cells_.push_back(cell);
    }
  }
  /// Adds about `count` random entries; on the diagonal of the piece only in the lower triangle.
  void add_random_cell(std::int64_t first_row, std::int64_t cell_rows, std::int64_t first_column,
                       std::int64_t cell_columns, std::int64_t count) {
    Coordinates entries;
    for (std::int64_t k = 0; k < count; ++k) {
      const auto pick = [&](Index which, std::int64_t size) {
        const double u =
            (random_uniform(11 + which, static_cast<Index>(cells_.size()), k, first_row) + 1) / 2;
        return std::min(static_cast<std::int64_t>(u * static_cast<double>(size)), size - 1);
      };
      const std::int64_t r = pick(0, cell_rows), c = pick(1, cell_columns);
      if (!shape.on_diagonal || first_column + c <= first_row + r) entries.emplace(r, c);
    }
    add_cell(first_row, cell_rows, first_column, cell_columns, entries);
  }
  /// Row or column i belongs to the second family i % families.
  void make_two_passes(std::uint32_t families) {
    shape.index_in_two_passes = true;
    const auto make = [families](Order& order, std::int64_t count) {
      for (std::uint32_t i = 0; i < count; ++i) order.families.push_back(i % families);
      for (std::uint32_t family = 0; family < families; ++family)
        for (std::uint32_t i = family; i < count; i += families) order.second.push_back(i);
    };
    make(row_order, rows);
    make(column_order, columns);
  }
  void finish() {
    shape.cell_count = static_cast<std::int64_t>(cells_.size());
    shape.entry_count = static_cast<std::int64_t>(values_.size());
    const CsbPieceSizes sizes = csb_piece_sizes(shape.cell_count, shape.entry_count, sizeof(V));
    memory.assign(static_cast<std::size_t>(sizes.total) / 8, 0);
    char* const bytes = reinterpret_cast<char*>(memory.data());
    const CsbPieceHeader header{shape.cell_count,    shape.entry_count, sizes.cells_offset,
                                sizes.values_offset, sizes.rows_offset, sizes.columns_offset,
                                sizeof(V),           shape.on_diagonal};
    std::memcpy(bytes, &header, sizeof(header));
    const auto copy = [bytes](std::int64_t offset, const auto& from) {
      if (!from.empty()) std::memcpy(bytes + offset, from.data(), from.size() * sizeof(from[0]));
    };
    copy(sizes.cells_offset, cells_);
    copy(sizes.values_offset, values_);
    copy(sizes.rows_offset, rows_);
    copy(sizes.columns_offset, columns_);
  }
  CsbPieceView<V> view() const {
    return csb_view<V>(memory.data(), shape.cell_count, shape.entry_count, shape.on_diagonal);
  }
  /// Calls visit(row, column, value) for each stored entry.
  template <class Visit>
  void for_entries(const Visit& visit) const {
    const CsbPieceView<V> piece = view();
    for (std::int64_t b = 0; b < piece.cell_count; ++b)
      for (std::int64_t e = piece.cells[b].first_entry;
           e < piece.cells[b].first_entry + piece.cells[b].entries; ++e)
        visit(std::int64_t(piece.cells[b].first_row) + piece.rows[e],
              std::int64_t(piece.cells[b].first_column) + piece.columns[e], piece.values[e]);
  }
  std::vector<std::int64_t> index(int threads = 1) const {
    const CsbPieceView<V> parts[] = {view()};
    const CsbIndexBuilder<V> builder(parts, rows, columns, {row_order, column_order}, threads, shape.sides);
    std::vector<std::int64_t> index(static_cast<std::size_t>(builder.header().total) / 8, -1);
    builder.write(index.data());
    return index;
  }

  std::string name;
  std::int64_t rows, columns;
  CsbPieceShape shape;
  std::vector<std::int64_t> memory;
  /// Orders in the index.
  struct Order {
    std::vector<std::uint32_t> first, second, families;
    operator CsbOrder() const { return {first, second, families}; }
  };
  Order row_order, column_order;

 private:
  std::vector<CsbCell> cells_;
  std::vector<V> values_;
  std::vector<std::uint16_t> rows_, columns_;
};

/// Each piece off the diagonal is also tested with one side only.
template <class V>
std::vector<PieceProblem<V>> piece_problems() {
  std::vector<PieceProblem<V>> problems;
  {
    PieceProblem<V> p("tiles off the diagonal", 1 + 5 + 700 + 1030 + 1, 3 + 513 + 900, false);
    std::int64_t row = 0;
    for (const std::int64_t r : {1, 5, 700, 1030, 1}) {
      std::int64_t column = 0;
      for (const std::int64_t c : {3, 513, 900}) {
        p.add_random_cell(row, r, column, c, std::max<std::int64_t>(r * c / 40, 1));
        column += c;
      }
      row += r;
    }
    // Every third row, then the next ones, so that strips consist of rows that are not adjacent.
    for (std::uint32_t first = 0; first < 3; ++first) {
      for (std::uint32_t i = first; i < p.rows; i += 3) p.row_order.first.push_back(i);
      for (std::uint32_t j = first; j < p.columns; j += 3) p.column_order.first.push_back(j);
    }
    problems.push_back(p);
    p.name += ", in two passes";
    p.make_two_passes(5);
    problems.push_back(std::move(p));
  }
  {
    PieceProblem<V> p("tiles on the diagonal", 40 + 1 + 1 + 600 + 511 + 2, 40 + 1 + 1 + 600 + 511 + 2, true);
    const std::vector<std::int64_t> tiles{40, 1, 1, 600, 511, 2};
    std::int64_t row = 0;
    for (std::size_t i = 0; i < tiles.size(); row += tiles[i++]) {
      std::int64_t column = 0;
      for (std::size_t j = 0; j <= i; column += tiles[j++])
        p.add_random_cell(row, tiles[i], column, tiles[j],
                          std::max<std::int64_t>(tiles[i] * tiles[j] / 15, 2));
    }
    problems.push_back(p);
    p.name += ", in two passes";
    p.make_two_passes(3);
    problems.push_back(std::move(p));
  }
  {
    PieceProblem<V> p("a wide cell with few entries, and rows and columns without any", 70000, 66000, false);
    p.add_random_cell(3, 65536, 100, 65536, 900);
    p.add_cell(4000, 65536, 7, 65536, {{0, 0}, {0, 65535}, {65535, 0}, {65535, 65535}});
    problems.push_back(std::move(p));
  }
  {
    // Cells of exactly 16384 entries, a row longer than a chunk, and rows that continue in the next
    // cell.
    PieceProblem<V> p("full cells", 600, 30000, false);
    typename PieceProblem<V>::Coordinates full, row, rest;
    for (std::int64_t k = 0; k < csb_cell_entries; ++k) full.emplace(k / 128, k % 128 * 3);
    for (std::int64_t k = 0; k < 24000; ++k) row.emplace(2, k);
    for (std::int64_t k = 0; k < 20000; ++k) rest.emplace(k / 100, k % 100);
    p.add_cell(0, 128, 0, 400, full);
    p.add_cell(300, 5, 1000, 25000, row);
    p.add_cell(380, 220, 29000, 1000, rest);
    problems.push_back(std::move(p));
  }
  {
    PieceProblem<V> p("a column longer than a chunk, a dense triangle", 3000, 3000, true);
    typename PieceProblem<V>::Coordinates column, triangle;
    for (std::int64_t k = 0; k < 2500; ++k) column.emplace(k, 1);
    for (std::int64_t i = 0; i < 150; ++i)
      for (std::int64_t j = 0; j <= i; ++j) triangle.emplace(i, j);
    p.add_cell(0, 150, 0, 150, triangle);
    p.add_cell(400, 2600, 300, 2, column);
    problems.push_back(std::move(p));
  }
  problems.emplace_back("no entries", 700, 513, false);
  problems.emplace_back("no entries, in two passes", 700, 513, false);
  problems.back().make_two_passes(2);
  problems.emplace_back("no entries on the diagonal", 1, 1, true);
  for (std::size_t p = 0, all = problems.size(); p < all; ++p)
    for (const CsbSides sides : {CsbSides::rows, CsbSides::columns}) {
      if (problems[p].shape.on_diagonal) continue;
      problems.push_back(problems[p]);
      problems.back().shape.sides = sides;
      problems.back().name += sides == CsbSides::rows ? ", rows only" : ", columns only";
    }
  for (PieceProblem<V>& p : problems) p.finish();
  return problems;
}

/// Row-major n x width, with numbers in [-1, 1].
template <class T>
std::vector<T> random_rows(std::int64_t n, std::int64_t width, std::uint64_t seed) {
  std::vector<T> x(static_cast<std::size_t>(n * width));
  for (std::size_t k = 0; k < x.size(); ++k)
    x[k] = static_cast<T>(random_uniform(seed, 0, static_cast<Index>(k), 1));
  return x;
}

/// y_I and y_J, row-major n x m, and the sums of the moduli of their terms. For a piece on the
/// diagonal everything is in y[0]. A side that is not multiplied has zeros.
struct ExpectedProduct {
  std::vector<double> y[2], magnitudes[2];
};
template <class V, class T>
ExpectedProduct expected_product(const PieceProblem<V>& p, int m, const std::vector<T>& x_columns,
                                 std::int64_t ldx_columns, const std::vector<T>& x_rows,
                                 std::int64_t ldx_rows) {
  ExpectedProduct result;
  for (int side = 0; side < 2; ++side) {
    result.y[side].assign(static_cast<std::size_t>((side ? p.columns : p.rows) * m), 0.0);
    result.magnitudes[side] = result.y[side];
  }
  const auto add = [&](int side, std::int64_t row, double value, const T* x) {
    for (int j = 0; j < m; ++j) {
      result.y[side][static_cast<std::size_t>(row * m + j)] += value * double(x[j]);
      result.magnitudes[side][static_cast<std::size_t>(row * m + j)] += std::abs(value * double(x[j]));
    }
  };
  p.for_entries([&](std::int64_t row, std::int64_t column, V value) {
    if (p.shape.adds_to_rows()) add(0, row, value, x_columns.data() + column * ldx_columns);
    if (p.shape.adds_to_columns()) add(1, column, value, x_rows.data() + row * ldx_rows);
    if (p.shape.on_diagonal && row != column) add(0, column, value, x_columns.data() + row * ldx_columns);
  });
  return result;
}

}  // namespace tessera::test
