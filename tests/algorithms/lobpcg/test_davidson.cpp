// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>
#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/preconditioners.hpp>
#include <tessera/sparse_matrix.hpp>

/// The methods with a deep basis, against LAPACK, closed forms and LOBPCG.
namespace tessera::test {
namespace {

constexpr EigenMethod davidson = EigenMethod::generalized_davidson;

template <class T>
class DeepBasis : public RuntimeTest<double> {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DeepBasis, Reals);

/// A random sparse matrix with some elements in each row.
SparseRows random_rows(Index n, double diagonal, std::uint64_t seed) {
  SparseRows a(n);
  for (Index i = 0; i < n; ++i) {
    a.add(i, i, diagonal + random_uniform(seed, 0, i, i));
    for (Index j = std::max<Index>(0, i - 3); j < i; ++j) a.add(i, j, random_uniform(seed, 0, i, j) / 4);
  }
  return a;
}

TYPED_TEST(DeepBasis, AgreesWithLapackForAllSizes) {
  using T = TypeParam;
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-9;
  for (const Index n : {16, 61, 150}) {
    const SparseRows a = random_rows(n, 0, 7), b = random_rows(n, 4, 8);
    const auto op = operator_of<T>(this->runtime(), a, 3), mass = operator_of<T>(this->runtime(), b, 3);
    for (const bool generalized : {false, true}) {
      const std::vector<double> all =
          generalized ? lapack_eigenvalues(dense(a), dense(b)) : lapack_eigenvalues(dense(a));
      for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest})
        for (const auto& [count, block, basis] :
             {std::tuple<Index, Index, Index>{1, 0, 0},
              {3, 1, 5},
              {3, 2, 0},
              {2, 5, 16},
              {n / 5, 0, 0},
              {std::min<Index>(n / 5, 30), std::min<Index>(n / 5, 30), 0}}) {
          SCOPED_TRACE(fmt::format("n {} B {} largest {} count {} block {} basis {}", n, generalized,
                                   end == EigenEnd::largest, count, block, basis));
          const auto result = lobpcg(this->runtime(), {.a = &op, .b = generalized ? &mass : nullptr},
                                     {.count = count,
                                      .method = davidson,
                                      .block = block,
                                      .basis = basis,
                                      .end = end,
                                      .tolerance = tolerance,
                                      .iterations = 3000});
          std::vector<double> wanted = all;
          if (end == EigenEnd::largest) std::reverse(wanted.begin(), wanted.end());
          ASSERT_EQ(Index(result.values.size()), count);
          EXPECT_EQ(result.converged, count);
          EXPECT_EQ(result.vectors.width(), std::max(count, block));
          expect_values(result, wanted, sizeof(T) == 4 ? 1e-4 : 1e-11);
          expect_eigenpairs<T>(result, a, generalized ? &b : nullptr, 20 * tolerance,
                               sizeof(T) == 4 ? 5e-5 : 1e-11);
        }
    }
  }
}

class Davidson : public RuntimeTest<double> {
 protected:
  static constexpr Index n = 120;
  static std::vector<double> values(Index order = n) {
    std::vector<double> all;
    for (Index k = 1; k <= order; ++k) all.push_back(laplacian_value(order, k));
    return all;
  }
};

/// Counts the columns that it multiplies.
class CountedOperator final : public SymmetricOperator<double> {
 public:
  CountedOperator(Runtime& runtime, const SparseRows& a) : a_(operator_of<double>(runtime, a, 2)) {}
  Index order() const override { return a_.order(); }
  const std::shared_ptr<const RowSegments>& segments() const override { return a_.segments(); }
  double norm_bound() const override { return a_.norm_bound(); }
  void apply(Sequence& sequence, const BlockVectors<double>& x, const BlockVectors<double>& y,
             Index count) const override {
    columns.push_back(count);
    a_.apply(sequence, x, y, count);
  }
  mutable std::vector<Index> columns;

