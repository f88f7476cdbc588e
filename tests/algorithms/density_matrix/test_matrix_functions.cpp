// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "density_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace density_test;
using test::Matrix;

template <class T>
class MatrixFunctions : public RuntimeTest<T> {
 protected:
  /// A half-stored matrix of a spectrum, and its decomposition.
  struct Case {
    BlockSparseMatrix<T> a;
    Matrix<T> dense;
    EigenDecomposition<T> exact;
  };
  Case make(const std::vector<double>& spectrum, unsigned seed, Symmetry symmetry = Symmetry::hermitian) {
    const Matrix<T> dense = of_spectrum<T>(spectrum, seed + 3);
    return {blocks_of(this->runtime(), dense, sizes_of_functions(), symmetry, seed), dense, decompose(dense)};
  }
  static constexpr double eps = precision<T>;
};
TYPED_TEST_SUITE(MatrixFunctions, Scalars);

/// Of both signs, the nearest to 0 at a hundredth of the largest.
std::vector<double> both_signs() {
  std::vector<double> values = geometric(0.02, 2, order_of_functions);
  for (std::size_t k = 0; k < values.size(); k += 2) values[k] = -values[k];
  return values;
}

TYPED_TEST(MatrixFunctions, SignOfEveryOrder) {
  using T = TypeParam;
  const Index products[] = {0, 0, 2, 3, 4, 4, 5, 5};
  for (int order = 2; order <= 7; ++order)
    for (const bool scaled : {true, false})
      for (const Symmetry symmetry : {Symmetry::hermitian, Symmetry::none}) {
        SCOPED_TRACE(::testing::Message() << "order " << order << (scaled ? " scaled" : ""));
        const auto c = this->make(both_signs(), unsigned(order) * (scaled ? 1 : 0), symmetry);
        const auto r = matrix_sign(this->runtime(), {.a = c.a}, {.order = order, .scaled = scaled});
        ASSERT_TRUE(r) << r.status().message();
        const auto expected = function_of(c.exact, [](double x) { return x < 0 ? -1 : 1; });
        // An eigenvalue near 0 is known to eps over its share of the norm.
        EXPECT_LE(difference(gathered(r.value), expected), 3000 * this->eps);
        EXPECT_LE(r.error, 300 * this->eps);
        EXPECT_EQ(r.value.symmetry(), c.a.symmetry());
        Index counted = 1;  // the check
        for (const IterationStep& step : r.steps) {
          EXPECT_EQ(step.products, products[order]);
          EXPECT_EQ(step.stage, "matrix_sign");
          counted += step.products;
        }
        EXPECT_EQ(r.products, counted);
      }
}

TYPED_TEST(MatrixFunctions, ScalingSavesSteps) {
  for (int order = 2; order <= 5; ++order) {
    SCOPED_TRACE(::testing::Message() << "order " << order);
    const auto c = this->make(geometric(1e-2, 1, order_of_functions), 1);
    const auto scaled = matrix_square_roots(this->runtime(), {.a = c.a}, {.order = order});
    const auto plain = matrix_square_roots(this->runtime(), {.a = c.a}, {.order = order, .scaled = false});
    ASSERT_TRUE(scaled && plain);
    // High orders have little left to save.
    EXPECT_LE(scaled.steps.size() + (order == 2 ? 1 : 0), plain.steps.size());
  }
  const auto c = this->make(both_signs(), 2);
  const auto scaled = matrix_sign(this->runtime(), {.a = c.a});
  const auto plain = matrix_sign(this->runtime(), {.a = c.a}, {.scaled = false});
  ASSERT_TRUE(scaled && plain);
  EXPECT_LE(scaled.steps.size() + 3, plain.steps.size());
}

