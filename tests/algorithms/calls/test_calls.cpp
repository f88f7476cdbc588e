// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/tessera.hpp>

/// Behaviour common to all calls: problems in braces, results with a status, submitted calls. Every
/// problem uses the second difference matrix, whose eigenvalues are 2 - 2 cos(k pi / (n + 1)).
namespace tessera::test {
namespace {

constexpr Index n = 45;

double exact(Index k) {
  return 2 - 2 * std::cos(static_cast<double>(k + 1) * std::numbers::pi / (n + 1));
}

template <class T>
Matrix<T> second_difference() {
  Matrix<T> a(n, n);
  for (Index i = 0; i < n; ++i) {
    a(i, i) = T(2);
    if (i > 0) a(i, i - 1) = a(i - 1, i) = T(-1);
  }
  return a;
}

template <class Result>
void expect_values(const Result& result, Index first, Index count, double tolerance = 1e-13) {
  ASSERT_TRUE(result) << result.status().message();
  ASSERT_EQ(result.values.size(), static_cast<std::size_t>(count));
  for (Index k = 0; k < count; ++k)
    EXPECT_NEAR(result.values[static_cast<std::size_t>(k)], exact(first + k), tolerance) << k;
}

/// Tiles with their own memory.
TiledMatrix<double> tiles_of(Runtime& runtime, const Matrix<double>& a, Index tile) {
  TiledMatrix<double> tiles(runtime, {n, n, tile, tile, {}, Uplo::lower});
  for (Index j = 0; j < tiles.col_tiles(); ++j)
    for (Index i = j; i < tiles.row_tiles(); ++i) {
      const HostAccess access(tiles.tile(i, j), HostAccess::Mode::write);
      const auto view = access.matrix<double>();
      for (Index c = 0; c < view.cols; ++c)
        for (Index r = 0; r < view.rows; ++r) view(r, c) = a(i * tile + r, j * tile + c);
    }
  return tiles;
}

using Calls = RuntimeTest<double>;

/// The scalar type is deduced; no call names it.
TEST_F(Calls, FindTheScalarTypeOfAProblemInBraces) {
  const auto d = second_difference<double>();
  const auto s = second_difference<float>();
  const auto z = second_difference<std::complex<double>>();
  const auto c = second_difference<std::complex<float>>();
  expect_values(eigensolve(runtime(), {.a = {d.data(), n, n}}), 0, n);
  expect_values(eigensolve(runtime(), {.a = {s.data(), n, n}}), 0, n, 1e-5);
  expect_values(eigensolve(runtime(), {.a = {z.data(), n, n}}), 0, n);
  expect_values(eigensolve(runtime(), {.a = {c.data(), n, n}}), 0, n, 1e-5);
  const EigenProblem<double> named{.a = {d.data(), n, n}};
  expect_values(eigensolve(runtime(), named), 0, n);
  expect_values(eigensolve<double>(runtime(), {.a = {d.data(), n, n}}, {.vectors = false}), 0, n);
}

TEST_F(Calls, TakeArraysBlockCyclicArraysAndTiles) {
  auto a = second_difference<double>();
  auto b = Matrix<double>(n, n);
  for (Index i = 0; i < n; ++i) b(i, i) = 1;
  const EigensolveOptions some{.range = index_range(7, 19)};
  expect_values(eigensolve(runtime(), {.a = {a.data(), n, n}, .b = {b.data(), n, n}}, some), 7, 12);
  expect_values(eigensolve(runtime(), {.a = {a.data(), n, n, Uplo::upper}}, some), 7, 12);
  const TileLayout cyclic{n, n, 8, 8, {}, Uplo::lower};
  expect_values(eigensolve(runtime(), {.a = {a.data(), n, cyclic}}, some), 7, 12);
  const auto tiles = tiles_of(runtime(), a, 11), identity = tiles_of(runtime(), b, 16);
  expect_values(eigensolve(runtime(), {.a = tiles, .b = identity}, some), 7, 12);
  expect_values(eigensolve(runtime(), {.a = tiles, .b = {b.data(), n, n}}, some), 7, 12);
  expect_values(
      eigensolve(runtime(), {.a = tiles}, {.range = value_range(exact(6) + 1e-9, exact(18) + 1e-9)}), 7, 12);
}

TEST_F(Calls, WriteVectorsWhereTheyAreWanted) {
  const auto a = second_difference<double>();
  Matrix<double> z(n, 12);
  const EigensolveOptions some{.range = index_range(7, 19)};
  const auto into = eigensolve(runtime(), {.a = {a.data(), n, n}, .vectors_to = {z.data(), n}}, some);
  expect_values(into, 7, 12);
  EXPECT_EQ(into.vectors.count(), 0);
  const auto own = eigensolve(runtime(), {.a = {a.data(), n, n}}, some);
  EXPECT_EQ(own.vectors.cols(), 12);
  for (Index k = 0; k < 12; ++k) {
    double residual = 0, norm = 0;
    for (Index i = 0; i < n; ++i) {
      const auto at = [&](Index row) { return row < 0 || row >= n ? 0 : z(row, k); };
      residual = std::max(residual, std::abs((2 - exact(7 + k)) * at(i) - at(i - 1) - at(i + 1)));
      norm += at(i) * at(i);
    }
    EXPECT_LT(residual, 1e-12);
    EXPECT_NEAR(norm, 1, 1e-12);
  }
}

/// Every call reports a Status, and a result can be tested for success.
TEST_F(Calls, ResultsTellWhatHasFailed) {
  auto a = second_difference<double>();
  const auto good = eigensolve(runtime(), {.a = {a.data(), n, n}});
  EXPECT_TRUE(good);
  EXPECT_EQ(good.status().message(), "success");
  a(20, 4) = std::nan("");
  const auto bad = eigensolve(runtime(), {.a = {a.data(), n, n}});
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.status().code, StatusCode::not_finite);
  EXPECT_EQ(bad.status().index, 5);
  EXPECT_NE(bad.status().message().find("column 5"), std::string::npos) << bad.status().message();

