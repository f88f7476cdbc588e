// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::detail {

/// The attribute `format` of files of sparse matrices, and the names of their large data sets: of each stored
/// entry, cell after cell, the value, and its row and column in the cell (16 bits each).
inline constexpr std::string_view saved_format = "tessera sparse matrix 1";
inline constexpr const char *saved_value = "value", *saved_row_in_cell = "row_in_cell",
                            *saved_column_in_cell = "column_in_cell";

/// The small data sets of such a file, under their names there.
struct SavedTables {
  enum Number { order, entries, value_bytes, piece_bytes, number_count };
  std::vector<Index> numbers = std::vector<Index>(number_count);
  std::vector<Index> tiles;                               ///< SymmetricRows::tiles
  std::vector<Index> cut_tiles, cut_bands, cut_segments;  ///< CsbPartition: first rows and, last, the order
  /// Of each piece: segments, whether it has the diagonal tiles of one, and its cells. By row, then diagonal tiles
  /// first, then by column.
  std::vector<Index> piece_row, piece_column, piece_on_tiles, piece_cells;
  /// Of each cell, piece after piece: the rows and columns that it may have, and what is in it.
  std::vector<Index> cell_first_row, cell_first_column, cell_rows, cell_columns, cell_entries, cell_checksum;
  std::vector<double> survey;                              ///< RowSurvey::counts
  std::vector<std::uint32_t> first_family, second_family;  ///< of each row; empty: none has families
  std::vector<std::uint8_t> description;                   ///< UTF-8, or any other text

  /// visit(name, vector) for all, in one order.
  template <class Tables, class Visit>
  static void for_all(Tables& tables, const Visit& visit) {
    visit("numbers", tables.numbers);
    visit("tiles", tables.tiles);
    visit("cut_tiles", tables.cut_tiles);
    visit("cut_bands", tables.cut_bands);
    visit("cut_segments", tables.cut_segments);
    visit("piece_row", tables.piece_row);
    visit("piece_column", tables.piece_column);
    visit("piece_on_tiles", tables.piece_on_tiles);
    visit("piece_cells", tables.piece_cells);
    visit("cell_first_row", tables.cell_first_row);
    visit("cell_first_column", tables.cell_first_column);
    visit("cell_rows", tables.cell_rows);
    visit("cell_columns", tables.cell_columns);
    visit("cell_entries", tables.cell_entries);
    visit("cell_checksum", tables.cell_checksum);
    visit("survey", tables.survey);
    visit("first_family", tables.first_family);
    visit("second_family", tables.second_family);
    visit("description", tables.description);
  }
  /// CRC-32 of all of them and their lengths: the attribute `checksum`, 8 hexadecimal digits.
  std::uint32_t checksum() const;
};

/// CRC-32 (zlib) of a cell's values, rows and columns, as they are in memory.
std::uint32_t cell_checksum(const void* values, std::size_t value_bytes, const std::uint16_t* rows,
                            const std::uint16_t* columns, std::size_t entries);

}  // namespace tessera::detail