TYPED_TEST(MatrixFunctions, SquareRoots) {
  using T = TypeParam;
  const Index products[] = {0, 0, 3, 4, 5, 5};
  for (int order = 2; order <= 5; ++order)
    for (const bool scaled : {true, false}) {
      SCOPED_TRACE(::testing::Message() << "order " << order << (scaled ? " scaled" : ""));
      const auto c = this->make(geometric(0.05, 5, order_of_functions), unsigned(order));
      const auto r = matrix_square_roots(this->runtime(), {.a = c.a}, {.order = order, .scaled = scaled});
      ASSERT_TRUE(r) << r.status().message();
      EXPECT_LE(difference(gathered(r.root), function_of(c.exact, [](double x) { return std::sqrt(x); })),
                300 * this->eps);
      EXPECT_LE(difference(gathered(r.inverse_root),
                           function_of(c.exact, [](double x) { return 1 / std::sqrt(x); })),
                1000 * this->eps);
      EXPECT_LE(r.error, 300 * this->eps);
      for (std::size_t k = 1; k < r.steps.size(); ++k) EXPECT_EQ(r.steps[k].products, products[order]);
    }
}

TYPED_TEST(MatrixFunctions, InverseFactorAndItsRefinement) {
  using T = TypeParam;
  for (int order = 2; order <= 5; ++order) {
    SCOPED_TRACE(::testing::Message() << "order " << order);
    const auto c = this->make(geometric(0.05, 5, order_of_functions), unsigned(order));
    const auto r = inverse_factor(this->runtime(), {.a = c.a}, {.order = order});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_LE(r.error, 300 * this->eps);
    const Matrix<T> z = gathered(r.value);
    EXPECT_LE(difference(test::multiply(Op::adjoint, z, Op::none, product(c.dense, z)),
                         test::identity<T>(order_of_functions)),
              300 * this->eps);
    // A matrix nearby takes fewer steps from there.
    Matrix<T> near = c.dense;
    for (Index i = 0; i < near.rows(); ++i) near(i, i) += T(RealOf<T>(1e-4));
    const auto b =
        blocks_of(this->runtime(), near, sizes_of_functions(), Symmetry::hermitian, unsigned(order));
    const auto refined = inverse_factor(this->runtime(), {.a = b, .start = &r.value}, {.order = order});
    ASSERT_TRUE(refined) << refined.status().message();
    EXPECT_LE(refined.error, 300 * this->eps);
    EXPECT_LT(refined.steps.size(), r.steps.size());
  }
}

TYPED_TEST(MatrixFunctions, InverseOfHermitianAndOfAnyMatrix) {
  using T = TypeParam;
  for (const int order : {2, 3}) {
    SCOPED_TRACE(::testing::Message() << "order " << order);
    const auto c = this->make(geometric(0.05, 5, order_of_functions), unsigned(order));
    const auto r = matrix_inverse(this->runtime(), {.a = c.a}, {.order = order});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_LE(difference(gathered(r.value), function_of(c.exact, [](double x) { return 1 / x; })),
              3000 * this->eps);
    const auto again = matrix_inverse(this->runtime(), {.a = c.a, .start = &r.value}, {.order = order});
    ASSERT_TRUE(again) << again.status().message();
    EXPECT_LE(again.steps.size(), 2u);

    Matrix<T> general = random_matrix<T>(order_of_functions, order_of_functions, 5);
    for (Index i = 0; i < general.rows(); ++i) general(i, i) += T(8);
    const auto g = blocks_of(this->runtime(), general, sizes_of_functions(), Symmetry::none, unsigned(order));
    const auto s = matrix_inverse(this->runtime(), {.a = g}, {.order = order});
    ASSERT_TRUE(s) << s.status().message();
    EXPECT_LE(difference(product(general, gathered(s.value)), test::identity<T>(order_of_functions)),
              1000 * this->eps);
  }
}