  const UserOperator<double> op(
      runtime(), n, [](Index rows, Index columns, const double* x, Index ldx, double* y, Index ldy) {
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < columns; ++j)
            y[i * ldy + j] = 2 * x[i * ldx + j] - (i > 0 ? x[(i - 1) * ldx + j] : 0) -
                             (i + 1 < rows ? x[(i + 1) * ldx + j] : 0);
      });
  expect_values(lobpcg(runtime(), {.a = &op}, {.count = 2, .tolerance = 1e-10}), 0, 2, 1e-9);
  const auto few = lobpcg(runtime(), {.a = &op}, {.count = 2, .tolerance = 1e-10, .iterations = 2});
  EXPECT_FALSE(few);
  EXPECT_EQ(few.status().code, StatusCode::iterations_exhausted);
  EXPECT_EQ(few.status().stage, "lobpcg");
  EXPECT_NE(few.status().message().find("of 2 converged in 2 iterations"), std::string::npos)
      << few.status().message();
  EXPECT_EQ(few.values.size(), 2u) << "the best that there are";
  for (const StatusCode code : {StatusCode::success, StatusCode::stopped, StatusCode::breakdown})
    EXPECT_NE(std::string(to_string(code)), "unknown");
}

/// The caller may destroy its tiles after the call has returned.
TEST_F(Calls, KeepTheirInputs) {
  const auto a = second_difference<double>();
  std::vector<Completion<EigenResult<double>>> completions;
  for (const Solver solver : {Solver::two_stage, Solver::one_stage, Solver::vendor}) {
    const auto tiles = tiles_of(runtime(), a, 10);
    completions.push_back(submit_eigensolve(runtime(), {.a = tiles}, {.solver = solver}));
  }
  for (auto& completion : completions) {
    expect_values(completion.result(), 0, n);
    EXPECT_TRUE(completion.ready());
    EXPECT_TRUE(completion.status());
  }
}

TEST_F(Calls, AreReadyInTheEnd) {
  const auto a = second_difference<double>();
  auto completion = submit_eigensolve(runtime(), {.a = {a.data(), n, n}});
  while (!completion.ready()) std::this_thread::yield();
  EXPECT_TRUE(completion.wait());
  EXPECT_GT(completion.statistics().tasks, 0);
  const EigenResult<double> result = std::move(completion).result();
  expect_values(result, 0, n);
}

