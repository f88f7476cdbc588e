// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>

#include <tessera/codelets/dense/kernels/panel_kernels.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class PanelKernels : public ::testing::Test {
 public:
  /// H = I - V T V^H from V and T of an m x n panel.
  static Matrix<T> reflector(const Matrix<T>& v, const Matrix<T>& t) {
    return multiply(Op::none, multiply(v, t), Op::adjoint, v, T(-1), T(1), identity<T>(v.rows()));
  }
  static double orthogonality(const Matrix<T>& q) {
    return difference(multiply(Op::adjoint, q, Op::none, q), identity<T>(q.cols()));
  }
  static double tolerance(Index m, Index n) { return 20 * double(m + n) * precision<T>; }
};
TYPED_TEST_SUITE(PanelKernels, Scalars);

TYPED_TEST(PanelKernels, HouseholderPanelOfAnyShape) {
  using T = TypeParam;
  for (const Index m : {1, 2, 3, 5, 8, 17})
    for (const Index n : {1, 2, 3, 8})
      for (const int kind : {0, 1, 2}) {
        SCOPED_TRACE(::testing::Message() << m << " x " << n << " kind " << kind);
        // Random, zero, and rank-one panels.
        const auto a = kind == 0   ? random_matrix<T>(m, n, 5)
                       : kind == 1 ? Matrix<T>(m, n)
                                   : multiply(random_matrix<T>(m, 1, 3), random_matrix<T>(1, n, 4));
        Matrix<T> v(m, n, 2), t(n, n, 1), r(n, n);
        v.set_block(0, 0, a);
        std::vector<T> tau(n), work(64 * n);
        kernels::householder_panel<T>(v.view(), t.view(), r.view(), tau.data(), work.data());
        const auto h = this->reflector(v, t);
        EXPECT_LE(this->orthogonality(h), this->tolerance(m, n));
        Matrix<T> r_above_zeros(m, n);
        for (Index j = 0; j < n; ++j)
          for (Index i = 0; i < n; ++i) {
            if (i < m) r_above_zeros(i, j) = r(i, j);
            if (i > j || i >= m) {
              EXPECT_EQ(r(i, j), T(0));
            }
            if (i > j) {
              EXPECT_EQ(t(i, j), T(0));
            }
          }
        for (Index j = 0; j < n; ++j)
          for (Index i = 0; i < std::min(m, j + 1); ++i) EXPECT_EQ(v(i, j), T(i == j && j < m ? 1 : 0));
        EXPECT_LE(difference(multiply(h, r_above_zeros), a), this->tolerance(m, n) * 4);
      }
}

TYPED_TEST(PanelKernels, ThinQrOfAnyShape) {
  using T = TypeParam;
  for (const Index m : {1, 2, 5, 19})
    for (const Index n : {1, 3, 8}) {
      SCOPED_TRACE(::testing::Message() << m << " x " << n);
      const auto a = random_matrix<T>(m, n, 6);
      Matrix<T> q(m, n, 3), r(n, n);
      q.set_block(0, 0, a);
      std::vector<T> tau(n), work(64 * n);
      kernels::thin_qr<T>(q.view(), r.view(), tau.data(), work.data());
      const Index k = std::min(m, n);
      const auto thin = q.block(0, 0, m, k);
      EXPECT_LE(this->orthogonality(thin), this->tolerance(m, n));
      EXPECT_LE(difference(multiply(thin, r.block(0, 0, k, n)), a), this->tolerance(m, n));
      EXPECT_EQ(difference(triangle(r, Uplo::upper), r), 0);
    }
}

