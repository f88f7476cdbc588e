// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/density/hermitian_steps.hpp>

namespace tessera::test {
using namespace detail;
namespace {

/// Matrices one beside the other.
template <class T>
Matrix<T> side_by_side(const std::vector<Matrix<T>>& matrices) {
  const Index n = matrices.front().rows(), m = matrices.front().cols();
  Matrix<T> batch(n, m * Index(matrices.size()));
  for (Index k = 0; k < Index(matrices.size()); ++k)
    for (Index j = 0; j < m; ++j)
      for (Index i = 0; i < n; ++i) batch(i, k * m + j) = matrices[std::size_t(k)](i, j);
  return batch;
}
template <class T>
Matrix<T> part_of(const Matrix<T>& batch, Index k, Index m) {
  Matrix<T> one(batch.rows(), m);
  for (Index j = 0; j < m; ++j)
    for (Index i = 0; i < batch.rows(); ++i) one(i, j) = batch(i, k * m + j);
  return one;
}

template <class T>
class HermitianSteps : public RuntimeTest<T> {
 protected:
  static constexpr double eps = precision<T>;
  /// Work spaces where GPUs may take part.
  Data split_space(Index n, Index count) {
    return this->runtime().any_gpus() ? Data::scratch(this->runtime(), split_work(n, count)) : Data();
  }
  Data sums_space(Index count) {
    return this->runtime().any_gpus() ? Data::scratch(this->runtime(), sums_work(count)) : Data();
  }
  static std::vector<HermitianSums> read(const Data& sums) {
    const HostAccess access(sums, HostAccess::Mode::read);
    const auto values = access.array<HermitianSums>();
    return {values.begin(), values.end()};
  }
};
TYPED_TEST_SUITE(HermitianSteps, Scalars);

TYPED_TEST(HermitianSteps, SquaresOfABatch) {
  using T = TypeParam;
  for (const Index n : {1, 5, 8, 33, 130, 700})
    for (const Index count : {1, 3}) {
      if (n == 700 && count > 1) continue;
      SCOPED_TRACE(::testing::Message() << "order " << n << ", " << count << " matrices");
      std::vector<Matrix<T>> x;
      for (Index k = 0; k < count; ++k) {
        x.push_back(random_hermitian<T>(n, 10 + std::uint64_t(k)));
        // As iterates are: of norm about 1, with a large diagonal.
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < n; ++i) x.back()(i, j) *= RealOf<T>(0.3 / std::sqrt(double(n)));
          x.back()(j, j) += T(RealOf<T>(0.6));
        }
      }
      const Data data_x = upload(this->runtime(), side_by_side(x)), work = this->split_space(n, count);
      const Data data_c = Data::matrix(this->runtime(), n, n * count, sizeof(T));
      ASSERT_TRUE(this->run([&](Sequence& s) {
        s.insert(HermitianProduct<T>{.a = data_x,
                                     .b = data_x,
                                     .c = data_c,
                                     .work = work.valid() ? &work : nullptr,
                                     .n = n,
                                     .k = n,
                                     .count = count});
      }));
      const auto c = download<T>(data_c);
      for (Index k = 0; k < count; ++k)
        EXPECT_LE(difference(part_of(c, k, n),
                             multiply(Op::none, x[std::size_t(k)], Op::none, x[std::size_t(k)]), Uplo::lower),
                  // The low halves have 22 bits.
                  20 * this->eps);
    }
}

TYPED_TEST(HermitianSteps, ProductsOfTiles) {
  using T = TypeParam;
  const Index n = 150, k = 70;
  const auto a = random_matrix<T>(n, k, 1), c = random_hermitian<T>(n, 3);
  const auto adjoint = multiply(Op::adjoint, a, Op::none, identity<T>(n));
  for (const bool straight : {true, false}) {
    const Data data_a = upload(this->runtime(), straight ? a : adjoint), data_c = upload(this->runtime(), c);
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(HermitianProduct<T>{.a = data_a,
                                   .b = data_a,
                                   .c = add_to(data_c),
                                   .op_a = straight ? Op::none : Op::adjoint,
                                   .op_b = straight ? Op::adjoint : Op::none,
                                   .n = n,
                                   .k = k});
    }));
    EXPECT_LE(
        difference(download<T>(data_c), multiply(Op::none, a, Op::adjoint, a, T(1), T(1), c), Uplo::lower),
        10 * double(k) * this->eps);
  }
  // Two factors whose product is Hermitian: A and 2 A^H.
  Matrix<T> twice = adjoint;
  for (Index j = 0; j < twice.cols(); ++j)
    for (Index i = 0; i < twice.rows(); ++i) twice(i, j) *= RealOf<T>(2);
  const Data data_a = upload(this->runtime(), a), data_b = upload(this->runtime(), twice);
  const Data data_c = Data::matrix(this->runtime(), n, n, sizeof(T));
  ASSERT_TRUE(this->run([&](Sequence& s) {
    s.insert(HermitianProduct<T>{.a = data_a, .b = data_b, .c = data_c, .n = n, .k = k});
  }));
  EXPECT_LE(difference(download<T>(data_c), multiply(Op::none, a, Op::none, twice), Uplo::lower),
            20 * double(k) * this->eps);
}

