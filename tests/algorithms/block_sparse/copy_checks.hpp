// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/dense_reference.hpp>

#include <tessera/block_operations.hpp>

/// Checks copies between block-sparse matrices against the formula, element by element.
namespace tessera::test {

inline std::string describe(Symmetry a, Symmetry b, const CopyBlocksOptions& o) {
  std::string text{static_cast<char>(a),
                   ' ',
                   static_cast<char>(o.op),
                   o.conjugated ? '*' : ' ',
                   ' ',
                   '>',
                   static_cast<char>(b),
                   o.add ? '+' : ' '};
  return text + " rows " + std::to_string(o.window.first_row) + ".." + std::to_string(o.window.end_row) +
         " columns " + std::to_string(o.window.first_col) + ".." + std::to_string(o.window.end_col);
}

inline bool inside(const ElementWindow& w, Index i, Index j) {
  return i >= w.first_row && i < w.end_row && j >= w.first_col && j < w.end_col;
}

/// Element (i, j) of op(a), additionally conjugated if `conjugated` is set.
template <class T>
T image_element(const Matrix<T>& a, Op op, bool conjugated, Index i, Index j) {
  const T x = op == Op::none ? a(i, j) : a(j, i);
  return conjugated != (op == Op::adjoint) ? conjugate(x) : x;
}

/// Expected values of the stored blocks of B after copy_blocks.
template <class T>
Matrix<T> copied(T factor, const Contents<T>& a, const Contents<T>& b, const BlockLayout& layout,
                 const CopyBlocksOptions& options) {
  Matrix<T> result = b.elements;
  for (const auto& [row, col] : b.blocks) {
    const BlockCoordinate source =
        options.op == Op::none ? BlockCoordinate{row, col} : BlockCoordinate{col, row};
    if (!a.blocks.contains(source)) continue;
    for (Index j = layout.cols->first(col); j < layout.cols->first(col + 1); ++j)
      for (Index i = layout.rows->first(row); i < layout.rows->first(row + 1); ++i) {
        if (!inside(options.window, i, j)) continue;
        const T x = factor * image_element(a.elements, options.op, options.conjugated, i, j);
        result(i, j) = options.add ? result(i, j) + x : x;
      }
  }
  return result;
}

/// Values from another matrix with the same pattern; each rank takes those of its own blocks.
template <class T>
void assign(BlockSparseMatrix<T>& a, const Matrix<T>& dense) {
  a.for_each_block_mutable([&](Index row, Index col, MatrixView<T> values) {
    const Index i0 = a.pattern().rows().first(row), j0 = a.pattern().cols().first(col);
    for (Index j = 0; j < values.cols; ++j)
      for (Index i = 0; i < values.rows; ++i) values(i, j) = dense(i0 + i, j0 + j);
  });
}

template <class T>
inline constexpr double copy_tolerance = 8 * double(precision<T>);

/// Checks every op, conjugated or not, added or not, in the first window and one other window. With
/// `stride` > 1 it checks only every stride-th of these twelve cases, starting at `first`.
/// Collective.
template <class T>
void check_copies(const BlockSparseMatrix<T>& a, BlockSparseMatrix<T>& b,
                  const std::vector<ElementWindow>& windows, std::size_t first = 0, std::size_t stride = 1) {
  const T factor = random_scalar<T>(5, 6, 7);
  const Contents<T> a_contents = contents_of(a), b_before = contents_of(b, false);
  const bool transposable =
      a.pattern().cols().same_sizes(b.pattern().rows()) && a.pattern().rows().same_sizes(b.pattern().cols());
  std::size_t combination = 0;
  for (const Op op : {Op::none, Op::transpose, Op::adjoint})
    for (const bool conjugated : {false, true})
      for (const bool add : {false, true}) {
        const std::size_t number = combination++;
        if ((op != Op::none && !transposable) || number % stride != first % stride) continue;
        for (const std::size_t w : {std::size_t{0}, 1 + number % (windows.size() - 1)}) {
          const CopyBlocksOptions options{op, conjugated, add, windows[w]};
          assign(b, b_before.elements);
          Sequence sequence(a.runtime());
          copy_blocks(sequence, factor, a, b, options);
          ASSERT_TRUE(sequence.wait().ok());
          EXPECT_LE(difference(contents_of(b, false).elements,
                               copied(factor, a_contents, b_before, b.layout(), options)),
                    copy_tolerance<T>)
              << describe(a.symmetry(), b.symmetry(), options);
        }
      }
  EXPECT_EQ(difference(contents_of(a).elements, a_contents.elements), 0);
}

/// Checks make_image into a layout: which blocks exist, their values, and zeros outside the window.
/// Collective.
template <class T>
void check_image(const BlockSparseMatrix<T>& a, const BlockLayout& layout, Op op, bool conjugated,
                 const ElementWindow& window) {
  const T factor = random_scalar<T>(8, 9, 10);
  const Contents<T> source = contents_of(a);
  Sequence sequence(a.runtime());
  const auto image = make_image(sequence, factor, a, layout, op, conjugated, window);
  ASSERT_TRUE(sequence.wait().ok());
  EXPECT_TRUE(image.layout() == layout);
  const Contents<T> result = contents_of(image, false);
  Matrix<T> expected(image.rows(), image.cols());
  for (Index j = 0; j < image.cols(); ++j)
    for (Index i = 0; i < image.rows(); ++i) {
      const Index row = layout.rows->block_of(i), col = layout.cols->block_of(j);
      if (!inside(window, i, j) || !layout.stores(row, col)) continue;
      expected(i, j) = factor * image_element(source.elements, op, conjugated, i, j);
      const bool there =
          source.blocks.contains(op == Op::none ? BlockCoordinate{row, col} : BlockCoordinate{col, row});
      EXPECT_EQ(result.blocks.contains({row, col}), there) << row << " " << col;
    }
  EXPECT_LE(difference(result.elements, expected), copy_tolerance<T>)
      << describe(a.symmetry(), layout.symmetry, {op, conjugated, false, window});
}

}  // namespace tessera::test
