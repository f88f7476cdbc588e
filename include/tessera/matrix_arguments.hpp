// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/tiled_matrix.hpp>
#include <tessera/types.hpp>

/// @file
/// Matrices of the caller that a dense problem reads and writes: arrays as LAPACK and ScaLAPACK lay them out,
/// and tiles.
namespace tessera {

/// How a matrix is given.
enum class MatrixKind {
  none,          ///< not at all
  array,         ///< LAPACK's layout
  block_cyclic,  ///< ScaLAPACK's layout
  tiles          ///< a TiledMatrix
};

/// A Hermitian or triangular matrix that a problem reads. What it refers to is not changed, nor copied.
///
/// Arrays of the caller must hold their contents until the solve is over (Completion::wait). The arrays of
/// one process may lie in the memory of a GPU in use: what the caller's own kernels write there must be
/// complete when the call is made. A TiledMatrix may go, or be released, as soon as the submitting call has
/// returned; one that wraps memory of the caller waits then until that has been read.
template <class T>
class MatrixInput {
 public:
  /// How the matrix is given.
  using Kind = MatrixKind;
  /// No matrix.
  MatrixInput() = default;
  /// LAPACK's layout, in one process: column-major a(ld, n), of which the triangle `uplo` is read (general:
  /// the lower one).
  MatrixInput(const T* a, Index n, Index ld, Uplo uplo = Uplo::lower) noexcept
      : array_(a), ld_(ld), layout_{.rows = n, .cols = n, .uplo = uplo}, kind_(Kind::array) {}
  /// ScaLAPACK's layout: this rank's part of a 2-D block-cyclic array over the ranks of the Runtime's
  /// communicator, column-major with leading dimension ld; null where a rank has no part. Blocks need not be
  /// square (MB, NB = tile_rows, tile_cols), and any process of the grid may have the first one (RSRC, CSRC =
  /// first_row, first_col). The triangle layout.uplo is read (general: the lower one).
  MatrixInput(const T* local, Index ld, const TileLayout& layout) noexcept
      : array_(local), ld_(ld), layout_(layout), kind_(Kind::block_cyclic) {}
  /// The same of the n x n submatrix from (row, col) on, counted from 0 (IA - 1, JA - 1), anywhere in a block.
  /// `local` and `layout` are those of the whole array, of which nothing else is touched.
  MatrixInput(const T* local, Index ld, const TileLayout& layout, Index row, Index col, Index n) noexcept
      : array_(local), ld_(ld), layout_(layout), submatrix_{row, col, n, true}, kind_(Kind::block_cyclic) {}
  /// Tiles: lower or upper layout, or general (then the lower triangle counts); any tile size and grid.
  MatrixInput(const TiledMatrix<T>& tiles) noexcept
      : layout_(tiles.layout()), tiles_(&tiles), kind_(Kind::tiles) {}

  /// How the matrix is given.
  Kind kind() const noexcept { return kind_; }
  /// There is a matrix.
  explicit operator bool() const noexcept { return kind_ != Kind::none; }
  /// Sizes and distribution of the array or tiles; of an array of one process without a tile size.
  const TileLayout& layout() const noexcept { return layout_; }
  /// Rows of the matrix.
  Index order() const noexcept { return submatrix_.given ? submatrix_.n : layout_.rows; }
  /// The matrix is a part of a block-cyclic array.
  bool is_submatrix() const noexcept { return submatrix_.given; }
  /// Where the matrix begins in a block-cyclic array.
  Index row() const noexcept { return submatrix_.row; }
  /// The same of the columns.
  Index col() const noexcept { return submatrix_.col; }
  /// The caller's array, or null.
  const T* array() const noexcept { return array_; }
  /// Its leading dimension.
  Index ld() const noexcept { return ld_; }
  /// The caller's tiles, or null.
  const TiledMatrix<T>* tiles() const noexcept { return tiles_; }

 private:
  struct Submatrix {
    Index row = 0, col = 0, n = 0;
    bool given = false;
  };
  const T* array_ = nullptr;
  Index ld_ = 0;
  TileLayout layout_{};
  Submatrix submatrix_{};
  const TiledMatrix<T>* tiles_ = nullptr;
  Kind kind_ = Kind::none;
};

/// Where the eigenvectors of a problem of order n go, in ascending order: into the first columns of n x m
/// entries, m >= max_vectors(n, options), of which only as many are written as the range has eigenvalues. It
/// is written until the solve is over (Completion::wait), and not touched by a solve without vectors.
template <class T>
class MatrixOutput {
 public:
  /// How the matrix is given.
  using Kind = MatrixKind;
  /// Nowhere: the result has them.
  MatrixOutput() = default;
  /// LAPACK's layout, in one process: column-major z(ld, m), of the host or of a GPU in use.
  MatrixOutput(T* z, Index ld) noexcept : array_(z), ld_(ld), kind_(Kind::array) {}
  /// ScaLAPACK's layout, as of MatrixInput: the submatrix from (row, col) on (IZ - 1, JZ - 1) of the
  /// block-cyclic array of `layout`, whose blocks, grid and first process need not be those of the input.
  /// layout.uplo is general. Entries outside of the vectors are not touched.
  MatrixOutput(T* local, Index ld, const TileLayout& layout, Index row = 0, Index col = 0) noexcept
      : array_(local), ld_(ld), layout_(layout), row_(row), col_(col), kind_(Kind::block_cyclic) {}
  /// Tiles of the caller, in general layout, with n rows; any tile size and grid. A tile that gets vectors is
  /// written as a whole: its other columns hold anything after that. The TiledMatrix must not go before the
  /// submitting call has returned.
  MatrixOutput(TiledMatrix<T>& tiles) noexcept
      : layout_(tiles.layout()), tiles_(&tiles), kind_(Kind::tiles) {}

  /// How the matrix is given.
  Kind kind() const noexcept { return kind_; }
  /// The caller has said where.
  explicit operator bool() const noexcept { return kind_ != Kind::none; }
  /// Sizes and distribution of the block-cyclic array or of the tiles.
  const TileLayout& layout() const noexcept { return layout_; }
  /// Where the vectors begin in a block-cyclic array.
  Index row() const noexcept { return row_; }
  /// The same of the columns.
  Index col() const noexcept { return col_; }
  /// The caller's array, or null.
  T* array() const noexcept { return array_; }
  /// Its leading dimension.
  Index ld() const noexcept { return ld_; }
  /// The caller's tiles, or null.
  TiledMatrix<T>* tiles() const noexcept { return tiles_; }

 private:
  T* array_ = nullptr;
  Index ld_ = 0;
  TileLayout layout_{};
  Index row_ = 0, col_ = 0;
  TiledMatrix<T>* tiles_ = nullptr;
  Kind kind_ = Kind::none;
};

}  // namespace tessera