TYPED_TEST(PanelKernels, ReconstructionGivesBackQ) {
  using T = TypeParam;
  for (const Index b : {1, 2, 3, 8, 13})
    for (const Index m : {b, b + 1, 3 * b + 2}) {
      SCOPED_TRACE(::testing::Message() << m << " x " << b);
      // Orthonormal columns: random ones, the first columns of the identity, and the latter with
      // some signs changed.
      for (const int kind : {0, 1, 2}) {
        Matrix<T> q(m, b), r(b, b);
        std::vector<T> tau(b), work(64 * b);
        if (kind == 0) {
          q = random_matrix<T>(m, b, 11);
          kernels::thin_qr<T>(q.view(), r.view(), tau.data(), work.data());
        } else {
          for (Index j = 0; j < b; ++j) q(j, j) = T(kind == 2 && j % 2 ? -1 : 1);
        }
        r = triangle(random_matrix<T>(b, b, 12), Uplo::upper);
        Matrix<T> q1 = q.block(0, 0, b, b), v1(b, b), x(b, b), t(b, b), band(b, b);
        kernels::reconstruct_householder<T>(q1.view(), std::as_const(r).view(), v1.view(), x.view(), t.view(),
                                            band.view());
        Matrix<T> v(m, b);
        v.set_block(0, 0, v1);
        v.set_block(b, 0, multiply(q.block(b, 0, m - b, b), x));
        for (Index j = 0; j < b; ++j)
          for (Index i = 0; i <= j; ++i) EXPECT_EQ(v(i, j), T(i == j ? 1 : 0));
        EXPECT_EQ(difference(triangle(t, Uplo::upper), t), 0);
        const auto h = this->reflector(v, t);
        EXPECT_LE(this->orthogonality(h), this->tolerance(m, b));
        // S from band = S R must have one sign in each row.
        Matrix<T> s(b, b);
        for (Index j = 0; j < b; ++j) {
          s(j, j) = band(j, j) / r(j, j);
          EXPECT_LE(std::abs(std::abs(s(j, j)) - 1), precision<T> * 4);
        }
        EXPECT_LE(difference(multiply(s, r), band), precision<T> * 16);
        EXPECT_LE(difference(multiply(h.block(0, 0, m, b), s), q), this->tolerance(m, b));
      }
    }
}

TYPED_TEST(PanelKernels, GramCholeskySaysNoWhenThereIsNone) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (const Index b : {1, 2, 7}) {
    const auto p = random_matrix<T>(3 * b + 4, b, 21);
    const auto gram = multiply(Op::adjoint, p, Op::none, p);
    // The lower triangle must not be read.
    const auto upper = poison_other_triangle(gram, Uplo::upper);
    Matrix<T> r = random_matrix<T>(b, b, 22);
    ASSERT_TRUE(kernels::gram_cholesky<T>(upper.view(), r.view()));
    EXPECT_EQ(difference(triangle(r, Uplo::upper), r), 0);
    EXPECT_LE(difference(multiply(Op::adjoint, r, Op::none, r), gram),
              this->tolerance(3 * b + 4, b) * double(b));

    for (const R bad :
         {R(-1), R(0), std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
      auto other = gram;
      other(b - 1, b - 1) = T(bad);
      EXPECT_FALSE(kernels::gram_cholesky<T>(std::as_const(other).view(), r.view())) << bad << " b " << b;
    }
    if (b > 1) {
      auto other = gram;
      other(0, b - 1) = not_a_number<T>();
      EXPECT_FALSE(kernels::gram_cholesky<T>(std::as_const(other).view(), r.view()));
    }
  }
}

TYPED_TEST(PanelKernels, DistanceFromIdentityIsTheFrobeniusNorm) {
  using T = TypeParam;
  for (const Index n : {1, 2, 6}) {
    const auto g = random_hermitian<T>(n, 31);
    double sum = 0;
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) sum += std::norm(g(i, j) - T(i == j));
    const auto upper = poison_other_triangle(g, Uplo::upper);
    EXPECT_NEAR(kernels::distance_from_identity<T>(upper.view()), std::sqrt(sum), 20 * precision<T>);
    auto broken = g;
    broken(0, n - 1) = not_a_number<T>();
    EXPECT_TRUE(std::isnan(kernels::distance_from_identity<T>(std::as_const(broken).view())));
  }
}

}  // namespace
}  // namespace tessera::test
