// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include <gtest/gtest.h>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/dense/check.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class Check : public RuntimeTest<T> {};
TYPED_TEST_SUITE(Check, Scalars);

/// For arbitrary vectors and values the scaled errors must equal those of plain loops.
TYPED_TEST(Check, ErrorsAreThoseOfTheDefinition) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (const Index n : {1, 3, 40, 300})
    for (const bool generalized : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "n " << n << " generalized " << generalized);
      const Index count = std::min<Index>(n, 17);
      const auto a = random_hermitian<T>(n, 1), b = generate<T>("overlap", n, 2);
      auto z = random_matrix<T>(n, count, 3);
      std::vector<R> w(static_cast<std::size_t>(count));
      for (Index k = 0; k < count; ++k) w[k] = R(0.1) * R(k);
      const auto reference = w;
      const auto expected = eigen_errors(a, generalized ? &b : nullptr, w, &z, reference, 0);
      auto copy_a = poison_other_triangle(a, Uplo::upper), copy_b = b;
      auto tiles_a =
          TiledMatrix<T>::wrap(this->runtime(), copy_a.data(), copy_a.ld(), {n, n, 50, 50, {}, Uplo::upper});
      auto tiles_b = TiledMatrix<T>::wrap(this->runtime(), copy_b.data(), copy_b.ld(),
                                          {n, n, 64, 30, {}, Uplo::general});
      auto slabs = ColumnSlabs<T>::wrap(this->runtime(), z.data(), z.ld(), n, count, 5);
      const EigenCheck check =
          check_eigenpairs<T>(this->runtime(), tiles_a, generalized ? &tiles_b : nullptr, w, slabs);
      EXPECT_NEAR(check.norm_a, norm_1(a), 1e-4 * norm_1(a));
      EXPECT_NEAR(check.residual, expected.residual, 1e-3 * expected.residual);
      EXPECT_NEAR(check.orthogonality, expected.orthogonality, 1e-3 * expected.orthogonality);
      EXPECT_NEAR(hermitian_norm<T>(this->runtime(), tiles_a), norm_1(a), 1e-4 * norm_1(a));
      if (generalized) {
        EXPECT_NEAR(check.norm_b, norm_1(b), 1e-4 * norm_1(b));
      }
    }
}

/// A wrong value, vector or scale must be detected.
TYPED_TEST(Check, FaultsAreSeen) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index n = 60;
  auto a = generate<T>("diagonal", n);
  auto z = identity<T>(n);
  std::vector<R> w;
  for (Index i = 0; i < n; ++i) w.push_back(real_part(a(i, i)));
  auto tiles = TiledMatrix<T>::wrap(this->runtime(), a.data(), a.ld(), {n, n, 25, 25, {}, Uplo::lower});
  const auto check = [&] {
    auto slabs = ColumnSlabs<T>::wrap(this->runtime(), z.data(), z.ld(), n, n, 16);
    return check_eigenpairs<T>(this->runtime(), tiles, nullptr, w, slabs);
  };
  EXPECT_EQ(check().residual, 0);
  EXPECT_EQ(check().orthogonality, 0);
  w[n - 1] += R(1000) * R(n) * precision<T>;
  EXPECT_GT(check().residual, 30);
  w[n - 1] = real_part(a(n - 1, n - 1));
  z(n - 1, n - 1) = T(R(1) + R(100) * R(n) * precision<T>);
  EXPECT_GT(check().orthogonality, 30);
  z(n - 1, n - 1) = T(1);
  z(0, n - 1) = T(R(100) * R(n) * precision<T>);  // not orthogonal to a column of another slab
  EXPECT_GT(check().orthogonality, 30);
  z(0, n - 1) = not_a_number<T>();
  EXPECT_FALSE(check().residual < 30);
  EXPECT_FALSE(check().orthogonality < 30);
}

TYPED_TEST(Check, ValuesAgainstAReference) {
  using R = RealOf<TypeParam>;
  const std::vector<R> reference{1, 2, 3};
  std::vector<R> values = reference;
  const auto error = [&] { return check_values<R>(values, reference, 10, 4); };
  EXPECT_EQ(error(), 0);
  values[1] += R(80) * std::numeric_limits<R>::epsilon();
  EXPECT_NEAR(error(), 2, 1e-6);
  values[2] = std::numeric_limits<R>::quiet_NaN();
  EXPECT_FALSE(error() < 30);
}

}  // namespace
}  // namespace tessera::test
