// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "scf_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace scf_test;
using test::Matrix;

template <class T>
class Extrapolation : public RuntimeTest<T> {};
TYPED_TEST_SUITE(Extrapolation, Scalars);

/// A Hamiltonian and an overlap that change smoothly with time, and their density of occupation 2.
template <class T>
struct Path {
  explicit Path(Index units) : first(make_chain<T>(units, 1)), second(make_chain<T>(units, 7)) {}
  static Matrix<T> mean(const Matrix<T>& a, const Matrix<T>& b, double time) {
    const auto share = RealOf<T>(0.5 + 0.5 * std::sin(time));
    return mapped(a, [&](T x, Index i, Index j) { return (1 - share) * x + share * b(i, j); });
  }
  Matrix<T> overlap(double time) const { return mean(first.overlap, second.overlap, time); }
  Matrix<T> density(double time) const {
    const auto states = decompose(mean(first.hamiltonian, second.hamiltonian, time), overlap(time));
    return mapped(reference_density(states, first.occupied), [](T x, Index, Index) { return T(2) * x; });
  }
  Chain<T> first, second;
};

TEST(Coefficients, AreThoseOfKolafa) {
  // J. Comput. Chem. 25 (2004) 335, k = K - 2
  const std::vector<std::vector<double>> expected{{1}, {2, -1}, {2.5, -2, 0.5}, {2.8, -2.8, 1.2, -0.2}};
  for (Index order = 1; order <= 4; ++order) {
    const auto b = aspc_coefficients(order);
    ASSERT_EQ(b.size(), std::size_t(order));
    for (std::size_t j = 0; j < b.size(); ++j) EXPECT_NEAR(b[j], expected[std::size_t(order) - 1][j], 1e-14);
  }
  for (Index order = 5; order <= 12; ++order) {
    double sum = 0;
    for (const double b : aspc_coefficients(order)) sum += b;
    EXPECT_NEAR(sum, 1, 1e-12);
  }
  test::expect_refused("order", [] { (void)aspc_coefficients(0); });
  test::expect_refused("order", [] { (void)aspc_coefficients(13); });
}

/// The same with LAPACK: (sum_j B_j P_j S_j) S^{-1}, its Hermitian part, and the nearest projector in the metric
/// of S.
TYPED_TEST(Extrapolation, PredictsWhatThePredictorSays) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const Path<T> path(4);
  constexpr double step = 0.05;
  DensityExtrapolation<T> extrapolation({.order = 3, .filter_eps = 0});
  Matrix<T> ps(path.first.overlap.rows(), path.first.overlap.rows());
  const std::vector<double> b{2.5, -2, 0.5};
  for (Index j = 0; j < 4; ++j) {  // one more than is used
    const double time = step * double(j);
    const auto p = path.density(time), s = path.overlap(time);
    const auto blocks = blocks_of(runtime, s, path.first.sizes);
    extrapolation.add(blocks_of(runtime, p, path.first.sizes), &blocks);
    if (j == 0) continue;
    const auto product_of = product(p, s);
    ps = mapped(
        ps, [&](T x, Index i, Index k) { return x + RealOf<T>(b[std::size_t(3 - j)]) * product_of(i, k); });
  }
  EXPECT_EQ(extrapolation.geometries(), 3);
  const auto s = path.overlap(4 * step);
  const auto blocks = blocks_of(runtime, s, path.first.sizes);
  const auto r = extrapolation.predict(&blocks);
  ASSERT_TRUE(r) << r.status().message();
  const auto inverse = decompose(s);
  const auto raw = product(ps, function_of(inverse, [](double x) { return 1 / x; }));
  // In the orthonormal basis of S^{1/2} the nearest projector has the eigenvectors of 2 P S P's largest
  // eigenvalues.
  const auto root = function_of(inverse, [](double x) { return std::sqrt(x); }),
             inverse_root = function_of(inverse, [](double x) { return 1 / std::sqrt(x); });
  auto hermitian =
      mapped(raw, [&](T x, Index i, Index j) { return RealOf<T>(-0.5) * (x + conjugate(raw(j, i))); });
  const auto states = decompose(product(product(root, hermitian), root));
  const auto projector = reference_density(states, path.first.occupied);
  const auto expected = mapped(product(product(inverse_root, projector), inverse_root),
                               [](T x, Index, Index) { return T(2) * x; });
  EXPECT_LE(difference(gathered(r.density), expected), 2e3 * double(precision<T>));
  EXPECT_GT(difference(path.density(3 * step), expected), 1e-3);
  EXPECT_TRUE(r.inverse_factor.valid());
}

