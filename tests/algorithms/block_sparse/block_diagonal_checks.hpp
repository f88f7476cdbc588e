// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/dense_reference.hpp>

#include <tessera/block_operations.hpp>
#include <tessera/codelets/block_sparse/values/diagonal_blocks.hpp>

/// Factors and inverses of diagonal blocks, multiplied out by plain loops. All collective.
namespace tessera::test {
using namespace detail;

/// Random elements of the layout's symmetry, with a diagonal that makes the diagonal blocks positive definite,
/// or, without a real diagonal, far from singular.
template <class T>
Matrix<T> diagonal_dominant(const BlockLayout& layout, std::uint64_t seed) {
  Matrix<T> a = random_dense<T>(layout, seed);
  for (Index j = 0; j < a.cols(); ++j) {
    const Index size = layout.cols->size(layout.cols->block_of(j));
    if (layout.symmetry != Symmetry::antisymmetric)
      a(j, j) = T(RealOf<T>(2.5) * RealOf<T>(size) + real_part(a(j, j)));
    // The larger pairs on the first subdiagonal of an antisymmetric matrix.
    const Index within = j - layout.cols->first(layout.cols->block_of(j));
    if (layout.symmetry == Symmetry::antisymmetric && within % 2 == 0) {
      a(j + 1, j) = T(RealOf<T>(2.5) * RealOf<T>(size));
      a(j, j + 1) = -a(j + 1, j);
    }
  }
  return a;
}

template <class T>
BlockSparseMatrix<T> factored(Sequence& sequence, const BlockSparseMatrix<T>& a, DiagonalFactor factor) {
  return factor == DiagonalFactor::inverse    ? block_diagonal_inverse(sequence, a)
         : factor == DiagonalFactor::cholesky ? block_diagonal_cholesky(sequence, a)
                                              : block_diagonal_inverse_cholesky(sequence, a);
}

/// visit(first element, size) for each block on the diagonal.
template <class Visit>
void each_diagonal_block(const BlockLayout& layout, const Visit& visit) {
  for (Index b = 0; b < layout.rows->blocks(); ++b) visit(layout.rows->first(b), layout.rows->size(b));
}

template <class T>
double block_tolerance(Index n) {
  return 40 * double(n + 2) * double(precision<T>);
}

/// X has the inverses of the diagonal blocks of `dense`.
template <class T>
void expect_inverse(const Matrix<T>& dense, const Matrix<T>& x, const BlockLayout& layout) {
  each_diagonal_block(layout, [&](Index first, Index n) {
    const Matrix<T> product = multiply(dense.block(first, first, n, n), x.block(first, first, n, n));
    EXPECT_LE(difference(product, identity<T>(n)), block_tolerance<T>(n)) << first << ' ' << n;
  });
}

/// Exactly the diagonal blocks are stored, in this symmetry; A's stay.
template <class T>
void expect_diagonal_blocks(const BlockSparseMatrix<T>& result, Symmetry symmetry) {
  EXPECT_EQ(result.symmetry(), symmetry);
  EXPECT_EQ(result.pattern().blocks(), result.block_rows());
  const auto pattern = result.pattern().gathered();
  for (Index b = 0; b < result.block_rows(); ++b) EXPECT_TRUE(pattern->find(b, b));
}

template <class T>
void check_inverse(Runtime& runtime, const BlockLayout& layout) {
  const Matrix<T> dense = diagonal_dominant<T>(layout, 5);
  const auto a = drawn_matrix(runtime, layout, dense, 1, 1);
  Sequence sequence(runtime);
  const auto x = block_diagonal_inverse(sequence, a);
  ASSERT_TRUE(sequence.wait().ok());
  expect_diagonal_blocks(x, layout.symmetry);
  const Matrix<T> elements = contents_of(x).elements;
  expect_inverse(dense, elements, layout);
  each_diagonal_block(layout, [&](Index first, Index n) {
    if (layout.symmetry == Symmetry::none) return;
    for (Index j = first; j < first + n; ++j)
      for (Index i = first; i < first + n; ++i)
        EXPECT_EQ(elements(i, j), mirror_image(layout.symmetry, elements(j, i))) << i << ' ' << j;
  });
  EXPECT_EQ(difference(contents_of(a).elements, dense), 0);
}

/// L and L^-1. Without symmetry the upper triangles of the blocks hold what does not count.
template <class T>
void check_factors(Runtime& runtime, const BlockLayout& layout) {
  BlockLayout hermitian = layout;
  hermitian.symmetry = Symmetry::hermitian;
  const Matrix<T> dense = diagonal_dominant<T>(hermitian, 3);
  Matrix<T> given = dense;
  if (layout.symmetry == Symmetry::none)
    for (Index j = 0; j < given.cols(); ++j)
      for (Index i = 0; i < j; ++i) given(i, j) = not_a_number<T>();
  const auto a = drawn_matrix(runtime, layout, given, 1, 1);
  Sequence sequence(runtime);
  const auto l = block_diagonal_cholesky(sequence, a);
  const auto inverse = block_diagonal_inverse_cholesky(sequence, a);
  ASSERT_TRUE(sequence.wait().ok());
  expect_diagonal_blocks(l, Symmetry::none);
  expect_diagonal_blocks(inverse, Symmetry::none);
  const Matrix<T> factors = contents_of(l).elements, inverses = contents_of(inverse).elements;
  each_diagonal_block(layout, [&](Index first, Index n) {
    const Matrix<T> d = dense.block(first, first, n, n), f = factors.block(first, first, n, n),
                    x = inverses.block(first, first, n, n);
    EXPECT_LE(difference(multiply(Op::none, f, Op::adjoint, f), d), double(n + 1) * block_tolerance<T>(n));
    EXPECT_LE(difference(multiply(x, f), identity<T>(n)), block_tolerance<T>(n));
    EXPECT_EQ(difference(f, triangle(f, Uplo::lower)), 0);
    EXPECT_EQ(difference(x, triangle(x, Uplo::lower)), 0);
    for (Index i = 0; i < n; ++i) EXPECT_GT(real_part(f(i, i)), 0);
  });
}

}  // namespace tessera::test