 private:
  UserOperator<double> a_;
};

TEST_F(Davidson, OneProductOfTheTargetsAnIteration) {
  for (const Index block : {1, 2, 5})
    for (const bool lock : {true, false}) {
      const CountedOperator op(runtime(), laplacian(n));
      const auto result =
          lobpcg(runtime(), {.a = &op}, {.count = 5, .method = davidson, .block = block, .lock = lock});
      ASSERT_EQ(result.status().code, StatusCode::success) << result.status().message();
      ASSERT_EQ(result.restarts, 0);
      ASSERT_EQ(Index(op.columns.size()), result.iterations + 2);
      EXPECT_EQ(result.multiplications, result.iterations + 2);
      EXPECT_EQ(op.columns.front(), 5);
      EXPECT_EQ(op.columns.back(), 5);
      Index sum = 0;
      for (const Index columns : op.columns) sum += columns;
      EXPECT_EQ(result.columns_multiplied, sum);
      for (std::size_t i = 1; i + 1 < op.columns.size(); ++i) {
        const std::vector<double>& residuals = result.history[i - 1].residuals;
        const auto open =
            std::count_if(residuals.begin(), residuals.end(), [](double r) { return r > 1e-8; });
        EXPECT_EQ(op.columns[i], std::min<Index>(block, lock ? open : 5)) << i;
      }
    }
}

/// The largest blocks and bases: what a restart keeps has no more columns than two blocks.
TEST_F(Davidson, WideBlocksAndBases) {
  const SparseRows a = grid_laplacian(26);
  const auto op = operator_of<double>(runtime(), a, 2);
  for (const auto& [count, block, basis] :
       {std::tuple<Index, Index, Index>{32, 32, 128}, {32, 24, 128}, {32, 17, 96}, {20, 32, 128}}) {
    SCOPED_TRACE(fmt::format("count {} block {} basis {}", count, block, basis));
    const auto result =
        lobpcg(runtime(), {.a = &op},
               {.count = count, .method = davidson, .block = block, .basis = basis, .tolerance = 1e-9});
    ASSERT_GT(result.columns_multiplied, basis);  // there were restarts
    expect_values(result, grid_values(26), 1e-8);
    expect_eigenpairs(result, a, nullptr, 1e-7, 1e-11);
  }
}

/// Krylov spaces are the best that there is without a preconditioner: one direction a step finds the lowest pair
/// in as many products as Lanczos, and LOBPCG needs more.
TEST_F(Davidson, NeedsFewerColumnsThanLobpcg) {
  const SparseRows a = grid_laplacian(30);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto deep = lobpcg(runtime(), {.a = &op}, {.count = 6, .method = davidson}),
             flat = lobpcg(runtime(), {.a = &op}, {.count = 6});
  expect_values(deep, grid_values(30), 1e-9);
  expect_values(flat, grid_values(30), 1e-9);
  EXPECT_LT(double(deep.columns_multiplied), 0.75 * double(flat.columns_multiplied));
}

TEST_F(Davidson, DegenerateSpectra) {
  // Double eigenvalues that the count and the block cut.
  const SparseRows grid = grid_laplacian(16);
  const auto op = operator_of<double>(runtime(), grid, 2);
  for (const Index count : {2, 3, 6})
    for (const Index block : {1, 2, 6}) {
      const auto result = lobpcg(runtime(), {.a = &op}, {.count = count, .method = davidson, .block = block});
      SCOPED_TRACE(fmt::format("count {} block {}", count, block));
      expect_values(result, grid_values(16), 1e-10);
      expect_eigenpairs<double>(result, grid, nullptr, 1.6e-7, 1e-11);
    }
  for (const double value : {0.0, 1.0, -3e5}) {
    const SparseRows a = diagonal(std::vector<double>(40, value));
    const auto multiple = operator_of<double>(runtime(), a);
    const auto result = lobpcg(runtime(), {.a = &multiple}, {.count = 3, .method = davidson});
    expect_values(result, std::vector<double>(40, value), 1e-9);
    EXPECT_LE(result.iterations, 1);
  }
  std::vector<double> clusters;
  for (Index i = 0; i < 200; ++i) clusters.push_back(i < 4 ? 1 + 1e-8 * double(i) : 2 + double(i));
  const SparseRows a = diagonal(clusters);
  const auto close = operator_of<double>(runtime(), a, 2);
  for (const Index count : {2, 4}) {
    const auto result = lobpcg(runtime(), {.a = &close},
                               {.count = count, .method = davidson, .block = 4, .tolerance = 1e-12});
    expect_values(result, clusters, 2e-10 * 202);
    expect_eigenpairs<double>(result, a, nullptr, 1e-9, 1e-11);
  }
}