TYPED_TEST(MatrixFunctions, InverseRoots) {
  for (const int p : {1, 2, 3, 5, 8})
    for (const bool scaled : {true, false}) {
      SCOPED_TRACE(::testing::Message() << "p " << p << (scaled ? " scaled" : ""));
      const auto c = this->make(geometric(0.2, 3, order_of_functions), unsigned(p));
      const auto r = matrix_inverse_root(this->runtime(), {.a = c.a}, {.scaled = scaled, .root = p});
      ASSERT_TRUE(r) << r.status().message();
      EXPECT_LE(difference(gathered(r.value),
                           function_of(c.exact, [p](double x) { return std::pow(x, -1.0 / p); })),
                1000 * this->eps);
      EXPECT_LE(r.error, 1000 * this->eps);
    }
}

TYPED_TEST(MatrixFunctions, Exponential) {
  using T = TypeParam;
  for (const double size : {0.1, 1.0, 7.0}) {
    SCOPED_TRACE(::testing::Message() << "norm " << size);
    std::vector<double> spectrum = both_signs();
    for (double& x : spectrum) x *= size / 2;
    const auto c = this->make(spectrum, 1);
    const auto r = matrix_exponential(this->runtime(), {.a = c.a});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_LE(difference(gathered(r.value), function_of(c.exact, [](double x) { return std::exp(x); })),
              300 * this->eps * std::exp(size));
  }
  // N^3 = 0: exp(N) = I + N + N^2 / 2
  Matrix<T> nilpotent(order_of_functions, order_of_functions);
  nilpotent.set_block(0, 20, random_matrix<T>(10, 9, 1));
  nilpotent.set_block(15, 0, random_matrix<T>(5, 10, 2));
  const auto a = blocks_of(this->runtime(), nilpotent, sizes_of_functions(), Symmetry::none);
  const auto r = matrix_exponential(this->runtime(), {.a = a});
  ASSERT_TRUE(r) << r.status().message();
  const Matrix<T> expected =
      test::multiply(Op::none, nilpotent, Op::none, nilpotent, T(RealOf<T>(0.5)), T(1), nilpotent);
  Matrix<T> rest = gathered(r.value);
  for (Index i = 0; i < rest.rows(); ++i) rest(i, i) -= T(1);
  EXPECT_LE(difference(rest, expected), 300 * this->eps);
}

TYPED_TEST(MatrixFunctions, LogDeterminant) {
  for (const double lowest : {1.5, 0.3, 1e-2}) {
    SCOPED_TRACE(::testing::Message() << "lowest " << lowest);
    const auto c = this->make(geometric(lowest, 2, order_of_functions), 3);
    double expected = 0;
    for (const auto x : c.exact.values) expected += std::log(double(x));
    const auto r = log_determinant(this->runtime(), {.a = c.a});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_NEAR(r.value, expected, 1000 * this->eps * order_of_functions);
    EXPECT_LE(r.error, 10 * this->eps * order_of_functions);
  }
}

TYPED_TEST(MatrixFunctions, PurificationOfWhatIsNearlyIdempotent) {
  using T = TypeParam;
  const auto chain = make_chain<T>(6, 3);
  for (const bool overlap : {false, true}) {
    const Index n = chain.overlap.rows();
    const auto exact = decompose(chain.hamiltonian, overlap ? chain.overlap : test::identity<T>(n));
    const Matrix<T> expected = reference_density(exact, chain.occupied);
    Matrix<T> disturbed = expected;
    const Matrix<T> noise = random_hermitian<T>(n, 8);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) disturbed(i, j) += noise(i, j) * RealOf<T>(1e-3);
    const auto p = blocks_of(this->runtime(), disturbed, chain.sizes);
    const auto s = blocks_of(this->runtime(), chain.overlap, chain.sizes);
    const auto r = purify(this->runtime(), {.density = p, .overlap = overlap ? &s : nullptr});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_LE(r.error, 100 * this->eps);
    // It is a projector near the one that was disturbed.
    EXPECT_LE(difference(gathered(r.value), expected), 3e-2);
    EXPECT_NEAR(r.steps.back().electrons, double(chain.occupied), 1e3 * this->eps * double(n));
  }
}