template <class T>
class ExtrapolationInDouble : public RuntimeTest<T> {};
TYPED_TEST_SUITE(ExtrapolationInDouble, ::testing::Types<double>);

/// With half the time step the prediction is at least nearly four times as good, and far better than the last
/// density.
TYPED_TEST(ExtrapolationInDouble, ConvergesWithTheTimeStep) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const Path<T> path(4);
  std::vector<double> errors;
  for (const double step : {0.1, 0.05}) {
    DensityExtrapolation<T> extrapolation({.filter_eps = 0});
    for (Index j = 4; j >= 1; --j) {
      const auto s = blocks_of(runtime, path.overlap(-step * double(j)), path.first.sizes);
      extrapolation.add(blocks_of(runtime, path.density(-step * double(j)), path.first.sizes), &s);
    }
    const auto s = blocks_of(runtime, path.overlap(0), path.first.sizes);
    const auto r = extrapolation.predict(&s);
    ASSERT_TRUE(r) << r.status().message();
    const auto exact = path.density(0);
    errors.push_back(difference(gathered(r.density), exact));
    EXPECT_LT(20 * errors.back(), difference(path.density(-step), exact));
  }
  EXPECT_LT(3.5 * errors[1], errors[0]);
}

TYPED_TEST(ExtrapolationInDouble, WithoutOverlapAndBadArguments) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const auto chain = make_chain<T>(4, 1);
  const auto p = reference_density(decompose(chain.hamiltonian), chain.occupied);
  const auto blocks = blocks_of(runtime, p, chain.sizes);
  DensityExtrapolation<T> extrapolation({.order = 2, .occupation = 1, .filter_eps = 0});
  expect_refused("DensityExtrapolation", [&] { (void)extrapolation.predict(nullptr); });
  extrapolation.add(blocks, nullptr);
  extrapolation.add(blocks, nullptr);
  const auto r = extrapolation.predict(nullptr);
  ASSERT_TRUE(r) << r.status().message();
  EXPECT_LE(difference(gathered(r.density), p), 1e-13);
  EXPECT_FALSE(r.inverse_factor.valid());
  expect_refused("density", [&] { extrapolation.add({}, nullptr); });
  expect_refused("density", [&] { extrapolation.add(blocks_of(runtime, p, {p.rows()}), nullptr); });
  expect_refused("density",
                 [&] { extrapolation.add(blocks_of(runtime, p, chain.sizes, Symmetry::none), nullptr); });
  expect_refused("overlap", [&] {
    const BlockSparseMatrix<T> empty;
    (void)extrapolation.predict(&empty);
  });
  expect_refused("order", [] { DensityExtrapolation<T>({.order = 0}); });
  expect_refused("occupation", [] { DensityExtrapolation<T>({.occupation = 0}); });
  expect_refused("filter_eps", [] { DensityExtrapolation<T>({.filter_eps = -1}); });
  // An overlap that is none is a status.
  Matrix<T> bad = test::identity<T>(p.rows());
  bad(0, 3) = bad(3, 0) = 2;
  const auto indefinite = blocks_of(runtime, bad, chain.sizes);
  EXPECT_EQ(extrapolation.predict(&indefinite).status().code, StatusCode::not_positive_definite);
}

}  // namespace
}  // namespace tessera