TEST_F(Davidson, StartsOfAllKinds) {
  const SparseRows a = laplacian(n);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto solve_from = [&](Index columns, const std::function<double(Index, Index)>& element) {
    const auto guess = vectors_of<double>(runtime(), op.segments(), columns, element);
    auto result = lobpcg(runtime(), {.a = &op, .guess = &guess, .guess_count = columns},
                         {.count = 4, .method = davidson, .iterations = 2000});
    expect_values(result, values(), 1e-10);
    expect_eigenpairs<double>(result, a, nullptr, 8e-8, 1e-11);
    // A pair that has been locked in the place of another is noticed before the end.
    EXPECT_EQ(result.restarts, 0);
    return result;
  };
  solve_from(4, [](Index, Index) { return 0; });
  solve_from(3, [](Index i, Index) { return random_uniform(3, 0, i, 0); });
  solve_from(4,
             [](Index i, Index j) { return random_uniform(3, 0, i, j) * std::pow(10.0, 20.0 * double(j)); });
  EXPECT_LE(solve_from(4, [](Index i, Index j) { return laplacian_vector(n, i, j + 1); }).iterations, 1);
  // Unwanted eigenvectors have converged, and are locked, before the wanted ones come.
  const auto late = solve_from(3, [](Index i, Index j) { return laplacian_vector(n, i, j + 5); });
  EXPECT_GT(late.history.front().converged + late.history[1].converged, 0);
}

TEST_F(Davidson, ConstraintsAlsoOfAPair) {
  const SparseRows a = laplacian(n);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto found = vectors_of<double>(runtime(), op.segments(), 40, [](Index i, Index j) {
    return laplacian_vector(n, i, j + 1) + 0.5 * laplacian_vector(n, i, (j + 1) % 40 + 1);
  });
  const auto result = lobpcg(runtime(), {.a = &op, .constraints = &found, .constraint_count = 40},
                             {.count = 3, .method = davidson});
  const auto all = values();
  expect_values(result, {all.begin() + 40, all.end()}, 1e-10);

  const auto [k, m] = mikota(40);
  const auto stiff = operator_of<double>(runtime(), k), mass = operator_of<double>(runtime(), m);
  const auto first =
      lobpcg(runtime(), {.a = &stiff, .b = &mass}, {.count = 2, .method = davidson, .tolerance = 1e-13});
  expect_values(first, {1, 4}, 1e-9);
  const auto second =
      lobpcg(runtime(), {.a = &stiff, .b = &mass, .constraints = &first.vectors, .constraint_count = 2},
             {.count = 2, .method = davidson, .tolerance = 1e-12});
  expect_values(second, {9, 16}, 1e-7);
}

