// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/interior.hpp>
#include <tessera/preconditioners.hpp>

/// More pairs than a block holds, against closed forms and LAPACK.
namespace tessera::test {
namespace {

constexpr EigenMethod methods[] = {EigenMethod::lobpcg, EigenMethod::generalized_davidson};

template <class T>
class ManyPairs : public RuntimeTest<double> {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ManyPairs, Reals);
using ManyPairsInDouble = RuntimeTest<double>;

/// 0, 1, 2, ...
SparseRows counting(Index n) {
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) values.push_back(double(i));
  return diagonal(values);
}
std::vector<double> counted(Index first, Index count) {
  std::vector<double> values;
  for (Index i = 0; i < count; ++i) values.push_back(double(first + i));
  return values;
}

/// Most eigenvalues of the grid are double: groups of pairs end between equal ones.
TYPED_TEST(ManyPairs, OfAGrid) {
  using T = TypeParam;
  const SparseRows a = grid_laplacian(21);
  std::vector<double> values = grid_values(21);
  const auto op = operator_of<T>(this->runtime(), a, 3);
  const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-9, rounding = 400 * double(precision<T>);
  for (const EigenMethod method : methods)
    for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest})
      for (const Index count : {33, 42, 80}) {
        SCOPED_TRACE(fmt::format("method {} largest {} count {}", int(method), int(end), count));
        std::sort(values.begin(), values.end());
        if (end == EigenEnd::largest) std::reverse(values.begin(), values.end());
        const auto result = lobpcg(this->runtime(), {.a = &op},
                                   {.count = count, .method = method, .end = end, .tolerance = tolerance});
        ASSERT_EQ(Index(result.values.size()), count);
        EXPECT_EQ(result.converged, count);
        EXPECT_EQ(result.method, method);
        expect_values(result, values, 10 * tolerance);
        expect_eigenpairs(result, a, nullptr, a.norm() * (2 * tolerance + rounding), rounding);
        EXPECT_TRUE(std::is_sorted(result.values.begin(), result.values.end(), [&](double x, double y) {
          return end == EigenEnd::smallest ? x < y : x > y;
        }));
      }
}

TEST_F(ManyPairsInDouble, GeneralizedWithAPreconditioner) {
  const Index n = 260, count = 50;
  SparseRows a(n), b(n);
  for (Index i = 0; i < n; ++i) {
    a.add(i, i, 1 + double(i) / 10);
    b.add(i, i, 4 + random_uniform(8, 0, i, i));
    for (Index j = std::max<Index>(0, i - 3); j < i; ++j) {
      a.add(i, j, random_uniform(7, 0, i, j) / 4);
      b.add(i, j, random_uniform(8, 0, i, j) / 4);
    }
  }
  const std::vector<double> all = lapack_eigenvalues(dense(a), dense(b));
  const auto op = operator_of<double>(runtime(), a, 2), mass = operator_of<double>(runtime(), b, 2);
  std::vector<double> diagonal;
  for (Index i = 0; i < n; ++i) diagonal.push_back(dense(a)(i, i));
  JacobiPreconditioner<double> jacobi(runtime(), op.segments(), diagonal);
  for (const EigenMethod method : methods) {
    const auto result = lobpcg(runtime(), {.a = &op, .b = &mass, .preconditioner = &jacobi},
                               {.count = count, .method = method, .tolerance = 1e-10});
    ASSERT_EQ(Index(result.values.size()), count);
    expect_values(result, all, 1e-8);
    expect_eigenpairs(result, a, &b, 1e-8, 1e-12);
  }
}

