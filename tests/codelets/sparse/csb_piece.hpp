// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>

#include <tests/support/matrix.hpp>

#include <tessera/codelets/sparse/multiply_csb.hpp>

/// CSB matrix pieces for tests, built cell by cell and independently of the library's builder.
namespace tessera::test {
using namespace detail;

struct PieceEntry {
  Index row, column;  ///< relative to the piece
  double value;
};

struct TestPiece {
  Index rows = 0, columns = 0;
  CsbPieceShape shape;
  std::vector<CsbCell> cells;
  std::vector<PieceEntry> entries;  ///< in the order of the cells

  /// The piece in the memory layout of csb_layout.hpp.
  template <class V>
  std::vector<std::byte> bytes() const {
    const CsbPieceSizes sizes = csb_piece_sizes(shape.cell_count, shape.entry_count, sizeof(V));
    std::vector<std::byte> memory(static_cast<std::size_t>(sizes.total));
    std::memcpy(memory.data() + sizes.cells_offset, cells.data(), cells.size() * sizeof(CsbCell));
    for (const CsbCell& cell : cells)
      for (Index e = cell.first_entry; e < cell.first_entry + cell.entries; ++e) {
        const PieceEntry& entry = entries[static_cast<std::size_t>(e)];
        const V value = static_cast<V>(entry.value);
        const auto row = static_cast<std::uint16_t>(entry.row - cell.first_row),
                   column = static_cast<std::uint16_t>(entry.column - cell.first_column);
        std::memcpy(memory.data() + sizes.values_offset + e * static_cast<Index>(sizeof(V)), &value,
                    sizeof value);
        std::memcpy(memory.data() + sizes.rows_offset + 2 * e, &row, 2);
        std::memcpy(memory.data() + sizes.columns_offset + 2 * e, &column, 2);
      }
    return memory;
  }
};

/// Cells begin at the given rows and columns; the last entries are the ends. A share `density` of
/// the elements is stored, with integer values, on the diagonal only in the lower triangle. Cells
/// are split after `most` entries.
inline TestPiece random_piece(const std::vector<Index>& row_begins, const std::vector<Index>& column_begins,
                              bool on_diagonal, double density, std::uint64_t seed,
                              Index most = csb_cell_entries) {
  TestPiece piece;
  piece.rows = row_begins.back();
  piece.columns = column_begins.back();
  piece.shape.on_diagonal = on_diagonal;
  for (std::size_t i = 0; i + 1 < row_begins.size(); ++i)
    for (std::size_t j = 0; j + 1 < column_begins.size(); ++j) {
      Index first = static_cast<Index>(piece.entries.size());
      const auto close = [&] {
        const Index count = static_cast<Index>(piece.entries.size()) - first;
        if (count == 0) return;
        piece.cells.push_back({first, static_cast<std::uint32_t>(row_begins[i]),
                               static_cast<std::uint32_t>(column_begins[j]),
                               static_cast<std::uint32_t>(count),
                               static_cast<std::uint16_t>(row_begins[i + 1] - row_begins[i] - 1),
                               static_cast<std::uint16_t>(column_begins[j + 1] - column_begins[j] - 1)});
        first += count;
      };
      for (Index row = row_begins[i]; row < row_begins[i + 1]; ++row)
        for (Index column = column_begins[j]; column < column_begins[j + 1]; ++column) {
          if (on_diagonal && column > row) break;
          if ((random_uniform(seed, 1, row, column) + 1) / 2 >= density) continue;
          const double value = std::floor(random_uniform(seed, 2, row, column) * 8);
          piece.entries.push_back({row, column, value});
          if (static_cast<Index>(piece.entries.size()) - first == most) close();
        }
      close();
    }
  piece.shape.cell_count = static_cast<Index>(piece.cells.size());
  piece.shape.entry_count = static_cast<Index>(piece.entries.size());
  return piece;
}

/// Integer values.
template <class T>
std::vector<T> whole_numbers(Index count, std::uint64_t seed) {
  std::vector<T> x(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i)
    x[static_cast<std::size_t>(i)] = static_cast<T>(std::floor(random_uniform(seed, 3, i, 0) * 10));
  return x;
}

/// Y_I += A X_J, Y_J += A^T X_I by a plain loop with `width` columns; on the diagonal y_rows =
/// y_columns.
template <class T>
void multiply_plainly(const TestPiece& piece, Index columns, Index width, const std::vector<T>& x_columns,
                      const std::vector<T>& x_rows, std::vector<T>& y_rows, std::vector<T>& y_columns) {
  const auto at = [&](auto& vectors, Index row, Index j) -> auto& {
    return vectors[static_cast<std::size_t>(row * width + j)];
  };
  for (const PieceEntry& entry : piece.entries)
    for (Index j = 0; j < columns; ++j) {
      at(y_rows, entry.row, j) += static_cast<T>(entry.value) * at(x_columns, entry.column, j);
      if (!piece.shape.on_diagonal || entry.row != entry.column)
        at(y_columns, entry.column, j) += static_cast<T>(entry.value) * at(x_rows, entry.row, j);
    }
}

}  // namespace tessera::test