TEST_F(Davidson, Preconditioners) {
  const SparseRows a = laplacian(n);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto solve = [&](UserFunction<double> function) {
    UserPreconditioner<double> t(runtime(), op.segments(), std::move(function));
    return lobpcg(runtime(), {.a = &op, .preconditioner = &t},
                  {.count = 4, .method = davidson, .iterations = 60});
  };
  for (const auto& function :
       {tridiagonal_inverse<double>(n, 2 - 0.0001, -1), tridiagonal_inverse<double>(n, 2, -1, -1),
        tridiagonal_inverse<double>(n, 2, -1, 1e140), tridiagonal_inverse<double>(n, 2, -1, 1e-120)}) {
    const auto result = solve(function);
    expect_values(result, values(), 1e-10);
    EXPECT_LT(result.iterations, 20);
  }
  for (const double rank : {1.0, 0.0}) {
    const auto result =
        solve([&](Index first, Index end, Index columns, const double* x, Index ldx, double* y, Index ldy) {
          for (Index j = 0; j < columns; ++j)
            for (Index i = first; i < end; ++i)
              y[(i - first) * ldy + j] = rank * x[j] * 1e-3 + 0 * x[i * ldx + j];
        });
    EXPECT_NE(result.status().code, StatusCode::not_finite) << result.status().message();
    if (rank != 0) continue;
    EXPECT_EQ(result.status().code, StatusCode::breakdown);
    EXPECT_NE(result.status().message().find("precondition"), std::string::npos) << result.status().message();
  }
}

/// Directions that the solver has taken for independent, and are not: A is applied once more, and nothing else
/// changes.
TEST_F(Davidson, DirectionsThatSuddenlyDepend) {
  const auto [k, m] = mikota(60);
  const auto of_pair = operator_of<double>(runtime(), k, 2), b = operator_of<double>(runtime(), m, 2);
  const SparseRows alone = laplacian(60);
  const auto a_alone = operator_of<double>(runtime(), alone, 2);
  constexpr int when = 6;
  enum class Kind { none, equal, nearly_equal, zero };
  for (const bool pair : {false, true})
    for (const Kind kind : {Kind::none, Kind::equal, Kind::nearly_equal, Kind::zero}) {
      SCOPED_TRACE(fmt::format("pair {} kind {}", pair, static_cast<int>(kind)));
      int application = 0;
      tessera::UserPreconditioner<double> t(
          [&](Index first, Index rows, Index columns, const double* x, Index ldx, double* y, Index ldy) {
            for (Index i = 0; i < rows; ++i) {
              for (Index j = 0; j < columns; ++j) y[i * ldy + j] = x[i * ldx + j];
              if (application != when || kind == Kind::none || columns < 2) continue;
              const double noise = 1e-9 * random_uniform(5, 0, first + i, 0) * std::abs(x[i * ldx]);
              y[i * ldy + 1] = kind == Kind::zero ? 0 : y[i * ldy] + (kind == Kind::equal ? 0 : noise);
            }
          },
          [&](std::span<const double>, Index) { ++application; });
      const auto result =
          lobpcg(runtime(), {.a = pair ? &of_pair : &a_alone, .b = pair ? &b : nullptr, .preconditioner = &t},
                 {.count = 3, .method = davidson, .tolerance = 1e-9});
      EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
      EXPECT_EQ(result.restarts, 0);
      EXPECT_GT(application, when);
      // Twice where a direction was dependent, and where the basis had no trust already.
      EXPECT_GE(result.multiplications, result.iterations + 2 + (kind == Kind::none ? 0 : 1));
      for (Index j = 0; j < 3; ++j)
        EXPECT_NEAR(result.values[std::size_t(j)],
                    pair ? double((j + 1) * (j + 1)) : laplacian_value(60, j + 1), 1e-8);
    }
}

