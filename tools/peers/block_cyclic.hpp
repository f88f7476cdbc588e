// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include <tessera/column_slabs.hpp>
#include <tessera/runtime.hpp>
#include <tessera/tiled_matrix.hpp>

/// Block-cyclic matrices on BLACS' grids, for the peers over MPI. Everything here is collective over the run's ranks.
namespace tessera::program {

/// A grid of the run's first ranks. Those beyond have a part in making it, and in nothing else.
class BlacsGrid {
 public:
  BlacsGrid(const Runtime& runtime, const ProcessGrid& grid);
  ~BlacsGrid();
  BlacsGrid(const BlacsGrid&) = delete;
  BlacsGrid& operator=(const BlacsGrid&) = delete;

  const ProcessGrid& shape() const noexcept { return shape_; }
  /// BLACS' number; -1 on ranks that are not in the grid.
  int context() const noexcept { return context_; }
  bool inside() const noexcept { return context_ >= 0; }
  int row() const noexcept { return row_; }
  int col() const noexcept { return col_; }
  /// Of the ranks in the grid, as Fortran has it.
  int communicator() const noexcept { return communicator_; }

 private:
  ProcessGrid shape_;
  int handle_ = -1, context_ = -1, row_ = -1, col_ = -1, parent_ = 0, communicator_ = 0;
};

/// A grid that is as square as the number of ranks allows, and a block size of at most `largest`, such that
/// each rank has a block of a matrix of order n. For very small matrices one rank.
struct CyclicShape {
  ProcessGrid grid;
  Index block = 1;
  static CyclicShape make(Index n, int ranks, Index largest);
};

/// This rank's part of a rows x cols matrix on a grid.
template <class T>
class CyclicMatrix {
 public:
  CyclicMatrix() = default;
  /// Of zeros. @throws Error if a part has as many elements as ScaLAPACK cannot count
  CyclicMatrix(const BlacsGrid& grid, Index rows, Index cols, Index block_rows, Index block_cols);

  Index local_rows() const noexcept { return local_rows_; }
  Index local_cols() const noexcept { return local_cols_; }
  const int* descriptor() const noexcept { return descriptor_.data(); }
  T* data() noexcept { return data_.data(); }
  const T* data() const noexcept { return data_.data(); }
  T& operator()(Index i, Index j) noexcept { return data_[static_cast<std::size_t>(i + j * ld())]; }
  /// Row or column of the whole matrix.
  Index global_row(Index i) const noexcept { return global(i, block_rows(), row_, grid_rows_); }
  Index global_col(Index j) const noexcept { return global(j, block_cols(), col_, grid_cols_); }
  Index ld() const noexcept { return descriptor_[8]; }
  Index block_rows() const noexcept { return descriptor_[4]; }
  Index block_cols() const noexcept { return descriptor_[5]; }
  Index rows() const noexcept { return descriptor_[2]; }
  Index cols() const noexcept { return descriptor_[3]; }

 private:
  static Index global(Index local, Index block, int index, int count) noexcept {
    return (local / block * count + index) * block + local % block;
  }
  std::array<int, 9> descriptor_{};  ///< as DESCINIT fills it
  Index local_rows_ = 0, local_cols_ = 0;
  int row_ = 0, col_ = 0, grid_rows_ = 1, grid_cols_ = 1;
  std::vector<T> data_;
};

/// The lower triangle of the tiles.
template <class T>
void copy_lower(const Runtime& runtime, const TiledMatrix<T>& tiles, CyclicMatrix<T>& to);

/// The upper triangle from the lower one.
template <class T>
void mirror_lower(const Runtime& runtime, const BlacsGrid& grid, CyclicMatrix<T>& a);

/// Columns [first, first + count) as slabs of at most `width` columns.
template <class T>
ColumnSlabs<T> to_slabs(Runtime& runtime, const CyclicMatrix<T>& a, Index first, Index count, Index width);

}  // namespace tessera::program