TEST_F(ManyPairsInDouble, BesideConstraints) {
  const Index n = 300;
  const SparseRows a = counting(n);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto first =
      vectors_of<double>(runtime(), op.segments(), 40, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
  for (const EigenMethod method : methods) {
    const auto result = lobpcg(runtime(), {.a = &op, .constraints = &first, .constraint_count = 35},
                               {.count = 45, .method = method});
    ASSERT_EQ(result.values.size(), 45u);
    expect_values(result, counted(35, 45), 1e-6);
    expect_eigenpairs(result, a, nullptr, 1e-5, 1e-12);
    const std::vector<double> x = columns_of(result.vectors, 45);
    for (Index i = 0; i < 35; ++i)
      for (Index j = 0; j < 45; ++j) EXPECT_NEAR(x[std::size_t(i * 45 + j)], 0, 1e-12) << i << " " << j;
  }
}

TEST_F(ManyPairsInDouble, FromAGuessOfAll) {
  const SparseRows a = grid_laplacian(20);
  const auto op = operator_of<double>(runtime(), a, 2);
  for (const EigenMethod method : methods) {
    const auto once = lobpcg(runtime(), {.a = &op}, {.count = 60, .method = method, .tolerance = 1e-10});
    const auto again = lobpcg(runtime(), {.a = &op, .guess = &once.vectors, .guess_count = 60},
                              {.count = 60, .method = method});
    expect_values(again, grid_values(20), 1e-9);
    EXPECT_LT(again.iterations, once.iterations / 4);
  }
}

/// A guess hides eigenvalues nearer to the wanted end from all groups but the last one, which finds some of them:
/// others look for the rest.
TEST_F(ManyPairsInDouble, MissedPairsAreFound) {
  const Index n = 300;
  const auto op = operator_of<double>(runtime(), counting(n), 2);
  const auto hiding = vectors_of<double>(
      runtime(), op.segments(), 33, [](Index i, Index j) { return i == (j == 32 ? 2 : j + 5) ? 1.0 : 0.0; });
  for (const auto& [count, guess] : {std::pair<Index, Index>{40, 16}, {42, 21}, {33, 33}}) {
    SCOPED_TRACE(fmt::format("count {} guess {}", count, guess));
    const auto result = lobpcg(runtime(), {.a = &op, .guess = &hiding, .guess_count = guess},
                               {.count = count, .method = EigenMethod::generalized_davidson});
    ASSERT_EQ(Index(result.values.size()), count);
    expect_values(result, counted(0, count), 1e-6);
    expect_eigenpairs(result, counting(n), nullptr, 1e-5, 1e-12);
  }
}

TEST_F(ManyPairsInDouble, TheHistoryIsOfOneSolve) {
  const auto op = operator_of<double>(runtime(), grid_laplacian(20), 2);
  for (const EigenMethod method : methods) {
    std::vector<LobpcgStep> seen;
    const auto result =
        lobpcg(runtime(), {.a = &op}, {.count = 50, .method = method, .monitor = [&](const LobpcgStep& step) {
                                         seen.push_back(step);
                                         return true;
                                       }});
    ASSERT_EQ(seen.size(), result.history.size());
    Index products = 0;
    for (std::size_t k = 0; k < seen.size(); ++k) {
      EXPECT_EQ(seen[k].iteration, result.history[k].iteration);
      EXPECT_EQ(seen[k].converged, result.history[k].converged);
      if (k == 0) continue;
      EXPECT_GT(seen[k].iteration, seen[k - 1].iteration);
      EXPECT_GE(seen[k].seconds, seen[k - 1].seconds);
      EXPECT_GE(seen[k].multiply_seconds, seen[k - 1].multiply_seconds);
    }
    EXPECT_EQ(seen.back().converged, 50);
    for (const StageStatistics& stage : result.statistics.stages)
      if (stage.name == "multiply") products += stage.tasks;
    EXPECT_EQ(products, 2 * result.multiplications);  // two segments
  }
}

TEST_F(ManyPairsInDouble, AnEndBeforeAllAreFound) {
  const SparseRows a = grid_laplacian(20);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto stopped =
      lobpcg(runtime(), {.a = &op},
             {.count = 60, .monitor = [](const LobpcgStep& step) { return step.converged < 30; }});
  EXPECT_EQ(stopped.status().code, StatusCode::stopped);
  EXPECT_GE(stopped.converged, 30);
  EXPECT_GE(stopped.values.size(), 42u);  // two groups of 21
  EXPECT_LT(stopped.values.size(), 60u);
  const std::vector<double> values = grid_values(20);
  for (Index k = 0; k < stopped.converged; ++k)
    EXPECT_NEAR(stopped.values[std::size_t(k)], values[std::size_t(k)], 1e-6);
  const auto exhausted = lobpcg(runtime(), {.a = &op}, {.count = 60, .iterations = 3});
  EXPECT_EQ(exhausted.status().code, StatusCode::iterations_exhausted);
  EXPECT_EQ(exhausted.values.size(), 21u);
  EXPECT_LT(exhausted.converged, 21);
}

/// Groups of few pairs, and those that look for missed ones no larger.
TEST_F(ManyPairsInDouble, InSmallBlocksAndBases) {
  const SparseRows a = grid_laplacian(14);
  const auto op = operator_of<double>(runtime(), a, 2);
  const LobpcgOptions small[] = {
      {.count = 36, .block = 4},
      {.count = 36, .block = 1},
      {.count = 36, .method = EigenMethod::generalized_davidson, .block = 4, .basis = 14},
      {.count = 36, .method = EigenMethod::generalized_davidson, .block = 1, .basis = 5},
      {.count = 36, .method = EigenMethod::generalized_davidson, .block = 32}};
  for (LobpcgOptions options : small) {
    SCOPED_TRACE(
        fmt::format("method {} block {} basis {}", int(options.method), options.block, options.basis));
    options.iterations = std::numeric_limits<Index>::max();
    const auto result = lobpcg(runtime(), {.a = &op}, options);
    ASSERT_EQ(result.values.size(), 36u);
    EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
    expect_eigenpairs(result, a, nullptr, 1e-6, 1e-11);
    expect_values(result, grid_values(14), 1e-7);
  }
}

/// Pairs of the groups before are there once.
TEST_F(ManyPairsInDouble, NanInALaterGroup) {
  const Index n = 300;
  for (const EigenMethod method : methods) {
    bool spoilt = false;
    const auto times = function_of<double>(counting(n));
    const UserOperator<double> op(
        runtime(), RowSegments::even(runtime(), n, 1),
        [&](Index first, Index end, Index columns, const double* x, Index ldx, double* y, Index ldy) {
          times(first, end, columns, x, ldx, y, ldy);
          if (spoilt) y[0] = std::nan("");
        },
        double(n));
    const auto result =
        lobpcg(runtime(), {.a = &op}, {.count = 40, .method = method, .monitor = [&](const LobpcgStep& step) {
                                         spoilt = step.converged > 21;
                                         return true;
                                       }});
    EXPECT_EQ(result.status().code, StatusCode::not_finite) << result.status().message();
    for (std::size_t k = 1; k < result.values.size(); ++k)
      if (std::isfinite(result.values[k])) EXPECT_GT(result.values[k], result.values[k - 1] + 1e-3) << k;
    EXPECT_GE(result.converged, 16);
    for (Index k = 0; k < result.converged; ++k) EXPECT_NEAR(result.values[std::size_t(k)], double(k), 1e-6);
  }
}

/// No finer tolerance than rounding allows is asked of the groups.
TEST_F(ManyPairsInDouble, AtToleranceNearRounding) {
  const SparseRows a = grid_laplacian(20);
  const auto op = operator_of<double>(runtime(), a, 2);
  for (const EigenMethod method : methods) {
    const auto result = lobpcg(runtime(), {.a = &op}, {.count = 40, .method = method, .tolerance = 1e-13});
    expect_values(result, grid_values(20), 1e-12);
  }
}

TEST_F(ManyPairsInDouble, WhatDoesNotFitIsRefused) {
  const auto op = operator_of<double>(runtime(), counting(200), 2);
  const auto call = [&](const LobpcgOptions& options, Index constraints = 0) {
    return [&, options, constraints] {
      const auto vectors = vectors_of<double>(runtime(), op.segments(), 150,
                                              [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
      (void)lobpcg(runtime(), {.a = &op, .constraints = &vectors, .constraint_count = constraints}, options);
    };
  };
  expect_refused("count", call({.count = 41}));
  expect_refused("constraint_count", call({.count = 40}, 140));
  expect_refused("block", call({.count = 40, .block = 33}));
  expect_refused("basis", call({.count = 40, .method = EigenMethod::generalized_davidson, .basis = 129}));
  const auto many = lobpcg(runtime(), {.a = &op}, {.count = 40});
  expect_refused("folded", [&] { (void)interior_pairs(runtime(), op, 3, many); });
}

}  // namespace
}  // namespace tessera::test
