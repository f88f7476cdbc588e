// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operation_problem.hpp"

/// Checks arithmetic with block-sparse matrices against loops over dense matrices.
namespace tessera::operations_test {
using namespace detail;

/// A := alpha A + beta B, first for B in layout `other`, then for B with the pattern of A.
template <class T>
void check_add(Runtime& runtime, const BlockLayout& layout, const BlockLayout& other) {
  auto [a, x] = make_problem<T>(runtime, layout, 21);
  auto [b, y] = make_problem<T>(runtime, other, 22);
  const T alpha = some_factor<T>(layout.symmetry, 0.5, -0.25), beta = some_factor<T>(layout.symmetry, -2, 1);
  Matrix<T> expected = mapped(x, [&, &y = y](T e, Index i, Index j) { return alpha * e + beta * y(i, j); });
  run_sequence(runtime, [&](Sequence& sequence) { add(sequence, alpha, a, beta, b); });
  expect_matrix(a, expected, 16);
  EXPECT_EQ(a.layout(), layout);
  const auto sum = a.pattern().gathered();
  for (Index i = 0; i < a.block_rows(); ++i)
    for (Index j = 0; j < a.block_cols(); ++j)
      if (layout.stores(i, j) && layout.rows->size(i) > 0 && layout.cols->size(j) > 0) {
        EXPECT_EQ(sum->find(i, j).has_value(),
                  chosen(21, layout.symmetry, i, j, 0.5) || chosen(22, other.symmetry, i, j, 0.5));
      }
  // All blocks exist now, so the same update runs in place.
  const BlockPatternPointer before = a.pattern_pointer();
  expected = mapped(expected, [&, &y = y](T e, Index i, Index j) { return alpha * e + beta * y(i, j); });
  run_sequence(runtime, [&](Sequence& sequence) { add(sequence, alpha, a, beta, b); });
  EXPECT_EQ(a.pattern_pointer(), before);
  expect_matrix(a, expected, 64);
  // Zero factors, then two matrices with one pattern, then a matrix added to itself.
  run_sequence(runtime, [&](Sequence& sequence) {
    add(sequence, T(0), a, T(1), b);
    add(sequence, T(1), a, T(0), b);
  });
  expect_matrix(a, y);
  run_sequence(runtime, [&](Sequence& sequence) {
    const BlockSparseMatrix<T> c = copy(sequence, a);
    add(sequence, alpha, a, beta, c);
    add(sequence, T(1), a, T(1), a);
  });
  expect_matrix(a, mapped(y, [&](T e, Index, Index) { return T(2) * (alpha * e + beta * e); }), 64);
  expect_matrix(b, y);
}

template <class T>
void check_scale(Runtime& runtime, const BlockLayout& layout) {
  auto [a, x] = make_problem<T>(runtime, layout, 23);
  const T alpha = some_factor<T>(layout.symmetry, 1.5, 2);
  run_sequence(runtime, [&](Sequence& sequence) { scale(sequence, alpha, a); });
  expect_matrix(a, mapped(x, [&](T e, Index, Index) { return alpha * e; }), 8);
  if (layout.symmetry == Symmetry::none) {
    std::vector<T> left, right;
    for (Index i = 0; i < a.rows(); ++i) left.push_back(random_scalar<T>(24, i, 0));
    for (Index j = 0; j < a.cols(); ++j) right.push_back(random_scalar<T>(25, j, 0));
    run_sequence(runtime, [&](Sequence& sequence) {
      scale_by_vector(sequence, Side::left, std::span<const T>(left), a);
      scale_by_vector(sequence, Side::right, std::span<const T>(right), a);
    });
    expect_matrix(
        a,
        mapped(x, [&](T e, Index i,
                      Index j) { return left[std::size_t(i)] * (alpha * e) * right[std::size_t(j)]; }),
        32);
  }
  run_sequence(runtime, [&](Sequence& sequence) { scale(sequence, T(0), a); });
  expect_matrix(a, Matrix<T>(a.rows(), a.cols()));
}

template <class T>
void check_set_all(Runtime& runtime, const BlockLayout& layout) {
  auto [a, x] = make_problem<T>(runtime, layout, 26);
  const T value = some_factor<T>(Symmetry::none, 0.75, -3);
  // set_all also applies to values that were never written.
  BlockSparseMatrix<T> fresh(a.pattern_pointer());
  run_sequence(runtime, [&](Sequence& sequence) {
    set_all(sequence, value, a);
    set_all(sequence, value, fresh);
  });
  const Matrix<T> expected =
      blocks_kept(from_lower_half(mapped(x, [&](T, Index, Index) { return value; }), layout.symmetry), layout,
                  [&](Index i, Index j) { return chosen(26, layout.symmetry, i, j, 0.5); });
  expect_matrix(a, expected);
  expect_matrix(fresh, expected);
}

template <class T>
void check_diagonal(Runtime& runtime, const BlockLayout& layout) {
  auto [a, x] = make_problem<T>(runtime, layout, 27);
  const Index length = std::min(a.rows(), a.cols());
  const auto diagonal_of = [&](const Matrix<T>& dense) {
    std::vector<T> diagonal;
    for (Index i = 0; i < length; ++i) diagonal.push_back(dense(i, i));
    return diagonal;
  };
  EXPECT_EQ(get_diagonal(a), diagonal_of(x));
  if (layout.symmetry == Symmetry::antisymmetric) return;
  std::vector<T> v;
  for (Index i = 0; i < length; ++i)
    v.push_back(some_factor<T>(layout.symmetry, random_uniform(28, 0, i, 0), random_uniform(28, 1, i, 0)));
  run_sequence(runtime, [&](Sequence& sequence) { set_diagonal(sequence, std::span<const T>(v), a); });
  const Matrix<T> with_v = mapped(x, [&](T e, Index i, Index j) {
    return i == j && chosen(27, layout.symmetry, layout.rows->block_of(i), layout.cols->block_of(j), 0.5)
               ? v[std::size_t(i)]
               : e;
  });
  expect_matrix(a, with_v);
  if (a.rows() != a.cols()) return;
  const T alpha = some_factor<T>(layout.symmetry, 2, 0.5);
  run_sequence(runtime, [&](Sequence& sequence) { add_on_diagonal(sequence, alpha, a); });
  const Matrix<T> with_alpha = mapped(with_v, [&](T e, Index i, Index j) { return i == j ? e + alpha : e; });
  expect_matrix(a, with_alpha, 4);
  EXPECT_EQ(get_diagonal(a), diagonal_of(gathered(a)));
  const BlockPatternPointer before = a.pattern_pointer();
  run_sequence(runtime, [&](Sequence& sequence) { add_on_diagonal(sequence, -alpha, a); });
  EXPECT_EQ(a.pattern_pointer(), before);
  expect_matrix(a, with_v, 8);
}

template <class T>
void check_hadamard(Runtime& runtime, const BlockLayout& layout, const BlockLayout& other,
                    Symmetry expected_symmetry) {
  auto [a, x] = make_problem<T>(runtime, layout, 29);
  auto [b, y] = make_problem<T>(runtime, other, 30);
  BlockSparseMatrix<T> c, square;
  run_sequence(runtime, [&](Sequence& sequence) {
    c = hadamard_product(sequence, a, b);
    square = hadamard_product(sequence, a, a);
  });
  EXPECT_EQ(c.symmetry(), expected_symmetry);
  EXPECT_TRUE(c.layout().same_places(layout));
  expect_matrix(c, mapped(x, [&, &y = y](T e, Index i, Index j) { return e * y(i, j); }), 8);
  expect_matrix(square, mapped(x, [](T e, Index, Index) { return e * e; }), 8);
  const auto product = c.pattern().gathered();
  for (Index i = 0; i < a.block_rows(); ++i)
    for (Index j = 0; j < a.block_cols(); ++j)
      if (layout.stores(i, j) && layout.rows->size(i) > 0 && layout.cols->size(j) > 0) {
        EXPECT_EQ(product->find(i, j).has_value(),
                  chosen(29, layout.symmetry, i, j, 0.5) && chosen(30, other.symmetry, i, j, 0.5));
      }
}

/// f(first x + second) in stored blocks, zero elsewhere, from the standard library in precision T.
template <class T, class F>
void check_function(Runtime& runtime, const BlockLayout& layout, ElementFunction f, const F& reference,
                    T first, T second) {
  SCOPED_TRACE(::testing::Message() << "function " << static_cast<int>(f));
  auto [a, x] = make_problem<T>(runtime, layout, 31);
  run_sequence(runtime, [&](Sequence& sequence) { function_of_elements(sequence, f, first, second, a); });
  const Matrix<T> expected =
      blocks_kept(mapped(x, [&](T e, Index, Index) { return T(reference(first * e + second)); }), layout,
                  [&](Index i, Index j) { return chosen(31, layout.symmetry, i, j, 0.5); });
  expect_matrix(a, expected, 256);
}

/// Operations that treat every panel independently, whatever the distribution.
template <class T>
void check_functions(Runtime& runtime, const BlockLayout& layout) {
  using enum ElementFunction;
  using F = ElementFunction;
  const Symmetry symmetry = layout.symmetry;
  const bool odd_only = symmetry == Symmetry::antisymmetric;
  const T first = some_factor<T>(symmetry, 0.5, 0.25), small = first;
  const T second = odd_only ? T(0) : some_factor<T>(symmetry, 2, 0.125);
  check_function(
      runtime, layout, F::tanh, [](T x) { return std::tanh(x); }, first, second);
  check_function(
      runtime, layout, F::sin, [](T x) { return std::sin(x); }, first, second);
  if (!odd_only) {
    check_function(
        runtime, layout, inverse, [](T x) { return T(1) / x; }, first, second);
    check_function(
        runtime, layout, F::cos, [](T x) { return std::cos(x); }, first, second);
    check_function(
        runtime, layout, absolute, [](T x) { return std::abs(x); }, first, second);
    check_function(
        runtime, layout, tanh_derivative, [](T x) { return T(1) / (std::cosh(x) * std::cosh(x)); }, first,
        second);
    if (!is_complex<T> || symmetry != Symmetry::hermitian)
      check_function(
          runtime, layout, square_root, [](T x) { return std::sqrt(x); }, first, second);
  }
  if constexpr (!is_complex<T>) {
    check_function(
        runtime, layout, F::asin, [](T x) { return std::asin(x); }, small, T(0));
    check_function(
        runtime, layout, artanh, [](T x) { return std::atanh(x); }, small, T(0));
    check_function(
        runtime, layout, truncate, [](T x) { return std::min(T(1), std::max(T(-1), x)); }, T(3), T(0));
  } else {
    auto [a, x] = make_problem<T>(runtime, layout, 31);
    for (const ElementFunction f : {artanh, F::asin, truncate}) {
      Sequence sequence(runtime);
      expect_refused("f", [&, &m = a] { function_of_elements(sequence, f, T(1), T(0), m); });
    }
  }
}

template <class T>
void check_arithmetic(Runtime& runtime, unsigned seed,
                      const std::vector<Symmetry>& symmetries = all_symmetries) {
  const std::vector<Index> sizes = mixed_sizes();
  for_each_symmetry<T>(
      runtime, seed, symmetries, [&](Symmetry symmetry, const BlockLayout& first, const BlockLayout& second) {
        check_add<T>(runtime, first, first);
        check_add<T>(runtime, first, second);
        check_scale<T>(runtime, first);
        check_set_all<T>(runtime, first);
        check_diagonal<T>(runtime, first);
        const Symmetry square = symmetry == Symmetry::antisymmetric ? Symmetry::symmetric : symmetry;
        check_hadamard<T>(runtime, first, first, square);
        check_hadamard<T>(runtime, first, second, square);
        if (runtime.size() == 1) check_functions<T>(runtime, first);
        if (symmetry == Symmetry::none) return;
        // A matrix that stores both halves accepts an operand of any symmetry.
        const BlockLayout whole = random_layout(runtime, sizes, sizes, Symmetry::none, seed + 2);
        check_add<T>(runtime, whole, first);
        check_hadamard<T>(runtime, whole, first, Symmetry::none);
      });
  if (runtime.size() > 1) return;
  check_hadamard<T>(runtime, random_layout(runtime, sizes, sizes, Symmetry::symmetric, seed),
                    random_layout(runtime, sizes, sizes, Symmetry::antisymmetric, seed + 1),
                    Symmetry::antisymmetric);
}

template <class T>
void check_rectangular_arithmetic(Runtime& runtime, const std::vector<Index>& rows,
                                  const std::vector<Index>& cols, unsigned seed) {
  for_rectangle<T>(runtime, rows, cols, seed, [&](const BlockLayout& first, const BlockLayout& second) {
    check_add<T>(runtime, first, second);
    check_scale<T>(runtime, first);
    check_set_all<T>(runtime, first);
    check_diagonal<T>(runtime, first);
    check_hadamard<T>(runtime, first, second, Symmetry::none);
    if (runtime.size() == 1) check_functions<T>(runtime, first);
  });
}

}  // namespace tessera::operations_test
