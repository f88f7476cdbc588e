// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/dense/back_band.hpp>
#include <tessera/algorithms/dense/cholesky.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class Cholesky : public RuntimeTest<T> {
 public:
  static TiledMatrix<T> tiles(Matrix<T>& a, Index tile) {
    return TiledMatrix<T>::wrap(RuntimeTest<T>::runtime(), a.data(), a.ld(),
                                {a.rows(), a.rows(), tile, tile, {}, Uplo::lower});
  }
};
TYPED_TEST_SUITE(Cholesky, Scalars);

/// Tiled L, L^-1 A L^-H and L^-H X against products of whole matrices.
TYPED_TEST(Cholesky, FactorStandardFormAndBackSubstitution) {
  using T = TypeParam;
  for (const Index n : {1, 2, 7, 30, 61})
    for (const Index tile : {Index(1), Index(6), Index(16), n, n + 5}) {
      if (n > 10 && tile == 1) continue;
      SCOPED_TRACE(::testing::Message() << "n " << n << " tile " << tile);
      const auto b = generate<T>("overlap", n, 1), a = random_hermitian<T>(n, 2);
      const auto x = random_matrix<T>(n, 5, 3);
      auto l = poison_other_triangle(b, Uplo::lower), c = poison_other_triangle(a, Uplo::lower), y = x;
      {
        auto tiles_l = this->tiles(l, tile), tiles_c = this->tiles(c, tile);
        auto slabs = ColumnSlabs<T>::wrap(this->runtime(), y.data(), y.ld(), n, 5, 2);
        ASSERT_TRUE(this->run([&](Sequence& s) {
          cholesky<T>(s, tiles_l);
          to_standard<T>(s, tiles_c, tiles_l);
          to_general<T>(s, tiles_l, slabs);
        }));
      }
      // The other triangle must not change.
      for (Index j = 1; j < n; ++j) EXPECT_TRUE(std::isnan(real_part(l(0, j))));
      const auto factor = triangle(l, Uplo::lower);
      const double tolerance = 20 * double(n) * precision<T>;
      EXPECT_LE(difference(multiply(Op::none, factor, Op::adjoint, factor), b), tolerance);
      auto standard = triangle(c, Uplo::lower);
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < j; ++i) standard(i, j) = conjugate(standard(j, i));
      EXPECT_LE(difference(multiply(Op::none, multiply(factor, standard), Op::adjoint, factor), a),
                10 * tolerance);
      EXPECT_LE(difference(multiply(Op::adjoint, factor, Op::none, y), x), 10 * tolerance);
    }
}

TYPED_TEST(Cholesky, NamesTheFirstLeadingMinorThatIsNotPositive) {
  using T = TypeParam;
  const Index n = 23;
  for (const Index minor : {1, 5, 6, 7, 18, 23}) {
    // L D L^H with small integers is exact for any summation order.
    auto l = identity<T>(n), d = identity<T>(n);
    for (Index j = 0; j + 1 < n; ++j) l(j + 1, j) = T(RealOf<T>(j % 3 - 1));
    d(minor - 1, minor - 1) = T(minor % 2 ? 0 : -2);
    auto b = multiply(Op::none, multiply(l, d), Op::adjoint, l);
    auto tiles = this->tiles(b, 6);
    const Status status = this->run([&](Sequence& s) { cholesky<T>(s, tiles); });
    EXPECT_EQ(status.code, StatusCode::not_positive_definite);
    EXPECT_EQ(status.stage, "test");
    EXPECT_EQ(status.index, minor);
  }
}

}  // namespace
}  // namespace tessera::test
