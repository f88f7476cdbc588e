// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <gtest/gtest.h>

#include <tessera/algorithms/lobpcg/convergence.hpp>

/// Checks the convergence test and the stagnation test against numbers computed by hand.
namespace tessera::test {
using namespace detail;
namespace {

struct Column {
  double r, x, ax, bx;  ///< norms
};

ResidualSquares squares_of(const std::vector<Column>& columns) {
  ResidualSquares squares{std::vector<double>(residual_norms)};
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const double norms[] = {columns[j].r, columns[j].x, columns[j].ax, columns[j].bx};
    for (std::size_t k = 0; k < 4; ++k) squares.sums[k * max_block_columns + j] = norms[k] * norms[k];
  }
  return squares;
}

LobpcgOptions options_of(LobpcgNorm norm) {
  LobpcgOptions options;
  options.norm = norm;
  options.tolerance = 0.125;
  return options;
}

TEST(Convergence, BackwardNormTakesTheBounds) {
  const ConvergenceTest test(options_of(LobpcgNorm::backward), {.a = 2, .b = 0.5});
  NormEstimates seen;
  // ||A|| + |theta| ||B|| = 4 and 2.
  const ResidualNorms found = test.measure(squares_of({{0.5, 2, 1, 2}, {1, 0.5, 0.25, 1}}), {-4, 0}, seen);
  EXPECT_EQ(found.norms, (std::vector<double>{0.5, 1}));
  EXPECT_EQ(found.scaled, (std::vector<double>{0.0625, 1}));
  EXPECT_EQ(test.converged(found), 1);
  EXPECT_EQ(test.largest(found, 1), 0.5);
  EXPECT_EQ(test.largest(found, 2), 8);
  EXPECT_EQ(found.finest, 0.125);
  EXPECT_EQ(found.at_tolerance, 0.25);
  EXPECT_FALSE(test.too_short(found, 0.25));
  EXPECT_TRUE(test.too_short(found, 0.5));
  EXPECT_TRUE(found.finite());
  EXPECT_EQ(seen.a, 0.5);
  EXPECT_EQ(seen.b, 2);
  EXPECT_EQ(test.a_norm(seen), 2);
}

TEST(Convergence, WithoutBoundsTheLargestNormsSeenCount) {
  const ConvergenceTest test(options_of(LobpcgNorm::backward), {});
  NormEstimates seen{.a = 0, .b = 1};
  // ||A|| >= 6 / 2, ||B|| >= 4 / 2, so 3 + 2 2 = 7 and 3.
  const ResidualNorms found = test.measure(squares_of({{7, 2, 6, 4}, {3, 2, 1, 1}}), {2, 0}, seen);
  EXPECT_EQ(seen.a, 3);
  EXPECT_EQ(seen.b, 2);
  EXPECT_EQ(found.scaled, (std::vector<double>{0.5, 0.5}));
  // Smaller estimates in later calls must not change the maxima.
  test.measure(squares_of({{1, 1, 1, 1}}), {1}, seen);
  EXPECT_EQ(seen.a, 3);
  EXPECT_EQ(seen.b, 2);
}

TEST(Convergence, RelativeAndAbsoluteNorms) {
  const ResidualSquares squares = squares_of({{0, 1, 1, 1}, {1, 2, 4, 2}, {1, 1, 1, 1}});
  NormEstimates seen;
  const ConvergenceTest relative(options_of(LobpcgNorm::relative), {});
  const ResidualNorms found = relative.measure(squares, {0, 4, 0}, seen);
  // A zero residual counts as converged, even for the eigenvalue zero, where no other residual
  // does.
  EXPECT_EQ(found.scaled, (std::vector<double>{0, 0.125, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(relative.converged(found), 2);

  const ConvergenceTest absolute(options_of(LobpcgNorm::absolute), {});
  const ResidualNorms lengths = absolute.measure(squares, {0, 4, 0}, seen);
  EXPECT_EQ(lengths.scaled, (std::vector<double>{0, 0.5, 1}));
  EXPECT_FALSE(absolute.too_short(lengths, 1e100));
}

TEST(Convergence, NaNIsNotFiniteAndNotConverged) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ConvergenceTest test(options_of(LobpcgNorm::absolute), {.a = 1, .b = 1});
  NormEstimates seen;
  const ResidualNorms found = test.measure(squares_of({{nan, 1, 1, 1}}), {1}, seen);
  EXPECT_FALSE(found.finite());
  EXPECT_EQ(test.converged(found), 0);
}

TEST(Convergence, StagnationIsSixtyIterationsWithoutProgress) {
  Progress progress;
  progress.note(1, 100, 5, 0.01);
  for (int i = 0; i < 59; ++i) {
    progress.note(1, 91, 4.995, 0.01);  // neither gain counts as progress
    EXPECT_FALSE(progress.stagnates()) << i;
  }
  progress.note(1, 91, 4.995, 0.01);
  EXPECT_TRUE(progress.stagnates());
  progress.give_another_chance();
  EXPECT_FALSE(progress.stagnates());
  // Each of the three quantities counts as progress on its own.
  for (int i = 0; i < 60; ++i) progress.note(1, 91, 4.995, 0.01);
  EXPECT_TRUE(progress.stagnates());
  progress.note(2, 91, 4.995, 0.01);
  EXPECT_FALSE(progress.stagnates());
  for (int i = 0; i < 60; ++i) progress.note(2, 91, 4.995, 0.01);
  progress.note(2, 80, 4.995, 0.01);
  EXPECT_FALSE(progress.stagnates());
  for (int i = 0; i < 60; ++i) progress.note(2, 80, 4.995, 0.01);
  progress.note(2, 80, 4, 0.01);
  EXPECT_FALSE(progress.stagnates());
}

}  // namespace
}  // namespace tessera::test
