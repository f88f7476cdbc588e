// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include <tessera/data.hpp>
#include <tessera/error.hpp>

namespace tessera {

/// A rows x cols grid of ranks; tile (i, j) belongs to rank (i mod rows, j mod cols). Ranks beyond rows x
/// cols hold no tiles.
struct ProcessGrid {
  int rows = 1;               ///< of ranks
  int cols = 1;               ///< of ranks
  bool column_major = false;  ///< rank = p + q rows instead of p cols + q (BLACS 'C' and 'R')

  /// The rank of a tile.
  int rank(Index tile_row, Index tile_col) const noexcept {
    const int p = static_cast<int>(tile_row % rows), q = static_cast<int>(tile_col % cols);
    return column_major ? p + q * rows : p * cols + q;
  }
  /// The row of the grid that a rank is in.
  int row_of(int rank) const noexcept { return column_major ? rank % rows : rank / cols; }
  /// The column of the grid that a rank is in.
  int col_of(int rank) const noexcept { return column_major ? rank / rows : rank % cols; }
  /// The most square grid of all ranks.
  static ProcessGrid squarest(int ranks);
};

/// Sizes and distribution of a TiledMatrix. The tile (i, j) belongs to the rank of the grid's row (first_row +
/// i) mod grid.rows and column (first_col + j) mod grid.cols.
struct TileLayout {
  Index rows = 0;       ///< of the matrix
  Index cols = 0;       ///< of the matrix
  Index tile_rows = 1;  ///< of a tile; the last one of a column may have fewer
  Index tile_cols = 1;  ///< of a tile; the last one of a row may have fewer
  /// Of the ranks.
  ProcessGrid grid{};
  Uplo uplo = Uplo::general;  ///< which tiles exist: Hermitian matrices keep those of one triangle
  int first_row = 0;          ///< row of the grid with the tiles (0, .): ScaLAPACK's source process
  int first_col = 0;          ///< column of the grid with the tiles (., 0)
  /// The rows by which the tiles (0, .) are shorter at their top: those of a submatrix that begins within a tile.
  Index row_offset = 0;
  Index col_offset = 0;  ///< the same for the columns of the tiles (., 0)

  /// Tiles along the rows.
  Index row_tiles() const noexcept { return rows > 0 ? ceil_div(row_offset + rows, tile_rows) : 0; }
  /// Tiles along the columns.
  Index col_tiles() const noexcept { return cols > 0 ? ceil_div(col_offset + cols, tile_cols) : 0; }
  /// The first row of the tiles (i, .).
  Index row_begin(Index i) const noexcept { return std::max<Index>(i * tile_rows - row_offset, 0); }
  /// The row after the last one of the tiles (i, .).
  Index row_end(Index i) const noexcept { return std::min((i + 1) * tile_rows - row_offset, rows); }
  /// The first column of the tiles (., j).
  Index col_begin(Index j) const noexcept { return std::max<Index>(j * tile_cols - col_offset, 0); }
  /// The column after the last one of the tiles (., j).
  Index col_end(Index j) const noexcept { return std::min((j + 1) * tile_cols - col_offset, cols); }
  /// The rank of a tile.
  int owner(Index i, Index j) const noexcept { return grid.rank(first_row + i, first_col + j); }
  /// The layout has tile (i, j): it has entries of the triangle.
  bool exists(Index i, Index j) const noexcept {
    return uplo == Uplo::general ||
           (uplo == Uplo::lower ? row_end(i) > col_begin(j) : row_begin(i) < col_end(j));
  }
  /// Of the part of `part_rows` x `part_cols` entries from (row, col) on, in the same tiles of the same ranks.
  TileLayout part(Index row, Index col, Index part_rows, Index part_cols) const noexcept;
};

namespace detail {
/// For calls whose layouts must be the same on all ranks.
std::uint64_t hash_of(const TileLayout& layout) noexcept;
}  // namespace detail

template <class T>
class ColumnSlabs;  // column_slabs.hpp

/// A matrix in 2-D block-cyclic tiles, one handle a tile. It wraps the caller's memory or allocates each tile
/// where and when it is first written. In a triangular layout the diagonal tiles are whole squares of which
/// one triangle counts. To make one is collective: layouts must be the same on all ranks, and an array that
/// one rank lacks keeps all from it.
template <class T>
class TiledMatrix {
 public:
  TiledMatrix() = default;
  /// Tiles without contents, allocated lazily on their owners.
  TiledMatrix(Runtime& runtime, const TileLayout& layout);
  /// The caller's column-major array a(ld, cols), in place; one process (or every rank of a 1 x 1 grid on
  /// rank 0).
  static TiledMatrix wrap(Runtime& runtime, T* a, Index ld, const TileLayout& layout);
  /// The caller's part of a 2-D block-cyclic array as ScaLAPACK lays it out: local blocks packed, leading
  /// dimension ld. Of a matrix that begins within a tile (offsets), `local` is where the first block begins
  /// that the rank has a part of. Tiles of one triangle need not be square.
  static TiledMatrix wrap_block_cyclic(Runtime& runtime, T* local, Index ld, const TileLayout& layout);
  /// What wrap_block_cyclic asks of this rank's arguments; makes nothing, not collective.
  /// @throws InvalidArgument
  static void require_block_cyclic(const Runtime& runtime, const T* local, Index ld,
                                   const TileLayout& layout);