/// A matrix of 3 x 3 blocks with elements 1 + row + 2 column + shift.
BlockSparseMatrix<double> blocks(Runtime& runtime, double shift) {
  const std::vector<Index> sizes(5, 3);
  BlockSparseBuilder<double> builder(runtime, make_block_layout(runtime, sizes, sizes));
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 5; ++j) {
      if ((i + 2 * j) % 3 == 1) continue;
      double values[9];
      for (Index c = 0; c < 3; ++c)
        for (Index r = 0; r < 3; ++r)
          values[r + 3 * c] = 1 + static_cast<double>(3 * i + r + 2 * (3 * j + c)) + shift;
      builder.put(i, j, {values, 3, 3, 3});
    }
  return builder.finalize();
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> c(225);
  for (std::size_t j = 0; j < 15; ++j)
    for (std::size_t k = 0; k < 15; ++k)
      for (std::size_t i = 0; i < 15; ++i) c[i + 15 * j] += a[i + 15 * k] * b[k + 15 * j];
  return c;
}

/// While a submitted product is computed, later calls already use its result C, and its factors may
/// be destroyed.
TEST_F(Calls, ProductsFollowEachOther) {
  const auto dense_a = to_dense(blocks(runtime(), 0)), dense_b = to_dense(blocks(runtime(), 0.5));
  auto c = blocks(runtime(), 7), d = blocks(runtime(), 8);
  std::vector<Completion<MultiplyResult>> completions;
  {
    const auto a = blocks(runtime(), 0), b = blocks(runtime(), 0.5);
    completions.push_back(submit_multiply(runtime(), {.a = a, .b = b, .c = c}));
  }
  completions.push_back(submit_multiply(runtime(), {.alpha = 2.0, .a = c, .b = c, .beta = 0.0, .c = d}));
  BlockSparseMatrix<double> moved = std::move(c);
  const auto square = product(dense_a, dense_b), fourth = product(square, square);
  const auto computed = to_dense(moved), last = to_dense(d);
  for (std::size_t i = 0; i < 225; ++i) {
    EXPECT_EQ(computed[i], square[i]) << i;
    EXPECT_NEAR(last[i], 2 * fourth[i], 1e-12 * std::abs(fourth[i])) << i;
  }
  for (auto& completion : completions) {
    ASSERT_TRUE(completion.wait()) << completion.status().message();
    EXPECT_GT(completion.result().products, 0);
    EXPECT_EQ(completion.result().flop, 54.0 * static_cast<double>(completion.result().products));
  }
  auto small = submit_multiply(runtime(), {.a = moved, .b = moved, .c = d}, {.filter_eps = 1e30});
  ASSERT_TRUE(small.wait()) << small.status().message();
  EXPECT_EQ(d.pattern().blocks(), 0);
  EXPECT_GT(small.result().filtered_blocks + small.result().filtered_products, 0);
}

TEST_F(Calls, ProductsKnowTheirRuntime) {
  const auto a = blocks(runtime(), 0);
  auto c = blocks(runtime(), 1);
  ASSERT_TRUE(tessera::multiply({.a = a, .b = {a, Op::transpose}, .c = c}));
  const auto dense_a = to_dense(a);
  std::vector<double> transposed(225);
  for (std::size_t j = 0; j < 15; ++j)
    for (std::size_t i = 0; i < 15; ++i) transposed[j + 15 * i] = dense_a[i + 15 * j];
  EXPECT_EQ(to_dense(c), product(dense_a, transposed));
}

std::shared_ptr<const UserOperator<double>> difference_operator(Runtime& runtime) {
  return std::make_shared<const UserOperator<double>>(
      runtime, n, [](Index rows, Index columns, const double* x, Index ldx, double* y, Index ldy) {
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < columns; ++j)
            y[i * ldy + j] = 2 * x[i * ldx + j] - (i > 0 ? x[(i - 1) * ldx + j] : 0) -
                             (i + 1 < rows ? x[(i + 1) * ldx + j] : 0);
      });
}

