// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/dense/blas3.hpp>

namespace tessera::test {
using namespace detail;
namespace {

/// Parts of operands that a codelet must not read contain NaN; result triangles that it must not
/// write are compared.
template <class T>
class Blas3Codelets : public RuntimeTest<T> {
 public:
  static double tolerance(Index k) { return 10 * double(k + 2) * precision<T>; }
  struct Shape {
    Index m, n, k;
  };
  static constexpr Shape shapes[] = {{1, 1, 1}, {2, 3, 1}, {5, 5, 5}, {17, 9, 4}, {8, 16, 11}};
};
TYPED_TEST_SUITE(Blas3Codelets, Scalars);

TYPED_TEST(Blas3Codelets, HerkSubtract) {
  using T = TypeParam;
  for (const auto& [m, n, k] : this->shapes) {
    const auto a = random_matrix<T>(n, k, 1), c = random_hermitian<T>(n, 2);
    const Data data_a = upload(this->runtime(), a);
    const Data data_c = upload(this->runtime(), poison_other_triangle(c, Uplo::lower));
    ASSERT_TRUE(
        this->run([&](Sequence& s) { s.insert(HerkSubtract<T>{.a = data_a, .c = data_c, .n = n, .k = k}); }));
    const auto expected = multiply(Op::none, a, Op::adjoint, a, T(-1), T(1), c);
    EXPECT_LE(difference(download<T>(data_c), expected, Uplo::lower), this->tolerance(k));
  }
}

TYPED_TEST(Blas3Codelets, Her2kSubtract) {
  using T = TypeParam;
  for (const auto& [m, n, k] : this->shapes) {
    const auto a = random_matrix<T>(n, k, 1), b = random_matrix<T>(n, k, 2), c = random_hermitian<T>(n, 3);
    const Data data_a = upload(this->runtime(), a), data_b = upload(this->runtime(), b);
    const Data data_c = upload(this->runtime(), poison_other_triangle(c, Uplo::lower));
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(Her2kSubtract<T>{.a = data_a, .b = data_b, .c = data_c, .n = n, .k = k});
    }));
    auto expected = multiply(Op::none, a, Op::adjoint, b, T(-1), T(1), c);
    expected = multiply(Op::none, b, Op::adjoint, a, T(-1), T(1), expected);
    EXPECT_LE(difference(download<T>(data_c), expected, Uplo::lower), this->tolerance(2 * k));
  }
}

TYPED_TEST(Blas3Codelets, GemmPairSubtract) {
  using T = TypeParam;
  for (const auto& [m, n, k] : this->shapes) {
    const auto a1 = random_matrix<T>(m, k, 1), b1 = random_matrix<T>(n, k, 2), a2 = random_matrix<T>(m, k, 3),
               b2 = random_matrix<T>(n, k, 4), c = random_matrix<T>(m, n, 5);
    const Data d[] = {upload(this->runtime(), a1), upload(this->runtime(), b1), upload(this->runtime(), a2),
                      upload(this->runtime(), b2), upload(this->runtime(), c)};
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(GemmPairSubtract<T>{
          .a1 = d[0], .b1 = d[1], .a2 = d[2], .b2 = d[3], .c = d[4], .m = m, .n = n, .k = k});
    }));
    auto expected = multiply(Op::none, a1, Op::adjoint, b1, T(-1), T(1), c);
    expected = multiply(Op::none, a2, Op::adjoint, b2, T(-1), T(1), expected);
    EXPECT_LE(difference(download<T>(d[4]), expected), this->tolerance(2 * k));
  }
}

TYPED_TEST(Blas3Codelets, HemmRight) {
  using T = TypeParam;
  for (const auto& [m, n, k] : this->shapes) {
    const auto a = random_hermitian<T>(n, 1);
    const auto b = random_matrix<T>(m, n, 2), c = random_matrix<T>(m, n, 3);
    const T alpha = random_scalar<T>(9, 1, 2);
    const Data data_a = upload(this->runtime(), poison_other_triangle(a, Uplo::lower)),
               data_b = upload(this->runtime(), b), data_c = upload(this->runtime(), c);
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(HemmRight<T>{.a = data_a, .b = data_b, .c = data_c, .alpha = alpha, .m = m, .n = n});
    }));
    EXPECT_LE(difference(download<T>(data_c), multiply(Op::none, b, Op::none, a, alpha, T(1), c)),
              this->tolerance(n));
  }
}