TYPED_TEST(HermitianSteps, PolynomialsAndTheirSums) {
  using T = TypeParam;
  const double c0 = 0.25, c1 = -0.5, c2 = 1.5;
  for (const bool diagonal : {true, false})
    for (const Index n : {1, 31, 64, 97})
      for (const Index count : {1, 2}) {
        if (!diagonal && count > 1) continue;
        SCOPED_TRACE(::testing::Message() << "order " << n << (diagonal ? "" : " beside the diagonal"));
        const Index rows = diagonal ? n : n + 3;
        std::vector<Matrix<T>> x, y, poisoned;
        for (std::uint64_t k = 0; k < std::uint64_t(count); ++k) {
          x.push_back(diagonal ? random_hermitian<T>(n, 1 + k) : random_matrix<T>(rows, n, 1 + k));
          y.push_back(diagonal ? random_hermitian<T>(n, 7 + k) : random_matrix<T>(rows, n, 7 + k));
          poisoned.push_back(diagonal ? poison_other_triangle(y.back(), Uplo::lower) : y.back());
        }
        const Data data_x = upload(this->runtime(), side_by_side(x)),
                   data_y = upload(this->runtime(), side_by_side(poisoned)), work = this->sums_space(count),
                   sums = Data::bytes(this->runtime(), std::size_t(count) * sizeof(HermitianSums));
        ASSERT_TRUE(this->run([&](Sequence& s) {
          s.insert(PolynomialStep<T>{.x = data_x,
                                     .y = data_y,
                                     .sums = sums,
                                     .work = work.valid() ? &work : nullptr,
                                     .c0 = c0,
                                     .c1 = c1,
                                     .c2 = c2,
                                     .count = count,
                                     .diagonal = diagonal});
        }));
        const auto result = download<T>(data_x);
        const auto found = this->read(sums);
        for (Index k = 0; k < count; ++k) {
          Matrix<T> expected(rows, n);
          HermitianSums exact;
          for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < rows; ++i) {
              const T before = x[std::size_t(k)](i, j);
              T value = RealOf<T>(c1) * before + RealOf<T>(c2) * y[std::size_t(k)](i, j);
              if (diagonal && i == j) value += T(RealOf<T>(c0)), exact.trace += double(real_part(value));
              expected(i, j) = value;
              const double weight = diagonal ? 1 : 2;
              exact.square += weight * double(std::norm(value));
              exact.dot += weight * double(real_part(conjugate(before) * value));
            }
          EXPECT_LE(difference(part_of(result, k, n), expected), 10 * this->eps);
          // A sum of m terms, in any order, is off by at most m eps times the sum of their moduli, also that of the test
          // (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2); those of the other two are no larger.
          const double scale = 2 * double(rows * n) * (exact.square + double(rows));
          EXPECT_NEAR(found[std::size_t(k)].trace, exact.trace, scale * this->eps);
          EXPECT_NEAR(found[std::size_t(k)].square, exact.square, scale * this->eps);
          EXPECT_NEAR(found[std::size_t(k)].dot, exact.dot, scale * this->eps);
        }
      }
}

/// Into another precision, with rows and columns of zeros, and without.
TYPED_TEST(HermitianSteps, CopiesOfOtherTypesAndOrders) {
  using T = TypeParam;
  using S = std::conditional_t<is_complex<T>, std::complex<double>, double>;
  const Index n = 45;
  for (const Index order : {n, n + 3, n - 2}) {
    SCOPED_TRACE(::testing::Message() << "order " << order);
    const auto y = random_hermitian<S>(n, 5);
    const Data data_y = upload(this->runtime(), poison_other_triangle(y, Uplo::lower)),
               work = this->sums_space(1), sums = Data::bytes(this->runtime(), sizeof(HermitianSums)),
               data_x = Data::matrix(this->runtime(), order, order, sizeof(T));
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(ShiftedCopy<S, T>{.x = data_x,
                                 .y = data_y,
                                 .sums = sums,
                                 .work = work.valid() ? &work : nullptr,
                                 .c0 = 2,
                                 .c2 = -0.5});
    }));
    Matrix<T> expected(order, order);
    double trace = 0;
    for (Index j = 0; j < std::min(order, n); ++j)
      for (Index i = 0; i < std::min(order, n); ++i) {
        expected(i, j) = T(S(-0.5) * y(i, j) + S(i == j ? 2.0 : 0.0));
        if (i == j) trace += double(real_part(expected(i, j)));
      }
    EXPECT_LE(difference(download<T>(data_x), expected), 10 * this->eps);
    EXPECT_NEAR(this->read(sums).front().trace, trace, double(n) * 10 * this->eps);
  }
}

}  // namespace
}  // namespace tessera::test