/// Two LOBPCG solves and a direct solve run concurrently. The solves share the operator, which the
/// caller releases.
TEST_F(Calls, IterationsRunBesideOtherCalls) {
  auto op = difference_operator(runtime());
  const std::weak_ptr<const UserOperator<double>> watch = op;
  {
    auto low = submit_lobpcg(runtime(), {.a = op}, {.count = 2, .tolerance = 1e-10});
    auto high =
        submit_lobpcg(runtime(), {.a = op}, {.count = 2, .end = EigenEnd::largest, .tolerance = 1e-10});
    op.reset();
    EXPECT_FALSE(watch.expired());
    const auto a = second_difference<double>();
    expect_values(eigensolve(runtime(), {.a = {a.data(), n, n}}), 0, n);
    expect_values(low.result(), 0, 2, 1e-9);
    while (!high.ready()) std::this_thread::yield();
    const auto& largest = high.result();
    ASSERT_TRUE(largest) << largest.status().message();
    EXPECT_NEAR(largest.values[0], exact(n - 1), 1e-9);
    EXPECT_GT(high.statistics().tasks, 0);
  }
  EXPECT_TRUE(watch.expired());
}

/// Two threads multiply with one matrix, whose partial sums are shared, and with blocks of
/// different widths.
TEST_F(Calls, IterationsShareOneStoredMatrix) {
  constexpr Index order = 400;
  std::vector<Index> rows, columns;
  std::vector<double> values;
  for (Index i = 0; i < order; ++i)
    for (Index j = i % 7; j <= i; j += 7)
      rows.push_back(i), columns.push_back(j), values.push_back(i == j ? double(i) : 1.0 / double(i + j + 1));
  const auto a = CsbMatrix<double, double>::build(
      runtime(), CoordinateRows::from_coordinates(order, rows, columns, values),
      {.groups = 3, .segments = 2});
  const LobpcgOptions low_end{.count = 2, .block = 4, .tolerance = 1e-8},
      high_end{.count = 2, .block = 7, .end = EigenEnd::largest, .tolerance = 1e-8};
  const auto low_alone = lobpcg(runtime(), {.a = &a}, low_end),
             high_alone = lobpcg(runtime(), {.a = &a}, high_end);
  for (int round = 0; round < 20; ++round) {
    auto low = submit_lobpcg(runtime(), {.a = &a}, low_end),
         high = submit_lobpcg(runtime(), {.a = &a}, high_end);
    ASSERT_TRUE(low.result()) << low.status().message();
    ASSERT_TRUE(high.result()) << high.status().message();
    EXPECT_EQ(low.result().values, low_alone.values);  // bitwise equal, whatever else runs
    EXPECT_EQ(high.result().values, high_alone.values);
  }
}

TEST_F(Calls, ReleasedTilesAreRefused) {
  auto matrix = second_difference<double>();
  auto tiles = TiledMatrix<double>::wrap(runtime(), matrix.data(), n, {n, n, 8, 8, {}, Uplo::lower});
  tiles.release();
  EXPECT_THROW(std::ignore = eigensolve(runtime(), {.a = tiles}), InvalidArgument);
}

TEST_F(Calls, IterationsStopAndThrowAtTheWait) {
  const auto op = difference_operator(runtime());
  LobpcgOptions options{.count = 2, .tolerance = 1e-10};
  EXPECT_THROW(std::ignore = submit_lobpcg(runtime(), {.a = op}, {.count = n}), InvalidArgument);
  options.monitor = [](const LobpcgStep& step) { return step.iteration < 1; };
  auto stopped = submit_lobpcg(runtime(), {.a = op}, options);
  EXPECT_EQ(stopped.wait().code, StatusCode::stopped);
  EXPECT_FALSE(stopped.result());
  options.monitor = [](const LobpcgStep&) -> bool { throw std::logic_error("no more"); };
  auto thrown = submit_lobpcg(runtime(), {.a = op}, options);
  EXPECT_THROW(thrown.wait(), std::logic_error);
  EXPECT_FALSE(thrown.status());
  EXPECT_THROW(thrown.wait(), std::logic_error);
  expect_values(lobpcg(runtime(), {.a = op.get()}, {.count = 1, .tolerance = 1e-10}), 0, 1, 1e-9);
}

}  // namespace
}  // namespace tessera::test
