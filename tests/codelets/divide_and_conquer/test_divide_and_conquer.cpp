// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause

// The kernels of tridiagonal divide and conquer, called by a plain recursion for all test matrices.
#include <numbers>

#include <gtest/gtest.h>
#include <tests/codelets/divide_and_conquer/matrices.hpp>
#include <tests/codelets/divide_and_conquer/sequential_solver.hpp>

#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class R>
class DivideAndConquer : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DivideAndConquer, Reals);

template <class R>
std::vector<R> subtree(const Tridiagonal<R>& t, bool rows, int* status) {
  const Index n = t.order();
  std::vector<double> d(n), e(n), spectrum(3 * n);
  int exponent = 0;
  kernels::scale_and_cut(n, t.d.data(), t.e.data(), n + 1, d.data(), e.data(), &exponent);
  std::vector<double> scratch(kernels::subtree_scratch_bytes(n) / 8 + 1);
  *status = kernels::subtree_values(n, d.data(), e.data(), std::numeric_limits<R>::epsilon(), rows,
                                    divide_and_conquer::NodeSpectrum(spectrum.data(), n), scratch.data());
  std::vector<R> w(n);
  kernels::unscale_values(spectrum.data(), 0, n, exponent, w.data());
  return w;
}

TYPED_TEST(DivideAndConquer, AllVectorsOfEveryMatrix) {
  using R = TypeParam;
  double worst_residual = 0, worst_orthogonality = 0;
  const std::vector<std::pair<Index, Index>> sizes = {{1, 8},  {2, 8},  {3, 1},  {7, 8},    {8, 8},   {9, 8},
                                                      {17, 4}, {21, 5}, {63, 7}, {210, 32}, {301, 50}};
  for (const auto& kind : tridiagonal_kinds<R>()) {
    for (const auto& [n, leaf] : sizes) {
      SCOPED_TRACE(kind.name + ", n = " + std::to_string(n) + ", leaf = " + std::to_string(leaf));
      const auto t = make_tridiagonal<R>(kind, n);
      const SequentialSolver<R> solver(t.d, t.e, leaf, 13, 0, n);
      ASSERT_EQ(solver.status, 0);
      EXPECT_TRUE(values_within(t, solver.w, 2.0));
      const auto errors = vector_errors(t, solver.w, solver.q);
      EXPECT_LT(errors.residual, 5.0);
      EXPECT_LT(errors.orthogonality, 5.0);
      worst_residual = std::max(worst_residual, errors.residual);
      worst_orthogonality = std::max(worst_orthogonality, errors.orthogonality);
    }
  }
  std::printf("worst residual %.3f, worst orthogonality %.3f\n", worst_residual, worst_orthogonality);
}

TYPED_TEST(DivideAndConquer, ManyLevelsAtOneSize) {
  using R = TypeParam;
  for (const auto& kind : tridiagonal_kinds<R>()) {
    SCOPED_TRACE(kind.name);
    const Index n = 421;
    const auto t = make_tridiagonal<R>(kind, n);
    const SequentialSolver<R> solver(t.d, t.e, 19, 64, 0, n);
    ASSERT_EQ(solver.status, 0);
    EXPECT_TRUE(values_within(t, solver.w, 1.0));
    const auto errors = vector_errors(t, solver.w, solver.q);
    EXPECT_LT(errors.residual, 2.0);
    EXPECT_LT(errors.orthogonality, 2.0);
    EXPECT_LE(solver.evaluations, 6 * solver.roots + 64);
  }
}

TYPED_TEST(DivideAndConquer, RangeEqualsTheSameColumnsOfAll) {
  using R = TypeParam;
  const Index n = 157;
  for (const auto& kind : tridiagonal_kinds<R>()) {
    SCOPED_TRACE(kind.name);
    const auto t = make_tridiagonal<R>(kind, n);
    const SequentialSolver<R> all(t.d, t.e, 20, 33, 0, n);
    for (const auto& [lo, hi] : std::vector<std::pair<Index, Index>>{{0, 0}, {0, 31}, {50, 51}, {111, 157}}) {
      const SequentialSolver<R> some(t.d, t.e, 20, 33, lo, hi);
      EXPECT_EQ(some.w, all.w);
      ASSERT_EQ(static_cast<Index>(some.q.size()), n * (hi - lo));
      // The shapes of the products differ, so the last bits may differ.
      for (Index i = 0; i < n * (hi - lo); ++i)
        ASSERT_NEAR(some.q[i], all.q[lo * n + i], 64 * std::numeric_limits<R>::epsilon());
    }
  }
}

TYPED_TEST(DivideAndConquer, ValuesOnly) {
  using R = TypeParam;
  for (const auto& kind : tridiagonal_kinds<R>()) {
    for (const Index n : {1, 2, 3, 31, 32, 33, 64, 65, 100, 257, 1000}) {
      SCOPED_TRACE(kind.name + ", n = " + std::to_string(n));
      const auto t = make_tridiagonal<R>(kind, n);
      int status = -1;
      const auto w = subtree(t, false, &status);
      EXPECT_EQ(status, 0);
      EXPECT_TRUE(values_within(t, w, 1.0));
      EXPECT_EQ(subtree(t, true, &status), w);
    }
  }
}

TYPED_TEST(DivideAndConquer, ClosedForm) {
  using R = TypeParam;
  const Index n = 500;
  Tridiagonal<R> t{std::vector<R>(n, R(2)), std::vector<R>(n - 1, R(-1))};
  int status = -1;
  const auto w = subtree(t, false, &status);
  for (Index k = 0; k < n; ++k)
    EXPECT_NEAR(w[k], 2 - 2 * std::cos((k + 1) * std::numbers::pi / (n + 1)),
                24 * std::numeric_limits<R>::epsilon());
}

TYPED_TEST(DivideAndConquer, NotFiniteIsReportedAndEnds) {
  using R = TypeParam;
  const Index n = 90;
  for (const R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
    for (const Index where : {0, 44, 89}) {
      auto t = make_tridiagonal<R>(tridiagonal_kinds<R>()[0], n);
      t.d[where] = bad;
      EXPECT_EQ((SequentialSolver<R>(t.d, t.e, 16, 16, 0, n).status), where + 1);
      if (where + 1 == n) continue;
      t = make_tridiagonal<R>(tridiagonal_kinds<R>()[0], n);
      t.e[where] = bad;
      EXPECT_EQ((SequentialSolver<R>(t.d, t.e, 16, 16, 0, n).status), where + 1);
    }
  }
}

}  // namespace
}  // namespace tessera::test
