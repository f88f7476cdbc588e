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

TYPED_TEST(TriangularSteps, Products) {
  using T = TypeParam;
  for (const Index n : {5, 600}) {
    SCOPED_TRACE(::testing::Message() << "order " << n);
    auto z = triangle(random_matrix<T>(n, n, 1), Uplo::lower);
    const auto b = random_hermitian<T>(n, 2);
    const Data data_z = upload(this->runtime(), z), data_b = upload(this->runtime(), b);
    const double tolerance = 20 * double(n) * precision<T>;
    for (const Op op : {Op::none, Op::adjoint}) {
      const Data c = Data::matrix(this->runtime(), n, n, sizeof(T));
      ASSERT_TRUE(this->run([&](Sequence& s) {
        s.insert(TriangularProduct<T>{.z = data_z, .b = data_b, .c = c, .op = op, .n = n});
      }));
      EXPECT_LE(difference(download<T>(c), multiply(op, z, Op::none, b)), tolerance);
    }
    const auto zb = multiply(z, b);
    const Data data_zb = upload(this->runtime(), zb), c = Data::matrix(this->runtime(), n, n, sizeof(T));
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(LowerTriangularProduct<T>{.z = data_z, .b = data_zb, .c = c, .n = n});
    }));
    EXPECT_LE(difference(download<T>(c), multiply(Op::none, zb, Op::adjoint, z), Uplo::lower),
              20 * tolerance);
  }
}

}  // namespace
}  // namespace tessera::test