TEST_F(Davidson, NumbersThatAreNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const SparseRows a = laplacian(n);
  int calls = 0;
  UserOperator<double> late(
      runtime(), n, [&](Index order, Index columns, const double* x, Index ldx, double* y, Index ldy) {
        function_of<double>(a)(0, order, columns, x, ldx, y, ldy);
        if (++calls == 4) y[3 * ldy] = nan;
      });
  auto result = lobpcg(runtime(), {.a = &late}, {.count = 2, .method = davidson});
  EXPECT_EQ(result.status().code, StatusCode::not_finite);
  EXPECT_EQ(result.status().reason, "NaN or infinity in iteration 3 in A times vectors");
  ASSERT_EQ(result.values.size(), 2);
  EXPECT_TRUE(std::isnan(result.residuals[0]));
  // The vectors are those of the last good step.
  const std::vector<double> x = columns_of(result.vectors, 2);
  for (Index j = 0; j < 2; ++j) {
    double square = 0, energy = 0;
    for (Index i = 0; i < n; ++i) {
      square += std::pow(x[std::size_t(2 * i + j)], 2);
      for (const auto& [k, value] : a.rows[std::size_t(i)])
        energy += value * x[std::size_t(2 * i + j)] * x[std::size_t(2 * k + j)];
    }
    EXPECT_NEAR(square, 1, 1e-11);
    EXPECT_NEAR(energy, result.values[std::size_t(j)], 1e-11);
    EXPECT_EQ(result.values[std::size_t(j)], result.history.back().values[std::size_t(j)]);
  }
  UserOperator<double> broken(runtime(), n,
                              [&](Index rows, Index columns, const double*, Index, double* y, Index ldy) {
                                for (Index i = 0; i < rows; ++i) std::fill_n(y + i * ldy, columns, nan);
                              });
  result = lobpcg(runtime(), {.a = &broken}, {.count = 2, .method = davidson});
  EXPECT_EQ(result.status().code, StatusCode::not_finite);
  EXPECT_TRUE(result.values.empty());
  EXPECT_EQ(columns_of(result.vectors, 2), std::vector<double>(2 * n, 0.0));
  const auto op = operator_of<double>(runtime(), a, 2);
  UserPreconditioner<double> t(
      runtime(), op.segments(),
      [&](Index first, Index end, Index columns, const double*, Index, double* y, Index ldy) {
        for (Index i = 0; i < end - first; ++i) std::fill_n(y + i * ldy, columns, nan);
      });
  result = lobpcg(runtime(), {.a = &op, .preconditioner = &t}, {.count = 2, .method = davidson});
  EXPECT_EQ(result.status().code, StatusCode::not_finite);
  EXPECT_NE(result.status().message().find("preconditioner"), std::string::npos) << result.status().message();
  UserOperator<double> throws(runtime(), n,
                              [](Index, Index, const double*, Index, double*, Index) { throw 1; });
  EXPECT_THROW(std::ignore = lobpcg(runtime(), {.a = &throws}, {.count = 2, .method = davidson}), int);
}

/// The operator changes in the middle: the final check finds it, and the solve begins again from its vectors.
TEST_F(Davidson, BeginsAgainWhereProductsHaveChanged) {
  const SparseRows a = laplacian(n);
  int calls = 0;
  UserOperator<double> op(runtime(), n,
                          [&](Index rows, Index columns, const double* x, Index ldx, double* y, Index ldy) {
                            function_of<double>(a)(0, rows, columns, x, ldx, y, ldy);
                            ++calls;
                            for (Index i = 0; i < rows; ++i)
                              for (Index j = 0; j < columns; ++j) y[i * ldy + j] *= calls > 6 ? 1 + 1e-6 : 1;
                          });
  UserPreconditioner<double> t(runtime(), op.segments(), tridiagonal_inverse<double>(n, 2, -1));
  const auto result = lobpcg(runtime(), {.a = &op, .preconditioner = &t},
                             {.count = 5, .method = davidson, .tolerance = 1e-11});
  EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
  EXPECT_GE(result.restarts, 1);
  for (Index j = 0; j < 5; ++j)
    EXPECT_NEAR(result.values[std::size_t(j)], (1 + 1e-6) * laplacian_value(n, j + 1), 1e-9);
}

