// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

/// How a piece of a CSB matrix lies in memory (compressed sparse blocks; Buluc et al., SPAA 2009; the
/// half-stored form of Maris et al., J. Comput. Sci. 59 (2022) 101554, Sec. 3). For CPU and CUDA
/// code.
namespace tessera::detail {

/// MACRO(V, T) for the pairs of a stored matrix's type V and its vectors' T.
#define TESSERA_FOR_STORED(MACRO)                   \
  MACRO(double, double)                             \
  MACRO(float, double)                              \
  MACRO(float, float)                               \
  MACRO(std::complex<double>, std::complex<double>) \
  MACRO(std::complex<float>, std::complex<double>) MACRO(std::complex<float>, std::complex<float>)

/// The most rows and columns of a cell: its coordinates have 16 bits.
inline constexpr std::int64_t csb_cell_rows = 65536;
/// The most entries of a cell: a larger one is cut into several in the order of its entries (also within a
/// row), so that positions in a cell have 16 bits, too.
inline constexpr std::int64_t csb_cell_entries = 16384;

/// A cell of a piece: entries number first_entry, ..., first_entry + entries - 1 of the piece, sorted by
/// row, then by column.
struct CsbCell {
  std::int64_t first_entry;
  std::uint32_t first_row;     ///< of the cell, from the beginning of the piece's row segment
  std::uint32_t first_column;  ///< from the beginning of the piece's column segment
  std::uint32_t entries;
  std::uint16_t last_row,
      last_column;  ///< the largest local coordinates that may occur: rows - 1, columns - 1
};
static_assert(sizeof(CsbCell) == 32 || sizeof(CsbCell) == 24);

/// Which products a piece off the diagonal takes part in: both Y_I += A_IJ X_J and Y_J += A_IJ^H X_I, only
/// the first, or only the second. A piece on the diagonal always has both.
enum class CsbSides : std::uint8_t { both, rows, columns };

/// What a task knows of a piece and its index without reading them.
struct CsbPieceShape {
  std::int64_t cell_count = 0, entry_count = 0;
  bool on_diagonal = false;
  CsbSides sides = CsbSides::both;  ///< that the index has
  bool index_in_two_passes = false;
  std::int64_t more_entries = 0;  ///< of the diagonal tiles, which the index has, too

  /// Y_I is written; Y_J, another one, is written.
  bool adds_to_rows() const noexcept { return sides != CsbSides::columns; }
  bool adds_to_columns() const noexcept { return !on_diagonal && sides != CsbSides::rows; }
};

/// The head of a piece; what it points to follows it in the same memory, at multiples of 64 bytes: cells,
/// values (V, real or complex), rows, columns (16 bits each).
struct CsbPieceHeader {
  std::int64_t cell_count, entry_count;
  std::int64_t cells_offset, values_offset, rows_offset, columns_offset;  ///< bytes from the head
  std::int32_t value_bytes;                                               ///< of V
  std::int32_t on_diagonal;  ///< row segment = column segment: cells on the diagonal hold entries with row =
                             ///< column, which count once
};

/// A piece in use: pointers into its memory.
template <class V>
struct CsbPieceView {
  std::int64_t cell_count, entry_count;
  bool on_diagonal;
  const CsbCell* cells;
  const V* values;
  const std::uint16_t *rows, *columns;
};

/// Where the sections of a piece begin, for a number of cells and entries; total: bytes in all.
struct CsbPieceSizes {
  std::int64_t cells_offset, values_offset, rows_offset, columns_offset, total;
};
constexpr std::int64_t csb_aligned(std::int64_t bytes) noexcept {
  return (bytes + 63) / 64 * 64;
}
constexpr CsbPieceSizes csb_piece_sizes(std::int64_t cells, std::int64_t entries,
                                        std::int64_t value_bytes) noexcept {
  CsbPieceSizes s{};
  s.cells_offset = csb_aligned(sizeof(CsbPieceHeader));
  s.values_offset = s.cells_offset + csb_aligned(cells * static_cast<std::int64_t>(sizeof(CsbCell)));
  s.rows_offset = s.values_offset + csb_aligned(entries * value_bytes);
  s.columns_offset = s.rows_offset + csb_aligned(entries * 2);
  s.total = s.columns_offset + csb_aligned(entries * 2);
  return s;
}

/// A view of a piece in host memory. The counts are task arguments and the offsets follow from
/// csb_piece_sizes, so that a GPU need not read the header first.
template <class V>
CsbPieceView<V> csb_view(const void* piece, std::int64_t cells, std::int64_t entries,
                         bool on_diagonal) noexcept {
  const CsbPieceSizes s = csb_piece_sizes(cells, entries, sizeof(V));
  const char* const p = static_cast<const char*>(piece);
  return {cells,
          entries,
          on_diagonal,
          reinterpret_cast<const CsbCell*>(p + s.cells_offset),
          reinterpret_cast<const V*>(p + s.values_offset),
          reinterpret_cast<const std::uint16_t*>(p + s.rows_offset),
          reinterpret_cast<const std::uint16_t*>(p + s.columns_offset)};
}

}  // namespace tessera::detail