TYPED_TEST(MatrixFunctions, TheErrorFallsWithTheFilter) {
  using T = TypeParam;
  if (this->eps > 1e-10) return;
  const auto chain = make_chain<T>(40, 7);
  const auto s = blocks_of(this->runtime(), chain.overlap, chain.sizes, Symmetry::hermitian, 0, 0);
  const auto exact = function_of(decompose(chain.overlap), [](double x) { return 1 / std::sqrt(x); });
  double last = 1, occupied = 0;
  for (const double eps : {1e-2, 1e-4, 1e-6, 1e-8}) {
    const auto r = matrix_square_roots(this->runtime(), {.a = s}, {.filter_eps = eps});
    ASSERT_TRUE(r) << r.status().message();
    const double error = difference(gathered(r.inverse_root), exact);
    EXPECT_LE(error, 10 * eps);
    EXPECT_LT(error, last / 10);
    EXPECT_GT(r.steps.back().occupation, occupied);
    EXPECT_EQ(r.steps.back().threshold, eps);
    last = error, occupied = r.steps.back().occupation;
  }
}

TYPED_TEST(MatrixFunctions, OfNothingAndOfOneElement) {
  using T = TypeParam;
  for (const std::vector<Index>& sizes : {std::vector<Index>{}, {0, 0}, {1}, {0, 1}}) {
    const Index n = std::accumulate(sizes.begin(), sizes.end(), Index(0));
    Matrix<T> dense(n, n);
    if (n > 0) dense(0, 0) = T(4);
    const auto a = blocks_of(this->runtime(), dense, sizes);
    const auto check = [&](const auto& r, const BlockSparseMatrix<T>& value, double expected) {
      ASSERT_TRUE(r) << r.status().message();
      ASSERT_EQ(value.rows(), n);
      if (n > 0) EXPECT_NEAR(real_part(gathered(value)(0, 0)), expected, 100 * this->eps * expected);
    };
    const auto sign = matrix_sign(this->runtime(), {.a = a});
    check(sign, sign.value, 1);
    const auto roots = matrix_square_roots(this->runtime(), {.a = a});
    check(roots, roots.root, 2);
    const auto factor = inverse_factor(this->runtime(), {.a = a});
    check(factor, factor.value, 0.5);
    const auto inverse = matrix_inverse(this->runtime(), {.a = a});
    check(inverse, inverse.value, 0.25);
    const auto root = matrix_inverse_root(this->runtime(), {.a = a}, {.root = 4});
    check(root, root.value, std::pow(4, -0.25));
    const auto exponential = matrix_exponential(this->runtime(), {.a = a});
    check(exponential, exponential.value, std::exp(4.0));
    EXPECT_NEAR(log_determinant(this->runtime(), {.a = a}).value, n > 0 ? std::log(4.0) : 0, 100 * this->eps);
  }
}

