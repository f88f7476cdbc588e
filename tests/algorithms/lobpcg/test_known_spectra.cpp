// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/support/runtime_test.hpp>

namespace tessera::test {
namespace {

class LobpcgSpectra : public RuntimeTest<double> {};

std::vector<double> laplacian_values(Index n) {
  std::vector<double> values;
  for (Index k = 1; k <= n; ++k) values.push_back(laplacian_value(n, k));
  return values;
}

TEST_F(LobpcgSpectra, LaplacianSmallAndLarge) {
  const Index n = 100;
  const SparseRows a = laplacian(n);
  std::vector<double> values = laplacian_values(n);
  for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest}) {
    if (end == EigenEnd::largest) std::reverse(values.begin(), values.end());
    for (const Index segments : {1, 3})
      for (const Index count : {1, 4, 20}) {
        const auto op = operator_of<double>(runtime(), a, segments, segments == 1);
        const auto result = lobpcg(runtime(), {.a = &op}, {.count = count, .end = end, .tolerance = 1e-8});
        expect_values(result, values, 1e-10);
        EXPECT_EQ(result.values.size(), std::size_t(count));
        EXPECT_EQ(result.converged, count);
        expect_eigenpairs<double>(result, a, nullptr, 1e-8 * 8, 1e-11);
      }
  }
}

TEST_F(LobpcgSpectra, LargestAreTheSmallestOfTheNegativeMatrix) {
  const Index n = 80;
  const SparseRows a = laplacian(n);
  SparseRows negative = a;
  for (auto& row : negative.rows)
    for (auto& [j, value] : row) value = -value;
  const auto op = operator_of<double>(runtime(), a), mirror = operator_of<double>(runtime(), negative);
  const auto largest = lobpcg(runtime(), {.a = &op}, {.count = 4, .end = EigenEnd::largest});
  const auto smallest = lobpcg(runtime(), {.a = &mirror}, {.count = 4});
  ASSERT_EQ(largest.status().code, StatusCode::success);
  EXPECT_NEAR(double(largest.iterations), double(smallest.iterations), 2);
  // The steps must agree up to rounding.
  for (std::size_t step = 0; step < 15; ++step)
    for (std::size_t k = 0; k < 6; ++k)
      EXPECT_NEAR(largest.history[step].values[k], -smallest.history[step].values[k], 1e-9)
          << step << " " << k;
}

TEST_F(LobpcgSpectra, GridHasDoubleEigenvalues) {
  const Index m = 16;
  const SparseRows a = grid_laplacian(m);
  const auto op = operator_of<double>(runtime(), a, 2);
  // The second block size ends inside a multiplet.
  for (const Index block : {0, 3})
    for (const Index count : {2, 3}) {
      if (block != 0 && block < count) continue;
      const auto result = lobpcg(runtime(), {.a = &op}, {.count = count, .block = block});
      expect_values(result, grid_values(m), 1e-10);
      expect_eigenpairs<double>(result, a, nullptr, 16e-8, 1e-11);
    }
}

TEST_F(LobpcgSpectra, PreconditionerSavesIterations) {
  const Index n = 200;
  const SparseRows a = laplacian(n);
  const auto op = operator_of<double>(runtime(), a, 2);
  UserPreconditioner<double> inverse(runtime(), op.segments(), tridiagonal_inverse<double>(n, 2, -1));
  const LobpcgOptions options{.count = 4, .tolerance = 1e-9};
  const auto plain = lobpcg(runtime(), {.a = &op}, options);
  const auto fast = lobpcg(runtime(), {.a = &op, .preconditioner = &inverse}, options);
  expect_values(fast, laplacian_values(n), 1e-10);
  expect_values(plain, laplacian_values(n), 1e-10);
  EXPECT_LT(fast.iterations, 20);
  EXPECT_LT(10 * fast.iterations, plain.iterations);
}

TEST_F(LobpcgSpectra, MikotaPair) {
  const Index n = 30;
  const auto [k, m] = mikota(n);
  for (const Index segments : {2}) {
    const auto a = operator_of<double>(runtime(), k, segments),
               b = operator_of<double>(runtime(), m, segments);
    std::vector<double> values;
    for (Index i = 1; i <= n; ++i) values.push_back(double(i * i));
    auto result = lobpcg(runtime(), {.a = &a, .b = &b}, {.count = 5, .tolerance = 1e-12});
    expect_values(result, values, 1e-7);
    expect_eigenpairs<double>(result, k, &m, 1e-7, 1e-9);
    std::reverse(values.begin(), values.end());
    result =
        lobpcg(runtime(), {.a = &a, .b = &b}, {.count = 5, .end = EigenEnd::largest, .tolerance = 1e-12});
    expect_values(result, values, 1e-7);
    expect_eigenpairs<double>(result, k, &m, 1e-7, 1e-9);
  }
}

}  // namespace
}  // namespace tessera::test
