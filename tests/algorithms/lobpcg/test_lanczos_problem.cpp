// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include <tessera/algorithms/lobpcg/lanczos_problem.hpp>

namespace tessera::test {
using namespace detail;
namespace {

/// The small problems, against what they stand for.
TEST(LanczosProblem, ResidualsAreThoseOfTheLastColumns) {
  // H = [1 2; 2 5] and F^T F = [9], of the second column.
  SmallMatrix h(2, 2), rest(1, 1);
  h(0, 0) = 1, h(0, 1) = h(1, 0) = 2, h(1, 1) = 5, rest(0, 0) = 9;
  for (const double sign : {1.0, -1.0}) {
    const LanczosRitz<double> ritz = lanczos_ritz(h, rest, sign);
    ASSERT_TRUE(ritz.finite);
    for (Index j = 0; j < 2; ++j) {
      const double value = 3 + (sign > 0 ? 1 : -1) * (j == 0 ? -1 : 1) * std::sqrt(8.0);
      EXPECT_NEAR(sign * ritz.values[std::size_t(j)], value, 1e-14);
      EXPECT_NEAR(ritz.residuals[std::size_t(j)], 3 * std::abs(ritz.coefficients(1, j)), 1e-14);
    }
  }
  h(0, 1) = std::nan("");
  EXPECT_FALSE(lanczos_ritz(h, rest, 1).finite);
}

TEST(LanczosProblem, OrderAndEnds) {
  LanczosRitz<double> active;
  active.values = {-4, -1, 2};
  active.residuals = {1, 2, 3};
  const std::vector<LanczosPair> locked{{3, 0.5, 0, true}, {1, 0.25, 1, true}};
  const std::vector<LanczosPair> all = in_order(locked, active, -1);
  ASSERT_EQ(all.size(), 5u);
  const double values[] = {4, 3, 1, 1, -2};
  for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(all[k].value, values[k]);
  EXPECT_TRUE(all[1].locked && all[2].locked && !all[3].locked);
  SmallMatrix rest(2, 2);
  rest(0, 0) = rest(1, 1) = 1;
  constexpr double eps = 1.1e-16;
  EXPECT_EQ(block_end(rest, 1, eps), BlockEnd::none);
  rest(1, 1) = 1e-15;
  EXPECT_EQ(block_end(rest, 1, eps), BlockEnd::some_columns);
  rest(0, 0) = rest(1, 1) = 1e-30;
  EXPECT_EQ(block_end(rest, 1, eps), BlockEnd::all_columns);
}

}  // namespace
}  // namespace tessera::test