  /// Sizes and distribution.
  const TileLayout& layout() const noexcept { return layout_; }
  /// Rows.
  Index rows() const noexcept { return layout_.rows; }
  /// Columns.
  Index cols() const noexcept { return layout_.cols; }
  /// Tiles along the rows.
  Index row_tiles() const noexcept { return layout_.row_tiles(); }
  /// Tiles along the columns.
  Index col_tiles() const noexcept { return layout_.col_tiles(); }
  /// Rows of the tiles (i, .).
  Index tile_rows(Index i) const noexcept { return layout_.row_end(i) - layout_.row_begin(i); }
  /// Columns of the tiles (., j).
  Index tile_cols(Index j) const noexcept { return layout_.col_end(j) - layout_.col_begin(j); }
  /// Has tiles: it was made, and not released.
  bool valid() const noexcept { return !tiles_.empty(); }
  /// The data of a tile.
  const Data& tile(Index i, Index j) const noexcept {
    return tiles_[static_cast<std::size_t>(i + j * row_tiles())];
  }
  /// The rank of a tile.
  int owner(Index i, Index j) const noexcept { return layout_.owner(i, j); }
  /// Frees the tiles once the submitted tasks have used them (wrapped memory: waits until it is up to date).
  void release() { tiles_.clear(); }
  /// The same for wrapped memory that tasks have only read: returns at once.
  void release_unchanged() {
    for (Data& tile : tiles_) tile.release_unchanged();
    tiles_.clear();
  }
  /// Frees one tile that is no longer needed.
  void release_tile(Index i, Index j) { tiles_[static_cast<std::size_t>(i + j * row_tiles())].release(); }
  /// Data::flush_remote_copies for all tiles.
  void flush_remote_copies() const;
  /// Data::free_gpu_copies_after for all tiles.
  void free_gpu_copies_after(const Data& other) const;
  /// Copies the tiles of this rank to its GPUs in turn, for tasks to come; nothing without GPUs.
  void prefetch() const;

 private:
  template <class S>
  friend TiledMatrix<S> tiles_of(ColumnSlabs<S>&& slabs);
  explicit TiledMatrix(const TileLayout& layout) : layout_(layout) {}
  void check(const Runtime& runtime, bool any_tiles) const;
  void check_local_part(const Runtime& runtime, const T* local, Index ld) const;
  void make_tiles(Runtime& runtime, T* memory, Index ld, bool block_cyclic);
  TileLayout layout_;
  std::vector<Data> tiles_;
};

/// Rows and columns of the local part of a block-cyclic array (ScaLAPACK's numroc): of `n` in blocks of
/// `block` over `count` processes, of which `first` has the first block, those of process `index`.
Index local_extent(Index n, Index block, int index, int count, int first = 0);

}  // namespace tessera