TYPED_TEST(MatrixFunctions, WhatCannotBeIsAStatus) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const auto indefinite = this->make(both_signs(), 1);
  EXPECT_EQ(matrix_square_roots(runtime, {.a = indefinite.a}).status().code,
            StatusCode::not_positive_definite);
  EXPECT_EQ(matrix_inverse_root(runtime, {.a = indefinite.a}).status().code,
            StatusCode::not_positive_definite);
  EXPECT_FALSE(inverse_factor(runtime, {.a = indefinite.a}));
  EXPECT_FALSE(log_determinant(runtime, {.a = indefinite.a}));
  auto broken = this->make(geometric(0.5, 2, order_of_functions), 0);
  broken.dense(4, 4) = not_a_number<T>();
  const auto nan = blocks_of(runtime, broken.dense, sizes_of_functions());
  EXPECT_EQ(matrix_sign(runtime, {.a = nan}).status().code, StatusCode::not_finite);
  EXPECT_EQ(matrix_square_roots(runtime, {.a = nan}).status().code, StatusCode::not_finite);
  EXPECT_EQ(matrix_exponential(runtime, {.a = nan}).status().code, StatusCode::not_finite);
  EXPECT_FALSE(matrix_inverse(runtime, {.a = nan}));
  EXPECT_FALSE(inverse_factor(runtime, {.a = nan}));
  const auto few = matrix_sign(runtime, {.a = indefinite.a}, {.iterations = 2});
  EXPECT_EQ(few.status().code, StatusCode::iterations_exhausted);
  EXPECT_GE(few.steps.size(), 1u);
  Index calls = 0;
  const auto stopped =
      matrix_sign(runtime, {.a = indefinite.a},
                  {.monitor = [&](const IterationStep& step) { return ++calls, step.iteration < 3; }});
  EXPECT_EQ(stopped.status().code, StatusCode::stopped);
  EXPECT_EQ(stopped.steps.size(), 3u);
  EXPECT_EQ(calls, 3);
  const auto zero =
      blocks_of(runtime, Matrix<T>(order_of_functions, order_of_functions), sizes_of_functions());
  EXPECT_FALSE(matrix_sign(runtime, {.a = zero}));
  EXPECT_FALSE(matrix_inverse(runtime, {.a = zero}));
}

TYPED_TEST(MatrixFunctions, BadArguments) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const auto c = this->make(geometric(0.5, 2, order_of_functions), 0);
  const BlockSparseMatrix<T> never;
  expect_refused("a", [&] { (void)matrix_sign<T>(runtime, {.a = never}); });
  expect_refused("order", [&] { (void)matrix_sign<T>(runtime, {.a = c.a}, {.order = 8}); });
  expect_refused("order", [&] { (void)matrix_square_roots<T>(runtime, {.a = c.a}, {.order = 6}); });
  expect_refused("filter_eps", [&] { (void)matrix_sign<T>(runtime, {.a = c.a}, {.filter_eps = -1}); });
  expect_refused("tolerance", [&] { (void)matrix_sign<T>(runtime, {.a = c.a}, {.tolerance = NAN}); });
  expect_refused("iterations", [&] { (void)matrix_sign<T>(runtime, {.a = c.a}, {.iterations = 0}); });
  expect_refused("root", [&] { (void)matrix_inverse_root<T>(runtime, {.a = c.a}, {.root = 0}); });
  expect_refused("start", [&] { (void)matrix_sign<T>(runtime, {.a = c.a, .start = &c.a}); });
  const auto full = blocks_of(runtime, c.dense, sizes_of_functions(), Symmetry::none);
  expect_refused("a", [&] { (void)matrix_square_roots<T>(runtime, {.a = full}); });
  const auto other = blocks_of(runtime, Matrix<T>(4, 4), {4});
  expect_refused("start", [&] { (void)inverse_factor<T>(runtime, {.a = c.a, .start = &other}); });
  expect_refused("overlap", [&] { (void)purify<T>(runtime, {.density = c.a, .overlap = &other}); });
}

TYPED_TEST(MatrixFunctions, SeveralInFlight) {
  const auto c = this->make(both_signs(), 1);
  const auto d = this->make(geometric(0.1, 2, order_of_functions), 2);
  auto first = submit_matrix_sign(this->runtime(), {.a = c.a});
  auto second = submit_matrix_square_roots(this->runtime(), {.a = d.a});
  auto third = submit_matrix_sign(this->runtime(), {.a = d.a});
  ASSERT_TRUE(third.wait()) << third.status().message();
  ASSERT_TRUE(first.wait());
  ASSERT_TRUE(second.wait());
  EXPECT_LE(difference(gathered(third.result().value), test::identity<TypeParam>(order_of_functions)),
            300 * this->eps);
  const auto again = matrix_sign(this->runtime(), {.a = c.a});
  EXPECT_EQ(difference(gathered(first.result().value), gathered(again.value)), 0);
}

}  // namespace
}  // namespace tessera
