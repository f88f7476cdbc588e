// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tests/support/matrix.hpp>

#include <tessera/runtime.hpp>
#include <tessera/tiled_matrix.hpp>

/// A matrix of the caller over several ranks in ScaLAPACK's layout, by its formulas (INDXG2P, INDXG2L).
namespace tessera::test {

template <class T>
class BlockCyclic {
 public:
  /// This rank's part of a matrix of layout.rows x layout.cols, two rows of memory more than it has.
  BlockCyclic(const Runtime& runtime, const TileLayout& layout, const Matrix<T>& global)
      : runtime_(runtime), layout_(layout) {
    Index rows = 0, cols = 0;
    for (Index i = 0; i < layout.rows; ++i) rows += owns_row(i);
    for (Index j = 0; j < layout.cols; ++j) cols += owns_col(j);
    local_ = Matrix<T>(rows, cols, 2);
    for_each([&](Index i, Index j, T& x) { x = global(i, j); });
    before_ = local_;
  }
  const TileLayout& layout() const { return layout_; }
  T* data() { return local_.rows() * local_.cols() > 0 ? local_.data() : nullptr; }
  Index ld() const { return local_.ld(); }

  /// The part of m x n entries from (row, col) on, on every rank.
  Matrix<T> gather(Index row, Index col, Index m, Index n) {
    std::vector<double> all(static_cast<std::size_t>(2 * m * n), 0.0);
    for_each([&](Index i, Index j, const T& x) {
      if (i < row || i >= row + m || j < col || j >= col + n) return;
      const auto at = static_cast<std::size_t>(2 * (i - row + (j - col) * m));
      all[at] = real_part(x), all[at + 1] = imag_part(x);
    });
    runtime_.all_reduce_sum(all.data(), static_cast<Index>(all.size()));
    Matrix<T> result(m, n);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < m; ++i) {
        const auto at = static_cast<std::size_t>(2 * (i + j * m));
        if constexpr (is_complex<T>)
          result(i, j) = T(RealOf<T>(all[at]), RealOf<T>(all[at + 1]));
        else
          result(i, j) = T(all[at]);
      }
    return result;
  }

  /// Everything outside of that part, and between the columns, is as at first, to the bit.
  bool unchanged_outside(Index row, Index col, Index m, Index n) {
    Matrix<T> now = local_;
    std::swap(now, local_);
    const Matrix<T> first = before_;
    for_each([&](Index i, Index j, T& x) {
      if (i >= row && i < row + m && j >= col && j < col + n) x = before_(local_row(i), local_col(j));
    });
    std::swap(now, local_);
    return identical(now, first);
  }
  bool unchanged() { return unchanged_outside(0, 0, 0, 0); }

 private:
  bool has_part() const { return runtime_.rank() < layout_.grid.rows * layout_.grid.cols; }
  int my_row() const {
    return layout_.grid.column_major ? runtime_.rank() % layout_.grid.rows
                                     : runtime_.rank() / layout_.grid.cols;
  }
  int my_col() const {
    return layout_.grid.column_major ? runtime_.rank() / layout_.grid.rows
                                     : runtime_.rank() % layout_.grid.cols;
  }
  bool owns_row(Index i) const {
    return has_part() && (layout_.first_row + i / layout_.tile_rows) % layout_.grid.rows == my_row();
  }
  bool owns_col(Index j) const {
    return has_part() && (layout_.first_col + j / layout_.tile_cols) % layout_.grid.cols == my_col();
  }
  Index local_row(Index i) const {
    return i / (layout_.tile_rows * layout_.grid.rows) * layout_.tile_rows + i % layout_.tile_rows;
  }
  Index local_col(Index j) const {
    return j / (layout_.tile_cols * layout_.grid.cols) * layout_.tile_cols + j % layout_.tile_cols;
  }
  template <class Visit>
  void for_each(const Visit& visit) {
    for (Index j = 0; j < layout_.cols; ++j)
      for (Index i = 0; i < layout_.rows; ++i)
        if (owns_row(i) && owns_col(j)) visit(i, j, local_(local_row(i), local_col(j)));
  }

  const Runtime& runtime_;
  TileLayout layout_;
  Matrix<T> local_, before_;
};

}  // namespace tessera::test
