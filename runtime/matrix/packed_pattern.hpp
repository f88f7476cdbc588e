// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define TESSERA_PACKED __host__ __device__ inline
#else
#define TESSERA_PACKED inline
#endif

/// A block pattern as tasks read it, on hosts and GPUs: one array of 32-bit words (BlockPattern::packed).
///
///   header     PackedHeader
///   rows       for each panel along the rows the number of its first block, and the number of blocks; then
///              for each block, panel by panel, its elements, its size class, its number in the matrix, and
///              the number of its first element
///   columns    the same
///   directory  for each panel the word at which its blocks begin (0: it has none), their number, and the
///              number of blocks in the panels before
///   panels     row_begin (rows + 1), column and offset of each block, as in PanelIndex
namespace tessera::detail {

struct PackedHeader {
  std::int32_t row_panels, col_panels, row_blocks, col_blocks;
  std::int32_t row_classes, col_classes;  ///< different sizes of blocks, in the order in which they occur
  std::int32_t rows_at, cols_at, directory_at;
};

/// One dimension. Blocks are numbered panel by panel.
struct PackedSide {
  const std::int32_t* first;       ///< of each panel, and the end
  const std::int32_t* size;        ///< elements of each block
  const std::int32_t* size_class;  ///< blocks of one size have one class
  const std::int32_t* number;      ///< of the block in the matrix
  const std::int32_t* element;     ///< the first of the block, in the matrix
  std::int32_t classes;

  TESSERA_PACKED std::int32_t blocks(std::int32_t panel) const { return first[panel + 1] - first[panel]; }
};

/// The blocks of a panel; without blocks all null.
struct PackedPanel {
  const std::int32_t *row_begin = nullptr, *column = nullptr, *offset = nullptr;
  std::int32_t blocks = 0, before = 0;  ///< in the panel; in the panels before
};

class PackedPattern {
 public:
  PackedPattern() = default;
  TESSERA_PACKED explicit PackedPattern(const std::int32_t* words) : words_(words) {}

  TESSERA_PACKED const PackedHeader& header() const { return *reinterpret_cast<const PackedHeader*>(words_); }
  TESSERA_PACKED PackedSide rows() const {
    const PackedHeader& h = header();
    return side(h.rows_at, h.row_panels, h.row_blocks, h.row_classes);
  }
  TESSERA_PACKED PackedSide cols() const {
    const PackedHeader& h = header();
    return side(h.cols_at, h.col_panels, h.col_blocks, h.col_classes);
  }
  TESSERA_PACKED PackedPanel panel(std::int32_t row_panel, std::int32_t col_panel) const {
    const PackedHeader& h = header();
    const std::int32_t* const entry = words_ + h.directory_at + 3 * (row_panel + col_panel * h.row_panels);
    if (entry[0] == 0) return {};
    const std::int32_t* const row_begin = words_ + entry[0];
    const std::int32_t* const column = row_begin + rows().blocks(row_panel) + 1;
    return {row_begin, column, column + entry[1], entry[1], entry[2]};
  }

  /// Words of all but the panels, of a side, and of a panel.
  static constexpr std::int64_t words_without_panels(std::int64_t row_panels, std::int64_t rows,
                                                     std::int64_t col_panels, std::int64_t cols) noexcept {
    return static_cast<std::int64_t>(sizeof(PackedHeader) / sizeof(std::int32_t)) +
           side_words(row_panels, rows) + side_words(col_panels, cols) + 3 * row_panels * col_panels;
  }
  static constexpr std::int64_t side_words(std::int64_t panels, std::int64_t blocks) noexcept {
    return panels + 1 + 4 * blocks;
  }
  static constexpr std::int64_t panel_words(std::int64_t rows, std::int64_t blocks) noexcept {
    return blocks == 0 ? 0 : rows + 1 + 2 * blocks;
  }

 private:
  TESSERA_PACKED PackedSide side(std::int32_t at, std::int32_t panels, std::int32_t blocks,
                                 std::int32_t classes) const {
    const std::int32_t* const first = words_ + at;
    const std::int32_t* const size = first + panels + 1;
    return {first, size, size + blocks, size + 2 * blocks, size + 3 * blocks, classes};
  }
  const std::int32_t* words_ = nullptr;
};

/// The block of a column in a row of a panel; -1: there is none.
TESSERA_PACKED std::int32_t find_block(const PackedPanel& panel, std::int32_t row, std::int32_t column) {
  if (panel.blocks == 0) return -1;
  std::int32_t first = panel.row_begin[row], end = panel.row_begin[row + 1];
  while (first < end) {
    const std::int32_t middle = first + (end - first) / 2;
    if (panel.column[middle] < column)
      first = middle + 1;
    else
      end = middle;
  }
  return first < panel.row_begin[row + 1] && panel.column[first] == column ? first : -1;
}
/// The row of a block of a panel with so many rows.
TESSERA_PACKED std::int32_t row_of_block(const PackedPanel& panel, std::int32_t rows, std::int32_t block) {
  std::int32_t first = 0, end = rows;  // row_begin[first] <= block < row_begin[end]
  while (first + 1 < end) {
    const std::int32_t middle = first + (end - first) / 2;
    (panel.row_begin[middle] <= block ? first : end) = middle;
  }
  return first;
}

/// A number that is known to fit.
TESSERA_PACKED std::int32_t word_of(std::int64_t number) {
  return static_cast<std::int32_t>(number);
}

/// What a block adds to the two numbers of its pattern's identity (BlockPattern::identity): the finalizer of
/// splitmix64, seeded twice.
TESSERA_PACKED std::uint64_t block_identity(std::int64_t panel, std::int64_t row, std::int64_t column,
                                            std::uint64_t seed) {
  std::uint64_t x = static_cast<std::uint64_t>((panel * 32768 + row) * 32768 + column) + seed;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
inline constexpr std::uint64_t first_identity_seed = 0x9e3779b97f4a7c15u,
                               second_identity_seed = 0x3c6ef372fe94f82au;

}  // namespace tessera::detail

#undef TESSERA_PACKED
