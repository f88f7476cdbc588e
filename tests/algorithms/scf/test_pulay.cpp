// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <random>

#include <gtest/gtest.h>

#include <tessera/algorithms/scf/pulay.hpp>

namespace tessera {
namespace {

using Rows = std::vector<std::vector<double>>;

Rows random_vectors(std::size_t count, std::size_t length) {
  std::mt19937 random(1);
  Rows e(count, std::vector<double>(length));
  for (auto& row : e)
    for (double& x : row) x = double(random()) / 4294967296.0 - 0.5;
  return e;
}

Rows gram(const Rows& e) {
  Rows b(e.size(), std::vector<double>(e.size()));
  for (std::size_t j = 0; j < e.size(); ++j)
    for (std::size_t k = 0; k < e.size(); ++k)
      for (std::size_t i = 0; i < e[j].size(); ++i) b[j][k] += e[j][i] * e[k][i];
  return b;
}

/// The least combination is orthogonal to all differences of the vectors (Lagrange's condition), and its factors
/// sum to 1.
TEST(Pulay, TheCombinationIsTheLeast) {
  for (const std::size_t count : {1u, 2u, 5u, 8u}) {
    const auto b = gram(random_vectors(count, 12));
    const auto c = detail::pulay_coefficients(b);
    ASSERT_TRUE(c);
    double sum = 0;
    std::vector<double> with(count);
    for (std::size_t j = 0; j < count; ++j) {
      sum += (*c)[j];
      for (std::size_t k = 0; k < count; ++k) with[j] += b[j][k] * (*c)[k];
    }
    EXPECT_NEAR(sum, 1, 1e-13);
    for (std::size_t j = 1; j < count; ++j) EXPECT_NEAR(with[j], with[0], 1e-12);
  }
}

TEST(Pulay, DependentErrorsAreSeen) {
  auto e = random_vectors(4, 10);
  for (std::size_t i = 0; i < e[0].size(); ++i) e[2][i] = 0.3 * e[0][i] + 0.7 * e[1][i];
  EXPECT_FALSE(detail::pulay_coefficients(gram(e)));
  e[2] = e[3];
  EXPECT_FALSE(detail::pulay_coefficients(gram(e)));
  // Errors of very different lengths are not dependent.
  auto far = random_vectors(3, 10);
  for (double& x : far[2]) x *= 1e-9;
  EXPECT_TRUE(detail::pulay_coefficients(gram(far)));
}

}  // namespace
}  // namespace tessera