TYPED_TEST(Blas3Codelets, TrsmOnBothSides) {
  using T = TypeParam;
  for (const auto& [m, n, k] : this->shapes)
    for (const Side side : {Side::left, Side::right})
      for (const Op op : {Op::none, Op::adjoint}) {
        const Index order = side == Side::left ? m : n;
        auto l = triangle(random_matrix<T>(order, order, 1), Uplo::lower);
        for (Index i = 0; i < order; ++i) l(i, i) = T(RealOf<T>(order + 1));
        const auto b = random_matrix<T>(m, n, 2);
        const Data data_l = upload(this->runtime(), poison_other_triangle(l, Uplo::lower)),
                   data_b = upload(this->runtime(), b);
        ASSERT_TRUE(this->run([&](Sequence& s) {
          s.insert(Trsm<T>{.l = data_l, .b = data_b, .side = side, .op = op, .m = m, .n = n});
        }));
        const auto x = download<T>(data_b);
        const auto back = side == Side::left ? multiply(op, l, Op::none, x) : multiply(Op::none, x, op, l);
        EXPECT_LE(difference(back, b), this->tolerance(order));
      }
}

TYPED_TEST(Blas3Codelets, PotrfAndHegst) {
  using T = TypeParam;
  for (const Index n : {1, 2, 3, 8, 19}) {
    const auto b = random_hermitian<T>(n, 1, 2.0 * n);
    const Data data_l = upload(this->runtime(), poison_other_triangle(b, Uplo::lower));
    const Data work = potrf_work<T>(this->runtime(), n);
    ASSERT_TRUE(this->run([&](Sequence& s) { s.insert(Potrf<T>{.a = data_l, .work = work, .n = n}); }));
    const auto l = triangle(download<T>(data_l), Uplo::lower);
    EXPECT_LE(difference(multiply(Op::none, l, Op::adjoint, l), b), this->tolerance(n) * double(n));

    const auto a = random_hermitian<T>(n, 2);
    const Data data_a = upload(this->runtime(), poison_other_triangle(a, Uplo::lower));
    ASSERT_TRUE(this->run([&](Sequence& s) { s.insert(Hegst<T>{.a = data_a, .l = data_l, .n = n}); }));
    auto c = download<T>(data_a);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < j; ++i) c(i, j) = conjugate(c(j, i));
    EXPECT_LE(difference(multiply(Op::none, multiply(l, c), Op::adjoint, l), a), this->tolerance(n) * 4);
  }
}

TYPED_TEST(Blas3Codelets, PotrfNamesTheLeadingMinor) {
  using T = TypeParam;
  const Index n = 9;
  for (const Index minor : {1, 4, 9}) {
    auto b = random_hermitian<T>(n, 1, 2.0 * n);
    b(minor - 1, minor - 1) = T(-1);
    const Data data = upload(this->runtime(), b);
    const Data work = potrf_work<T>(this->runtime(), n);
    const Status status = this->run(
        [&](Sequence& s) { s.insert(Potrf<T>{.a = data, .work = work, .n = n, .first_row = 100}); });
    EXPECT_EQ(status.code, StatusCode::not_positive_definite);
    EXPECT_EQ(status.stage, "test");
    EXPECT_EQ(status.index, 100 + minor);
  }
}

TYPED_TEST(Blas3Codelets, GemmOnPartsOfTiles) {
  using T = TypeParam;
  const Op ops[] = {Op::none, Op::transpose, Op::adjoint};
  const T alpha = random_scalar<T>(9, 1, 2);
  for (const auto& [m, n, k] : this->shapes)
    for (const Op op_a : ops)
      for (const Op op_b : ops)
        for (const T beta : {T(0), T(1)}) {
          const Index rows_a = op_a == Op::none ? m : k, cols_a = op_a == Op::none ? k : m;
          const Index rows_b = op_b == Op::none ? k : n, cols_b = op_b == Op::none ? n : k;
          const auto a = random_matrix<T>(rows_a + 3, cols_a + 1, 1);
          const auto b = random_matrix<T>(rows_b + 2, cols_b + 4, 2);
          const auto c = random_matrix<T>(m + 1, n + 2, 3);
          const Data data_a = upload(this->runtime(), a), data_b = upload(this->runtime(), b),
                     data_c = upload(this->runtime(), c);
          ASSERT_TRUE(this->run([&](Sequence& s) {
            s.insert(Gemm<T>{.a = data_a,
                             .b = data_b,
                             .c = beta == T(0) ? overwrite(data_c) : add_to(data_c),
                             .op_a = op_a,
                             .op_b = op_b,
                             .alpha = alpha,
                             .part_a = {3, 1, rows_a, cols_a},
                             .part_b = {1, 4, rows_b, cols_b},
                             .part_c = {1, 2, m, n}});
          }));
          auto expected = c;
          expected.set_block(1, 2,
                             multiply(op_a, a.block(3, 1, rows_a, cols_a), op_b,
                                      b.block(1, 4, rows_b, cols_b), alpha, beta, c.block(1, 2, m, n)));
          const auto result = download<T>(data_c);
          EXPECT_LE(difference(result.block(1, 2, m, n), expected.block(1, 2, m, n)), this->tolerance(k));
          if (beta != T(0)) {
            EXPECT_LE(difference(result, expected), this->tolerance(k));
          }
        }
}

}  // namespace
}  // namespace tessera::test
