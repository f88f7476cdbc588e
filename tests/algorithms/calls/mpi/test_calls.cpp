// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include <tessera/tessera.hpp>

/// Submitted calls and distributed arrays, with the second difference matrix, whose eigenvalues are
/// 2 - 2 cos(k pi / (n + 1)).
namespace tessera::test {
namespace {

constexpr Index n = 40;

double exact(Index k) {
  return 2 - 2 * std::cos(static_cast<double>(k + 1) * std::numbers::pi / (n + 1));
}

double element(Index i, Index j) {
  return i == j ? 2 : i == j + 1 || j == i + 1 ? -1 : 0;
}

class CallsMpi : public ::testing::Test {
 protected:
  Runtime runtime_{{.cores = 1, .gpus = 0, .bind = false}, Communicator::world()};
};

/// This rank's part of a block-cyclic array.
struct LocalPart {
  TileLayout layout;
  std::vector<double> values;
  Index ld = 1;
  LocalPart(const Runtime& runtime, Index block) {
    const ProcessGrid grid = ProcessGrid::squarest(runtime.size());
    layout = {n, n, block, block, grid, Uplo::lower};
    const int p = runtime.rank() / grid.cols, q = runtime.rank() % grid.cols;
    const Index rows = local_extent(n, block, p, grid.rows), cols = local_extent(n, block, q, grid.cols);
    ld = std::max<Index>(rows, 1);
    values.resize(static_cast<std::size_t>(ld * std::max<Index>(cols, 1)));
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i)
        values[static_cast<std::size_t>(i + j * ld)] = element(
            (i / block * grid.rows + p) * block + i % block, (j / block * grid.cols + q) * block + j % block);
  }
};

template <class Result>
void expect_values(const Result& result, Index first, Index count, double tolerance) {
  ASSERT_TRUE(result) << result.status().message();
  ASSERT_EQ(result.values.size(), static_cast<std::size_t>(count));
  for (Index k = 0; k < count; ++k)
    EXPECT_NEAR(result.values[static_cast<std::size_t>(k)], exact(first + k), tolerance) << k;
}

TEST_F(CallsMpi, BlockCyclicArraysAreTakenAsTheyLie) {
  const LocalPart a(runtime_, 7);
  auto completion = submit_eigensolve(runtime_, {.a = {a.values.data(), a.ld, a.layout}},
                                      {.solver = Solver::two_stage, .range = index_range(3, 20)});
  while (!completion.ready()) std::this_thread::yield();
  expect_values(completion.result(), 3, 17, 1e-13);
}

/// If one rank makes a mistake, all ranks throw, and the Runtime stays usable.
TEST_F(CallsMpi, ArraysThatOneRankLacksAreRefusedByAll) {
  const LocalPart a(runtime_, 7);
  const bool last = runtime_.rank() == std::min(runtime_.size(), a.layout.grid.rows * a.layout.grid.cols) - 1;
  try {
    std::ignore =
        submit_eigensolve<double>(runtime_, {.a = {last ? nullptr : a.values.data(), a.ld, a.layout}});
    ADD_FAILURE() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.name(), "a.local") << error.what();
  }
  double whole[n * n] = {};
  if (runtime_.size() > 1) {
    EXPECT_THROW(std::ignore = eigensolve(runtime_, {.a = {whole, n, n}}), InvalidArgument);
  }
  EXPECT_FALSE(runtime_.poisoned());
  expect_values(eigensolve(runtime_, {.a = {a.values.data(), a.ld, a.layout}}, {.vectors = false}), 0, n,
                1e-13);
}

TEST_F(CallsMpi, IterationsAndProductsAreSubmitted) {
  std::vector<Index> rows, columns;
  std::vector<double> values;
  for (Index i = 0; i < n; ++i)
    for (Index j = std::max<Index>(i - 1, 0); j <= i; ++j)
      rows.push_back(i), columns.push_back(j), values.push_back(element(i, j));
  const auto entries = CoordinateRows::from_coordinates(n, rows, columns, values);
  const auto a = CsbMatrix<double, double>::build(runtime_, entries);
  int steps = 0;
  auto pairs = submit_lobpcg(
      runtime_, {.a = &a},
      {.count = 2, .tolerance = 1e-10, .monitor = [&](const LobpcgStep&) { return ++steps > 0; }});
  if (runtime_.size() > 1) {  // with several ranks the solve is complete when submit_lobpcg returns
    EXPECT_GT(steps, 0);
  }
  expect_values(pairs.result(), 0, 2, 1e-9);

  const std::vector<Index> sizes(8, 5);
  std::vector<double> dense(n * n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) dense[static_cast<std::size_t>(i + j * n)] = element(i, j);
  const auto layout = make_block_layout(runtime_, sizes, sizes);
  auto c = from_dense<double>(runtime_, {dense.data(), n, n, n}, layout);
  auto d = from_dense<double>(runtime_, {dense.data(), n, n, n}, layout);
  auto square = submit_multiply(runtime_, {.a = c, .b = c, .c = d});
  auto third = submit_multiply(runtime_, {.a = d, .b = c, .beta = 1.0, .c = c});
  const std::vector<double> computed = to_dense(c);
  // Entries of A^3 + A away from the matrix ends, for the second difference matrix A.
  const double expected[] = {22, -16, 6, -1, 0};
  for (Index j = 10; j < 30; ++j)
    for (Index i = j; i < j + 5; ++i)
      EXPECT_EQ(computed[static_cast<std::size_t>(i + j * n)], expected[i - j]) << i << ' ' << j;
  EXPECT_TRUE(third.wait());
  EXPECT_TRUE(square.wait());
}

}  // namespace
}  // namespace tessera::test