TEST_F(Davidson, ScalesOfAllKinds) {
  for (const auto& [of_a, of_b] :
       {std::pair(1e-130, 1.0), std::pair(1e100, 1.0), std::pair(1e90, 1e-40), std::pair(1e-95, 1e40)}) {
    SparseRows a = laplacian(60);
    for (auto& row : a.rows)
      for (auto& [j, value] : row) value *= of_a;
    const auto op = operator_of<double>(runtime(), a);
    const auto mass = operator_of<double>(runtime(), diagonal(std::vector<double>(60, of_b)));
    const auto result =
        lobpcg(runtime(), {.a = &op, .b = of_b == 1 ? nullptr : &mass}, {.count = 3, .method = davidson});
    EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
    EXPECT_EQ(result.restarts, 0);
    for (Index k = 0; k < 3; ++k)
      EXPECT_NEAR(result.values[std::size_t(k)] / of_a * of_b, laplacian_value(60, k + 1), 1e-10) << of_a;
    for (const LobpcgStep& step : result.history)
      EXPECT_GE(step.values[0] / of_a * of_b, (1 - 1e-9) * laplacian_value(60, 1)) << of_a;
  }
  const auto tiny = operator_of<double>(runtime(), diagonal(std::vector<double>(60, 1e-160)));
  EXPECT_THROW(std::ignore = lobpcg(runtime(), {.a = &tiny}, {.count = 2, .method = davidson}),
               InvalidArgument);
}

/// B of too small a rank: right values, or no success.
TEST_F(Davidson, OverlapWithANullSpace) {
  for (const Index rank : {0, 2, 4, 5, 7, 12, 30}) {
    const auto op = operator_of<double>(runtime(), laplacian(60), 2);
    std::vector<double> overlap(60, 0.0);
    std::fill_n(overlap.begin(), rank, 1.0);
    const auto b = operator_of<double>(runtime(), diagonal(overlap), 2);
    const auto result =
        lobpcg(runtime(), {.a = &op, .b = &b}, {.count = 3, .method = davidson, .iterations = 100});
    if (rank < 3) {
      EXPECT_EQ(result.status().code, StatusCode::breakdown) << result.status().message();
    }
    EXPECT_NE(result.status().code, StatusCode::not_finite) << rank << ": " << result.status().message();
    for (const double value : result.values)
      EXPECT_TRUE(std::isfinite(value) && std::abs(value) < 1e3) << value;
  }
}

TEST_F(Davidson, HowItEnds) {
  const SparseRows a = laplacian(n);
  const auto op = operator_of<double>(runtime(), a);
  auto result =
      lobpcg(runtime(), {.a = &op}, {.count = 2, .method = davidson, .tolerance = 1e-30, .iterations = 3000});
  EXPECT_EQ(result.status().code, StatusCode::stagnated) << result.status().message();
  for (Index k = 0; k < 2; ++k) EXPECT_NEAR(result.values[std::size_t(k)], laplacian_value(n, k + 1), 1e-13);

  result = lobpcg(runtime(), {.a = &op}, {.count = 2, .method = davidson, .iterations = 5});
  EXPECT_EQ(result.status().code, StatusCode::iterations_exhausted);
  EXPECT_EQ(result.iterations, 5);
  expect_eigenpairs<double>(result, a, nullptr, 4, 1e-11);

  result =
      lobpcg(runtime(), {.a = &op}, {.count = 2, .method = davidson, .monitor = [](const LobpcgStep& step) {
                                       return step.iteration < 12;
                                     }});
  EXPECT_EQ(result.status().code, StatusCode::stopped);
  EXPECT_EQ(result.iterations, 12);
  expect_eigenpairs<double>(result, a, nullptr, 4, 1e-11);

  SparseRows lopsided(n);
  for (Index i = 0; i < n; ++i) {
    lopsided.add(i, i, double(i));
    if (i > 0) lopsided.rows[std::size_t(i)].emplace_back(i - 1, 1.0);
  }
  const auto asymmetric = operator_of<double>(runtime(), lopsided);
  EXPECT_THROW(std::ignore = lobpcg(runtime(), {.a = &asymmetric}, {.count = 2, .method = davidson}),
               InvalidArgument);
  const auto indefinite = operator_of<double>(runtime(), diagonal(std::vector<double>(n, -1.0)));
  EXPECT_EQ(lobpcg(runtime(), {.a = &op, .b = &indefinite}, {.count = 2, .method = davidson}).status().code,
            StatusCode::breakdown);
}

