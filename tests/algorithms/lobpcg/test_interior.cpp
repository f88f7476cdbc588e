// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>
#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/interior.hpp>

/// Eigenpairs inside the spectrum of the Laplacian, by folding and by a solve of the user's, against closed forms.
namespace tessera::test {
namespace {

class Interior : public RuntimeTest<double> {
 protected:
  static constexpr Index n = 60;
  /// The numbers (from 1) of the eigenvalues nearest to sigma.
  static std::vector<Index> nearest(double sigma, Index count) {
    std::vector<Index> numbers;
    for (Index k = 1; k <= n; ++k) numbers.push_back(k);
    std::stable_sort(numbers.begin(), numbers.end(), [&](Index i, Index j) {
      return std::abs(laplacian_value(n, i) - sigma) < std::abs(laplacian_value(n, j) - sigma);
    });
    numbers.resize(static_cast<std::size_t>(count));
    return numbers;
  }
};

TEST_F(Interior, FoldedPairsAreTheNearest) {
  const SparseRows a = laplacian(n);
  // In the middle between two eigenvalues folding makes them equal.
  const double middle = (laplacian_value(n, 20) + laplacian_value(n, 21)) / 2;
  for (const Index segments : {1, 3})
    for (const double sigma : {1.234, middle, -0.5, 4.5})
      for (const EigenMethod method : {EigenMethod::lobpcg, EigenMethod::generalized_davidson}) {
        SCOPED_TRACE(fmt::format("sigma {} segments {} method {}", sigma, segments, int(method)));
        const auto op = operator_of<double>(runtime(), a, segments);
        const FoldedOperator<double> folded(runtime(), op, sigma);
        EXPECT_EQ(folded.norm_bound(), std::pow(4 + std::abs(sigma), 2));
        const auto found = lobpcg(runtime(), {.a = &folded},
                                  {.count = 4, .method = method, .tolerance = 1e-12, .iterations = 3000});
        ASSERT_EQ(found.status().code, StatusCode::success) << found.status().message();
        const auto pairs = interior_pairs(runtime(), op, sigma, found);
        ASSERT_EQ(pairs.values.size(), 4);
        const std::vector<Index> numbers = nearest(sigma, 4);
        const std::vector<double> x = columns_of(pairs.vectors, 4);
        std::vector<double> expected;
        for (const Index k : numbers) expected.push_back(laplacian_value(n, k));
        // Of equal distances rounding decides about the order.
        std::vector<double> values = pairs.values;
        if (sigma == middle)
          std::sort(values.begin(), values.end()), std::sort(expected.begin(), expected.end());
        for (std::size_t j = 0; j < 4; ++j) {
          EXPECT_NEAR(values[j], expected[j], 1e-10);
          double square = 0;
          for (Index i = 0; i < n; ++i) {
            double r = -pairs.values[j] * x[std::size_t(4 * i) + j];
            for (const auto& [k, value] : a.rows[std::size_t(i)]) r += value * x[std::size_t(4 * k) + j];
            square += r * r;
          }
          EXPECT_LT(std::sqrt(square), 1e-7);
          EXPECT_NEAR(pairs.residuals[j], std::sqrt(square), 1e-12);
        }
      }
}

TEST_F(Interior, FoldedProductIsThatOfTheSquare) {
  const SparseRows a = laplacian(n);
  const auto op = operator_of<float>(runtime(), a, 3);
  const FoldedOperator<float> folded(runtime(), op, 0.75);
  // Three of five columns.
  const auto x = vectors_of<float>(runtime(), op.segments(), 5,
                                   [](Index i, Index j) { return laplacian_vector(n, i, 7 * j + 2); });
  const BlockVectors<float> y(runtime(), op.segments(), 5);
  Sequence sequence(runtime());
  folded.apply(sequence, x, y, 3);
  ASSERT_TRUE(sequence.wait().ok());
  const std::vector<float> product = columns_of(y, 3);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < 3; ++j)
      EXPECT_NEAR(product[std::size_t(3 * i + j)],
                  std::pow(laplacian_value(n, 7 * j + 2) - 0.75, 2) * laplacian_vector(n, i, 7 * j + 2),
                  2e-6);
}

/// An operator that solves (A - sigma I) x = b has the wanted pairs at its ends.
TEST_F(Interior, ShiftInvertByAUserSolve) {
  constexpr double sigma = 1.234;
  std::vector<double> inverse(n * n, 0.0);
  for (Index k = 1; k <= n; ++k)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        inverse[std::size_t(i * n + j)] +=
            laplacian_vector(n, i, k) * laplacian_vector(n, j, k) / (laplacian_value(n, k) - sigma);
  const UserOperator<double> solve(
      runtime(), RowSegments::even(runtime(), n, 2),
      [&](Index first, Index end, Index columns, const double* x, Index ldx, double* y, Index ldy) {
        for (Index i = first; i < end; ++i)
          for (Index j = 0; j < columns; ++j) {
            double sum = 0;
            for (Index l = 0; l < n; ++l) sum += inverse[std::size_t(i * n + l)] * x[l * ldx + j];
            y[(i - first) * ldy + j] = sum;
          }
      });
  for (const EigenMethod method : {EigenMethod::lobpcg, EigenMethod::generalized_davidson})
    for (const EigenEnd end : {EigenEnd::largest, EigenEnd::smallest}) {
      const auto found = lobpcg(runtime(), {.a = &solve}, {.count = 3, .method = method, .end = end});
      ASSERT_EQ(found.status().code, StatusCode::success) << found.status().message();
      EXPECT_LT(found.iterations, 40);
      // Above sigma, ascending; below it, descending.
      Index k = 1;
      while (laplacian_value(n, k) < sigma) ++k;
      for (Index j = 0; j < 3; ++j)
        EXPECT_NEAR(sigma + 1 / found.values[std::size_t(j)],
                    laplacian_value(n, end == EigenEnd::largest ? k + j : k - 1 - j), 1e-9);
    }
}

TEST_F(Interior, BadInput) {
  const auto op = operator_of<double>(runtime(), laplacian(n)),
             other = operator_of<double>(runtime(), laplacian(50));
  EXPECT_THROW(FoldedOperator<double>(runtime(), op, std::numeric_limits<double>::quiet_NaN()),
               InvalidArgument);
  const auto found = lobpcg(runtime(), {.a = &op}, {.count = 2});
  EXPECT_THROW(std::ignore = interior_pairs(runtime(), other, 1.0, found), InvalidArgument);
  EXPECT_THROW(std::ignore = interior_pairs(runtime(), op, 1.0, LobpcgResult<double>{}), InvalidArgument);
  EXPECT_THROW(std::ignore = interior_pairs(runtime(), op, HUGE_VAL, found), InvalidArgument);
}

}  // namespace
}  // namespace tessera::test
