// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operation_problem.hpp"

/// Checks the copy operations for matrices with the given block sizes; `seed` selects the
/// distributions.
namespace tessera::operations_test {
using namespace detail;

template <class T>
void check_copy(Runtime& runtime, const BlockLayout& layout) {
  auto [a, dense] = make_problem<T>(runtime, layout, 11);
  BlockSparseMatrix<T> b;
  run_sequence(runtime, [&](Sequence& sequence) {
    b = copy(sequence, a);
    scale(sequence, T(0), a);
  });
  EXPECT_EQ(b.pattern_pointer(), a.pattern_pointer());
  expect_matrix(b, dense);
  expect_matrix(a, Matrix<T>(dense.rows(), dense.cols()));
}

/// Copies from layout `from` into the existing blocks of another matrix with layout `to`.
template <class T>
void check_copy_into_existing(Runtime& runtime, const BlockLayout& from, const BlockLayout& to) {
  auto [a, dense] = make_problem<T>(runtime, from, 12);
  auto [b, unused] = make_problem<T>(runtime, to, 13);
  run_sequence(runtime, [&](Sequence& sequence) { copy_into_existing(sequence, a, b); });
  const Matrix<T> expected = blocks_kept(from_lower_half(dense, to.symmetry), to, [&](Index i, Index j) {
    return chosen(13, to.symmetry, i, j, 0.5);
  });
  expect_matrix(b, expected);
  expect_matrix(a, dense);
  expect_blocks(b, [&](Index i, Index j) { return chosen(13, to.symmetry, i, j, 0.5); });
  run_sequence(runtime, [&](Sequence& sequence) { copy_into_existing(sequence, a, b, T(2)); });
  Matrix<T> twice = expected;
  for (Index j = 0; j < twice.cols(); ++j)
    for (Index i = 0; i < twice.rows(); ++i) twice(i, j) += expected(i, j);
  expect_matrix(b, twice);
}

template <class T>
void check_redistribute(Runtime& runtime, const BlockLayout& from, const BlockLayout& to) {
  auto [a, dense] = make_problem<T>(runtime, from, 14);
  BlockSparseMatrix<T> b;
  run_sequence(runtime, [&](Sequence& sequence) { b = redistribute(sequence, a, to); });
  EXPECT_EQ(b.layout(), to);
  expect_matrix(b, from_lower_half(dense, to.symmetry));
  // redistribute need not store blocks of size zero, so only nonempty blocks are compared.
  const auto pattern = b.pattern().gathered();
  for (Index i = 0; i < b.block_rows(); ++i)
    for (Index j = 0; j < b.block_cols(); ++j)
      if (to.stores(i, j) && to.rows->size(i) > 0 && to.cols->size(j) > 0) {
        EXPECT_EQ(pattern->find(i, j).has_value(), chosen(14, from.symmetry, i, j, 0.5));
      }
}

template <class T>
void check_transpose(Runtime& runtime, const BlockLayout& layout) {
  auto [a, dense] = make_problem<T>(runtime, layout, 15);
  BlockSparseMatrix<T> b, c;
  run_sequence(runtime, [&](Sequence& sequence) {
    b = transpose(sequence, a);
    c = transpose(sequence, a, true);
  });
  Matrix<T> expected(dense.cols(), dense.rows());
  for (Index j = 0; j < expected.cols(); ++j)
    for (Index i = 0; i < expected.rows(); ++i) expected(i, j) = dense(j, i);
  expect_matrix(b, expected);
  expect_matrix(c, mapped(expected, [](T x, Index, Index) { return conjugate(x); }));
  EXPECT_EQ(b.symmetry(), layout.symmetry);
  b.layout().require_valid(runtime);
  if (layout.symmetry == Symmetry::none && layout.grid.rows == layout.grid.cols) {
    EXPECT_EQ(*b.layout().rows, *layout.cols);
    EXPECT_EQ(*b.layout().cols, *layout.rows);
  }
}

template <class T>
void check_desymmetrize(Runtime& runtime, const BlockLayout& layout) {
  auto [a, dense] = make_problem<T>(runtime, layout, 16);
  BlockSparseMatrix<T> b;
  run_sequence(runtime, [&](Sequence& sequence) { b = desymmetrize(sequence, a); });
  EXPECT_EQ(b.symmetry(), Symmetry::none);
  expect_matrix(b, dense);
}

template <class T>
void check_parts(Runtime& runtime, const BlockLayout& layout) {
  auto [a, dense] = make_problem<T>(runtime, layout, 17);
  if (layout.symmetry == Symmetry::none) {
    BlockSparseMatrix<T> whole, cut;
    run_sequence(runtime, [&](Sequence& sequence) {
      whole = upper_triangle(sequence, a, false);
      cut = upper_triangle(sequence, a, true);
    });
    const auto has_upper = [&](Index i, Index j) {
      return layout.rows->first(i) < layout.cols->first(j + 1) && layout.rows->size(i) > 0 &&
             layout.cols->size(j) > 0;
    };
    expect_matrix(whole, blocks_kept(dense, layout, has_upper));
    expect_matrix(cut, triangle(dense, Uplo::upper));
    expect_blocks(
        whole, [&](Index i, Index j) { return has_upper(i, j) && chosen(17, layout.symmetry, i, j, 0.5); });
  } else {
    run_sequence(runtime, [&](Sequence& sequence) {
      expect_refused("a", [&] { upper_triangle(sequence, a, false); });
    });
  }
  if (!layout.rows->same_sizes(*layout.cols)) {
    run_sequence(runtime,
                 [&](Sequence& sequence) { expect_refused("a", [&] { block_diagonal(sequence, a); }); });
    return;
  }
  BlockSparseMatrix<T> diagonal;
  run_sequence(runtime, [&](Sequence& sequence) { diagonal = block_diagonal(sequence, a); });
  EXPECT_EQ(diagonal.layout(), layout);
  expect_matrix(diagonal, blocks_kept(dense, layout, [](Index i, Index j) { return i == j; }));
  expect_blocks(diagonal, [&](Index i, Index j) { return i == j && chosen(17, layout.symmetry, i, j, 0.5); });
}

template <class T>
void check_reserve_and_clear(Runtime& runtime, const BlockLayout& layout) {
  auto [a, dense] = make_problem<T>(runtime, layout, 18, 0.3);
  // Every rank names different blocks. Above the diagonal of a half-stored matrix a name stands for
  // the mirror image.
  std::vector<BlockCoordinate> named;
  const auto is_new = [&](Index i, Index j) { return (i + 2 * j) % 3 == 0; };
  for (Index i = 0; i < a.block_rows(); ++i)
    for (Index j = 0; j < a.block_cols(); ++j)
      if (is_new(i, j) && (i + j) % runtime.size() == runtime.rank()) named.push_back({i, j});
  reserve_blocks(a, std::span<const BlockCoordinate>(named));
  expect_matrix(a, dense);
  expect_blocks(a, [&](Index i, Index j) {
    return chosen(18, layout.symmetry, i, j, 0.3) || is_new(i, j) ||
           (layout.symmetry != Symmetry::none && is_new(j, i));
  });
  const BlockPatternPointer before = a.pattern_pointer();
  reserve_blocks(a, std::span<const BlockCoordinate>(named));
  EXPECT_EQ(a.pattern_pointer(), before);
  clear(a);
  EXPECT_EQ(a.pattern().blocks(), 0);
  EXPECT_EQ(a.layout(), layout);
  expect_matrix(a, Matrix<T>(dense.rows(), dense.cols()));
}

template <class T>
void check_filter(Runtime& runtime, const BlockLayout& layout) {
  auto [a, dense] = make_problem<T>(runtime, layout, 19, 0.7);
  const double eps = 2;
  const auto norm = [&dense = dense, &layout](Index bi, Index bj) {
    double sum = 0;
    for (Index i = layout.rows->first(bi); i < layout.rows->first(bi + 1); ++i)
      for (Index j = layout.cols->first(bj); j < layout.cols->first(bj + 1); ++j)
        sum += double(std::norm(dense(i, j)));
    return std::sqrt(sum);
  };
  const auto stays = [&](Index i, Index j) {
    return chosen(19, layout.symmetry, i, j, 0.7) && norm(i, j) >= eps;
  };
  const Index before = a.pattern().blocks();
  EXPECT_EQ(filter(a, 0.0), 0);
  EXPECT_EQ(a.pattern().blocks(), before);
  const Index dropped = filter(a, eps);
  EXPECT_EQ(before - a.pattern().blocks(), dropped);
  expect_blocks(a, stays);
  expect_matrix(a, blocks_kept(dense, layout, stays));
  EXPECT_EQ(filter(a, eps), 0);
  filter(a, 1e300);
  EXPECT_EQ(a.pattern().blocks(), 0);
  EXPECT_EQ(filter(a, 1.0), 0);
}

/// All checks, for square matrices in two independent distributions.
template <class T>
void check_copies(Runtime& runtime, unsigned seed, const std::vector<Symmetry>& symmetries = all_symmetries) {
  const std::vector<Index> sizes = mixed_sizes();
  for_each_symmetry<
      T>(runtime, seed, symmetries, [&](Symmetry, const BlockLayout& first, const BlockLayout& second) {
    const BlockLayout whole = random_layout(runtime, sizes, sizes, Symmetry::none, seed + 2);
    check_copy<T>(runtime, first);
    std::vector<std::pair<BlockLayout, BlockLayout>> pairs{{first, second}, {first, whole}, {whole, first}};
    if (runtime.size() == 1) pairs.emplace_back(first, first);
    for (const auto& [from, to] : pairs) {
      check_copy_into_existing<T>(runtime, from, to);
      check_redistribute<T>(runtime, from, to);
    }
    check_transpose<T>(runtime, first);
    check_desymmetrize<T>(runtime, first);
    check_parts<T>(runtime, first);
    check_reserve_and_clear<T>(runtime, first);
    check_filter<T>(runtime, first);
  });
}

/// The checks that apply to rectangular matrices.
template <class T>
void check_rectangular_copies(Runtime& runtime, const std::vector<Index>& rows,
                              const std::vector<Index>& cols, unsigned seed) {
  for_rectangle<T>(runtime, rows, cols, seed, [&](const BlockLayout& first, const BlockLayout& second) {
    check_copy<T>(runtime, first);
    check_copy_into_existing<T>(runtime, first, second);
    check_redistribute<T>(runtime, first, second);
    check_transpose<T>(runtime, first);
    check_parts<T>(runtime, first);
    check_reserve_and_clear<T>(runtime, first);
    check_filter<T>(runtime, first);
  });
}

}  // namespace tessera::operations_test