/// Known stored entries decide; and what only one method takes.
TEST_F(Davidson, AutomaticChoice) {
  const auto method_of = [&](const SymmetricOperator<double>& a, const LobpcgOptions& given) {
    LobpcgOptions options = given;
    options.method = EigenMethod::automatic;
    const auto result = lobpcg(runtime(), {.a = &a}, options);
    EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
    return result.method;
  };
  const auto stored = [&](Index order, Index width) {
    std::vector<Index> rows, columns;
    std::vector<double> elements;
    for (Index i = 0; i < order; ++i)
      for (Index j = std::max<Index>(0, i - width + 1); j <= i; ++j) {
        rows.push_back(i), columns.push_back(j);
        elements.push_back(i == j ? double(i) : 0.1 * random_uniform(3, 0, i, j));
      }
    return CsbMatrix<double, double>::build(runtime(),
                                            CoordinateRows::from_coordinates(order, rows, columns, elements));
  };
  const auto sparse = stored(300, 2), full = stored(300, 90);
  const auto unknown = operator_of<double>(runtime(), laplacian(n));
  const EigenMethod deep = runtime().any_gpus() ? EigenMethod::lobpcg : davidson;
  EXPECT_EQ(method_of(sparse, {.count = 1}), EigenMethod::lobpcg);
  EXPECT_EQ(method_of(sparse, {.count = 10}), deep);
  EXPECT_EQ(method_of(full, {.count = 1}), deep);
  EXPECT_EQ(method_of(unknown, {.count = 1}), deep);
  EXPECT_EQ(method_of(unknown, {.count = 1, .variant = LobpcgVariant::basic}), EigenMethod::lobpcg);
  EXPECT_EQ(method_of(sparse, {.count = 3, .block = 2}), davidson);
  EXPECT_EQ(method_of(sparse, {.count = 1, .basis = 20}), davidson);
  EXPECT_EQ(lobpcg(runtime(), {.a = &unknown}).method, EigenMethod::lobpcg);
}

TEST_F(Davidson, BadSizes) {
  const auto op = operator_of<double>(runtime(), laplacian(60));
  const auto refused = [&](const std::string& argument, const LobpcgOptions& options) {
    try {
      std::ignore = lobpcg(runtime(), {.a = &op}, options);
      ADD_FAILURE() << argument << " not refused";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(argument), std::string::npos) << error.what();
    }
  };
  refused("basis", {.count = 2, .basis = 20});
  refused("basis", {.count = 3, .method = davidson, .block = 2, .basis = 6});
  refused("basis", {.count = 3, .method = davidson, .basis = 61});
  refused("basis", {.count = 3, .method = davidson, .basis = 129});
  refused("block", {.count = 3, .method = davidson, .block = 21});
  refused("block", {.count = 3, .method = davidson, .block = -1});
  refused("variant", {.count = 3, .method = davidson, .variant = LobpcgVariant::basic});
}

TEST_F(Davidson, TwoRunsGiveTheSameBits) {
  const auto op = operator_of<double>(runtime(), grid_laplacian(12), 3);
  const auto first = lobpcg(runtime(), {.a = &op}, {.count = 4, .method = davidson}),
             second = lobpcg(runtime(), {.a = &op}, {.count = 4, .method = davidson});
  EXPECT_EQ(first.values, second.values);
  EXPECT_EQ(first.residuals, second.residuals);
  EXPECT_EQ(columns_of(first.vectors, 4), columns_of(second.vectors, 4));
}

}  // namespace
}  // namespace tessera::test
