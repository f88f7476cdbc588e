// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/dense_reference.hpp>

#include <tessera/block_operations.hpp>

/// Checks of conversions of block-sparse matrices to other formats and back. All functions are
/// collective.
namespace tessera::test {

template <class T>
Matrix<T> as_matrix(const std::vector<T>& dense, Index rows, Index cols) {
  Matrix<T> a(rows, cols);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) a(i, j) = dense[static_cast<std::size_t>(i + j * rows)];
  return a;
}

template <class T>
void check_dense(Runtime& runtime, const BlockLayout& layout, std::uint64_t seed) {
  const Matrix<T> dense = random_dense<T>(layout, seed), part = drawn_dense(layout, dense, 0.4, seed);
  const auto a = drawn_matrix(runtime, layout, dense, 0.4, seed);
  EXPECT_EQ(difference(as_matrix(to_dense(a), a.rows(), a.cols()), part), 0);
  const auto back = from_dense(runtime, part.view(), layout);
  EXPECT_EQ(difference(contents_of(back).elements, part), 0);
  for (const auto& [row, col] : contents_of(back, false).blocks)
    EXPECT_TRUE(drawn(layout, 0.4, seed, row, col) && layout.rows->size(row) > 0 &&
                layout.cols->size(col) > 0);
  const auto whole = from_dense(runtime, part.view(), layout, -1);
  EXPECT_EQ(difference(contents_of(whole).elements, part), 0);
  const Index rows = layout.rows->blocks(), cols = layout.cols->blocks();
  EXPECT_EQ(whole.pattern().blocks(),
            layout.symmetry == Symmetry::none ? rows * cols : rows * (rows + 1) / 2);
  EXPECT_EQ(from_dense(runtime, part.view(), layout, 100).pattern().blocks(), 0);
}

/// This rank's rows of a dense matrix, restricted to elements with keep(row, column, value).
template <class T, class Keep>
CompressedRows<T> rows_of(const Matrix<T>& dense, const std::vector<Index>& rows, const Keep& keep) {
  CompressedRows<T> result{dense.rows(), dense.cols(), rows, {0}, {}, {}};
  for (const Index i : rows) {
    for (Index j = 0; j < dense.cols(); ++j)
      if (keep(i, j, dense(i, j))) {
        result.column.push_back(j);
        result.value.push_back(dense(i, j));
      }
    result.row_begin.push_back(static_cast<Index>(result.column.size()));
  }
  return result;
}

template <class T>
void expect_equal(const CompressedRows<T>& a, const CompressedRows<T>& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.cols, b.cols);
  EXPECT_EQ(a.row, b.row);
  EXPECT_EQ(a.row_begin, b.row_begin);
  EXPECT_EQ(a.column, b.column);
  EXPECT_EQ(a.value, b.value);
}

template <class T>
void check_compressed_rows(Runtime& runtime, const BlockLayout& layout, std::uint64_t seed) {
  const Matrix<T> dense = random_dense<T>(layout, seed), part = drawn_dense(layout, dense, 0.4, seed);
  const auto a = drawn_matrix(runtime, layout, dense, 0.4, seed);
  const auto stored = [&](Index i, Index j) {
    return drawn(layout, 0.4, seed, layout.rows->block_of(i), layout.cols->block_of(j));
  };
  std::vector<Index> mine, all;
  for (Index i = 0; i < a.rows(); ++i) {
    if (layout.rows->block_of(i) % runtime.size() == runtime.rank()) mine.push_back(i);
    if (runtime.rank() == 0) all.push_back(i);
  }
  const auto above = [](double threshold) {
    return [threshold](Index, Index, T x) { return std::abs(x) > threshold; };
  };
  expect_equal(to_compressed_rows(a), rows_of(part, mine, above(0)));
  expect_equal(to_compressed_rows(a, 0.5, true), rows_of(part, all, above(0.5)));
  expect_equal(to_compressed_rows(a, -1),
               rows_of(part, mine, [&](Index i, Index j, T) { return stored(i, j); }));
  // Passes the lower half of a half-stored matrix as two parts, which must be added.
  const auto lower = [&](Index i, Index j, T x) {
    return (layout.symmetry == Symmetry::none || j <= i) && std::abs(x) > 0;
  };
  auto rows = rows_of(part, mine, lower);
  for (std::size_t e = 0, end = rows.column.size(); e < end; ++e) rows.value[e] *= RealOf<T>(0.5);
  CompressedRows<T> twice{rows.rows, rows.cols, rows.row, {0}, {}, {}};
  for (std::size_t r = 0; r < rows.row.size(); ++r) {
    for (int half = 0; half < 2; ++half)
      for (Index e = rows.row_begin[r]; e < rows.row_begin[r + 1]; ++e) {
        twice.column.push_back(rows.column[static_cast<std::size_t>(e)]);
        twice.value.push_back(rows.value[static_cast<std::size_t>(e)]);
      }
    twice.row_begin.push_back(static_cast<Index>(twice.column.size()));
  }
  const auto back = from_compressed_rows(runtime, twice, layout);
  EXPECT_EQ(difference(contents_of(back).elements, part), 0);
}

}  // namespace tessera::test
