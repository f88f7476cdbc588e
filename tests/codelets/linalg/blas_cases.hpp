// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tests/support/matrix.hpp>

#include <tessera/codelets/linalg/blas.hpp>

/// Calls of tessera::detail::la with odd shapes, and expected results from plain loops.
namespace tessera::test {
using namespace detail;

/// operation(on, a, b, c) changes C to `expected`; only `part` of it is compared.
template <class T>
struct BlasCase {
  std::string what;
  Matrix<T> a, b, c, expected;
  Uplo part = Uplo::general;
  Index terms = 0;  ///< number of terms in the sums
};

inline constexpr Op all_ops[] = {Op::none, Op::transpose, Op::adjoint};
inline constexpr Uplo both_triangles[] = {Uplo::lower, Uplo::upper};
inline constexpr Side both_sides[] = {Side::left, Side::right};

template <class T>
Matrix<T> scaled(T alpha, Matrix<T> a) {
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) a(i, j) *= alpha;
  return a;
}

template <class T, class Check>
void check_products(const Check& check) {
  struct Shape {
    Index m, n, k;
  };
  const T alpha = random_scalar<T>(9, 1, 2);
  for (const auto& [m, n, k] : {Shape{1, 1, 1}, {3, 2, 5}, {7, 13, 1}, {1, 33, 17}, {31, 9, 40}})
    for (const Op op_a : all_ops)
      for (const Op op_b : all_ops)
        for (const T beta : {T(0), T(1), random_scalar<T>(9, 3, 4)}) {
          const auto a = op_a == Op::none ? random_matrix<T>(m, k, 1, 2) : random_matrix<T>(k, m, 1, 2),
                     b = op_b == Op::none ? random_matrix<T>(k, n, 2, 1) : random_matrix<T>(n, k, 2, 1);
          const auto c = beta == T(0) ? scaled(not_a_number<T>(), random_matrix<T>(m, n, 3, 3))
                                      : random_matrix<T>(m, n, 3, 3);
          check(BlasCase<T>{"gemm", a, b, c, multiply(op_a, a, op_b, b, alpha, beta, c), Uplo::general, k},
                [=, op_a = op_a, op_b = op_b](const auto& on, auto x, auto y, auto z) {
                  la::gemm(on, op_a, op_b, alpha, x, y, beta, z);
                });
        }
}

template <class T, class Check>
void check_rank_updates(const Check& check) {
  const T alpha = random_scalar<T>(9, 1, 2);
  const RealOf<T> factor = RealOf<T>(-0.75);
  for (const auto& [n, k] : {std::pair<Index, Index>{1, 1}, {5, 3}, {33, 7}, {13, 40}})
    for (const Uplo uplo : both_triangles)
      for (const Op op : {Op::none, Op::adjoint}) {
        const Op other = op == Op::none ? Op::adjoint : Op::none;
        const auto a = op == Op::none ? random_matrix<T>(n, k, 1, 2) : random_matrix<T>(k, n, 1, 2),
                   b = op == Op::none ? random_matrix<T>(n, k, 2, 1) : random_matrix<T>(k, n, 2, 1);
        const auto c = random_hermitian<T>(n, 3), poisoned = poison_other_triangle(c, uplo);
        check(BlasCase<T>{"herk", a, b, poisoned, multiply(op, a, other, a, T(factor), T(1), c), uplo, k},
              [=](const auto& on, auto x, auto, auto z) { la::herk(on, uplo, op, factor, x, 1, z); });
        const auto half = multiply(op, a, other, b, alpha, T(1), c);
        check(BlasCase<T>{"her2k", a, b, poisoned, multiply(op, b, other, a, conjugate(alpha), T(1), half),
                          uplo, 2 * k},
              [=](const auto& on, auto x, auto y, auto z) { la::her2k(on, uplo, op, alpha, x, y, 1, z); });
      }
}

template <class T, class Check>
void check_hermitian_products(const Check& check) {
  const T alpha = random_scalar<T>(9, 1, 2), beta = random_scalar<T>(9, 3, 4);
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {5, 3}, {33, 7}, {2, 19}})
    for (const Side side : both_sides)
      for (const Uplo uplo : both_triangles) {
        const auto a = random_hermitian<T>(side == Side::left ? m : n, 1);
        const auto b = random_matrix<T>(m, n, 2, 1), c = random_matrix<T>(m, n, 3, 2);
        const auto expected = side == Side::left ? multiply(Op::none, a, Op::none, b, alpha, beta, c)
                                                 : multiply(Op::none, b, Op::none, a, alpha, beta, c);
        check(
            BlasCase<T>{"hemm", poison_other_triangle(a, uplo), b, c, expected, Uplo::general, a.rows()},
            [=](const auto& on, auto x, auto y, auto z) { la::hemm(on, side, uplo, alpha, x, y, beta, z); });
      }
}

/// Products with triangular matrices and their inverses, and copies.
template <class T, class Check>
void check_triangles(const Check& check) {
  const T alpha(2);
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {5, 3}, {33, 7}, {2, 19}})
    for (const Side side : both_sides)
      for (const Uplo uplo : both_triangles)
        for (const Op op : all_ops)
          for (const Diag diag : {Diag::non_unit, Diag::unit}) {
            const Index order = side == Side::left ? m : n;
            auto a = scaled(T(RealOf<T>(1) / RealOf<T>(order)), random_matrix<T>(order, order, 1));
            for (Index i = 0; i < order; ++i) a(i, i) = diag == Diag::unit ? T(1) : T(RealOf<T>(1 + i % 3));
            const auto factor = triangle(a, uplo);
            a = poison_other_triangle(a, uplo);
            for (Index i = 0; i < order && diag == Diag::unit; ++i) a(i, i) = not_a_number<T>();
            const auto x = random_matrix<T>(m, n, 2, 1);
            const auto product = side == Side::left ? multiply(op, factor, Op::none, x, alpha)
                                                    : multiply(Op::none, x, op, factor, alpha);
            check(BlasCase<T>{"trmm", a, x, x, product, Uplo::general, 4 * order},
                  [=](const auto& on, auto t, auto, auto z) {
                    la::trmm(on, side, uplo, op, diag, alpha, t, z);
                  });
            check(BlasCase<T>{"trsm", a, x, product, scaled(alpha * alpha, x), Uplo::general, 16 * order},
                  [=](const auto& on, auto t, auto, auto z) {
                    la::trsm(on, side, uplo, op, diag, alpha, t, z);
                  });
          }
  const auto a = random_matrix<T>(7, 5, 1, 2);
  check(BlasCase<T>{"copy", a, a, Matrix<T>(7, 5, 3), a},
        [](const auto& on, auto x, auto, auto z) { la::copy(on, x, z); });
}

template <class T, class Check>
void check_all_blas(const Check& check) {
  check_products<T>(check);
  check_rank_updates<T>(check);
  check_hermitian_products<T>(check);
  check_triangles<T>(check);
}

}  // namespace tessera::test
