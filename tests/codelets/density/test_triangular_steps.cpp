// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/density/triangular_steps.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class TriangularSteps : public RuntimeTest<T> {
 protected:
  /// Of moderate condition; NaN above the diagonal.
  static Matrix<T> factor(Index n) {
    Matrix<T> l = random_matrix<T>(n, n, 3);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < j; ++i) l(i, j) = not_a_number<T>();
      for (Index i = j + 1; i < n; ++i) l(i, j) *= RealOf<T>(1 / std::sqrt(double(n)));
      l(j, j) = T(RealOf<T>(1.5 + 0.5 * std::abs(l(j, j))));
    }
    return l;
  }
  Matrix<T> inverse(const Matrix<T>& l) {
    Runtime& runtime = this->runtime();
    const Index n = l.rows();
    const Data data = upload(runtime, l), z = Data::matrix(runtime, n, n, sizeof(T));
    const Data work = runtime.any_gpus()
                          ? Data::scratch(runtime, static_cast<std::size_t>(inverse_work(n)) * sizeof(T))
                          : Data();
    EXPECT_TRUE(this->run([&](Sequence& s) {
      s.insert(InvertTriangle<T>{.l = data, .z = z, .work = work.valid() ? &work : nullptr, .n = n});
    }));
    return download<T>(z);
  }
};
TYPED_TEST_SUITE(TriangularSteps, Scalars);

TYPED_TEST(TriangularSteps, InverseOfAFactor) {
  using T = TypeParam;
  for (const Index n : {1, 7, 32, 33, 64, 100, 129, 321}) {
    SCOPED_TRACE(::testing::Message() << "order " << n);
    const auto l = this->factor(n);
    const auto z = this->inverse(l);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < j; ++i) EXPECT_EQ(z(i, j), T(0));
    EXPECT_LE(difference(multiply(triangle(l, Uplo::lower), z), identity<T>(n)),
              50 * double(n) * precision<T>);
  }
}

/// By what they do to a few vectors: orders above a strip's width.
TYPED_TEST(TriangularSteps, Products) {
  using T = TypeParam;
  for (const Index n : {5, 600}) {
    SCOPED_TRACE(::testing::Message() << "order " << n);
    const auto z = triangle(random_matrix<T>(n, n, 1), Uplo::lower), b = random_hermitian<T>(n, 2);
    const auto x = random_matrix<T>(n, 3, 7);
    const Data data_z = upload(this->runtime(), z), data_b = upload(this->runtime(), b);
    const double tolerance = 20 * double(n) * double(n) * precision<T>;
    Matrix<T> zb;
    for (const Op op : {Op::adjoint, Op::none}) {
      const Data c = Data::matrix(this->runtime(), n, n, sizeof(T));
      ASSERT_TRUE(this->run([&](Sequence& s) {
        s.insert(TriangularProduct<T>{.z = data_z, .b = data_b, .c = c, .op = op, .n = n});
      }));
      zb = download<T>(c);
      EXPECT_LE(difference(multiply(zb, x), multiply(op, z, Op::none, multiply(b, x))), tolerance);
    }
    const Data data_zb = upload(this->runtime(), zb), c = Data::matrix(this->runtime(), n, n, sizeof(T));
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(LowerTriangularProduct<T>{.z = data_z, .b = data_zb, .c = c, .n = n});
    }));
    auto product = download<T>(c);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < j; ++i) product(i, j) = conjugate(product(j, i));
    EXPECT_LE(difference(multiply(product, x), multiply(zb, multiply(Op::adjoint, z, Op::none, x))),
              double(n) * tolerance);
  }
}

}  // namespace
}  // namespace tessera::test
