// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/preconditioners.hpp>

/// Cases that break other LOBPCG implementations: starts, constraints, preconditioners and spectra.
namespace tessera::test {
namespace {

class LobpcgHardCases : public RuntimeTest<double> {
 protected:
  static constexpr Index n = 60;
  static std::vector<double> values(Index order = n) {
    std::vector<double> all;
    for (Index k = 1; k <= order; ++k) all.push_back(laplacian_value(order, k));
    return all;
  }
  /// The four lowest eigenpairs of the Laplacian from the given start.
  static LobpcgResult<double> solve_from(const std::function<double(Index, Index)>& element, Index columns) {
    const SparseRows a = laplacian(n);
    const auto op = operator_of<double>(runtime(), a, 2);
    const auto guess = vectors_of<double>(runtime(), op.segments(), columns, element);
    auto result =
        lobpcg(runtime(), {.a = &op, .guess = &guess, .guess_count = columns}, {.count = 4, .block = 6});
    expect_values(result, values(), 1e-10);
    expect_eigenpairs<double>(result, a, nullptr, 8e-8, 1e-11);
    return result;
  }
};

TEST_F(LobpcgHardCases, RankDeficientStart) {
  solve_from([](Index i, Index) { return random_uniform(3, 0, i, 0); }, 6);
  solve_from([](Index i, Index j) { return random_uniform(3, 0, i, j / 2) * double(j + 1); }, 5);
  // Start vectors that are linearly dependent up to 1e-9 of their norm.
  solve_from([](Index i, Index j) { return random_uniform(3, 0, i, 0) + 1e-9 * random_uniform(3, 0, i, j); },
             6);
}

TEST_F(LobpcgHardCases, ZeroAndOneSidedStarts) {
  solve_from([](Index, Index) { return 0; }, 6);
  solve_from([](Index i, Index j) { return j == 1 ? 0 : random_uniform(3, 0, i, j); }, 3);
  // Start vectors uniform in [0, 1] with a large constant component, then start vectors of very
  // different norms.
  solve_from([](Index i, Index j) { return 0.5 + 0.5 * random_uniform(3, 0, i, j); }, 6);
  solve_from([](Index i, Index j) { return random_uniform(3, 0, i, j) * std::pow(10.0, 20.0 * double(j)); },
             6);
}

TEST_F(LobpcgHardCases, ExactStarts) {
  // The start contains all wanted vectors, so only guard vectors still change.
  const auto result = solve_from([](Index i, Index j) { return laplacian_vector(n, i, j + 1); }, 4);
  EXPECT_LT(result.iterations, 20);
  // The start contains unwanted eigenvectors, and fewer than the wanted number.
  solve_from([](Index i, Index j) { return laplacian_vector(n, i, j + 5); }, 3);
  // The start contains some of the wanted vectors in another order.
  solve_from([](Index i, Index j) { return laplacian_vector(n, i, j == 0 ? 3 : 1); }, 2);
}

TEST_F(LobpcgHardCases, NullVectorAsTheWholeBlock) {
  // A x is zero or rounding error, which must not count as evidence that A is not symmetric.
  SparseRows a = ring_laplacian(n);
  for (auto& row : a.rows)
    for (auto& [j, value] : row) value *= 0.1;
  const auto op = operator_of<double>(runtime(), a, 2, false);
  const auto ones = vectors_of<double>(runtime(), op.segments(), 1, [](Index, Index) { return 1; });
  const auto result = lobpcg(runtime(), {.a = &op, .guess = &ones, .guess_count = 1},
                             {.count = 1, .block = 1, .norm = LobpcgNorm::absolute});
  expect_values(result, {0}, 1e-14);
}

TEST_F(LobpcgHardCases, ZeroMatrixAndIdentity) {
  for (const double value : {0.0, 1.0, -3e5}) {
    const SparseRows a = diagonal(std::vector<double>(40, value));
    const auto op = operator_of<double>(runtime(), a);
    const auto result = lobpcg(runtime(), {.a = &op}, {.count = 3});
    expect_values(result, std::vector<double>(40, value), 1e-9);
    expect_eigenpairs<double>(result, a, nullptr, 1e-9, 1e-11);
    EXPECT_LE(result.iterations, 1);
  }
}

TEST_F(LobpcgHardCases, SingularMatrixWithItsNullVectorAsConstraint) {
  const Index order = 60;
  const SparseRows a = ring_laplacian(order);
  const auto op = operator_of<double>(runtime(), a, 2);
  std::vector<double> all;
  for (Index k = 0; k < order; ++k)
    all.push_back(2 - 2 * std::cos(2 * std::numbers::pi * double(k) / double(order)));
  std::sort(all.begin(), all.end());
  auto result = lobpcg(runtime(), {.a = &op}, {.count = 5});
  expect_values(result, all, 1e-10);
  for (const LobpcgVariant variant : {LobpcgVariant::orthonormal, LobpcgVariant::basic}) {
    const auto ones = vectors_of<double>(runtime(), op.segments(), 2, [](Index, Index) { return 1; });
    result = lobpcg(runtime(), {.a = &op, .constraints = &ones, .constraint_count = 1},
                    {.count = 4, .variant = variant});
    expect_values(result, {all.begin() + 1, all.end()}, 1e-10);
    const std::vector<double> x = columns_of(result.vectors, 4);
    for (Index j = 0; j < 4; ++j) {
      double sum = 0;
      for (Index i = 0; i < order; ++i) sum += x[std::size_t(i * 4 + j)];
      EXPECT_NEAR(sum, 0, 1e-9) << j;
    }
  }
}

TEST_F(LobpcgHardCases, ManyConstraints) {
  // The vectors found become constraints of the next solve: 40 vectors, in two groups, not
  // orthonormal.
  const SparseRows a = laplacian(n);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto found = vectors_of<double>(runtime(), op.segments(), 40, [](Index i, Index j) {
    return laplacian_vector(n, i, j + 1) + 0.5 * laplacian_vector(n, i, (j + 1) % 40 + 1);
  });
  const auto result =
      lobpcg(runtime(), {.a = &op, .constraints = &found, .constraint_count = 40}, {.count = 3});
  const auto all = values();
  expect_values(result, {all.begin() + 40, all.end()}, 1e-10);
}

TEST_F(LobpcgHardCases, ConstraintsInTheGeneralizedProblem) {
  const Index order = 40;
  const auto [k, m] = mikota(order);
  const auto a = operator_of<double>(runtime(), k), b = operator_of<double>(runtime(), m);
  const auto first = lobpcg(runtime(), {.a = &a, .b = &b}, {.count = 2, .tolerance = 1e-13});
  ASSERT_EQ(first.status().code, StatusCode::success);
  const auto second =
      lobpcg(runtime(), {.a = &a, .b = &b, .constraints = &first.vectors, .constraint_count = 2},
             {.count = 2, .tolerance = 1e-12});
  expect_values(second, {9, 16}, 1e-7);
}

TEST_F(LobpcgHardCases, OrderBarelyAboveThreeBlocks) {
  for (const Index order : {5, 6, 7, 10, 16}) {
    const SparseRows a = laplacian(order);
    const auto op = operator_of<double>(runtime(), a, 2);
    for (Index count = 1; count <= order / 5; ++count)
      for (const Index block : {count, order / 3}) {
        const auto result = lobpcg(runtime(), {.a = &op}, {.count = count, .block = block});
        expect_values(result, values(order), 1e-10);
        expect_eigenpairs<double>(result, a, nullptr, 8e-8, 1e-11);
      }
  }
}

TEST_F(LobpcgHardCases, Preconditioners) {
  const SparseRows a = laplacian(n);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto solve = [&](UserFunction<double> function) {
    UserPreconditioner<double> t(runtime(), op.segments(), std::move(function));
    return lobpcg(runtime(), {.a = &op, .preconditioner = &t}, {.count = 4, .iterations = 60});
  };
  // The inverse of A - 0.01, which is indefinite because the shift lies inside the spectrum; then a
  // negative definite and a very large preconditioner.
  for (const auto& function :
       {tridiagonal_inverse<double>(n, 2 - 0.01, -1), tridiagonal_inverse<double>(n, 2, -1, -1),
        tridiagonal_inverse<double>(n, 2, -1, 1e150)}) {
    const auto result = solve(function);
    expect_values(result, values(), 1e-10);
    EXPECT_LT(result.iterations, 30);
  }
  // Preconditioners of rank one and of rank zero give no new directions.
  for (const double rank : {1.0, 0.0}) {
    const auto result =
        solve([&](Index first, Index end, Index columns, const double* x, Index ldx, double* y, Index ldy) {
          for (Index j = 0; j < columns; ++j)
            for (Index i = first; i < end; ++i)
              y[(i - first) * ldy + j] = rank * x[j] * 1e-3 + 0 * x[i * ldx + j];
        });
    if (rank == 0) {
      EXPECT_EQ(result.status().code, StatusCode::breakdown);
      EXPECT_NE(result.status().message().find("precondition"), std::string::npos)
          << result.status().message();
    } else {
      EXPECT_NE(result.status().code, StatusCode::not_finite) << result.status().message();
      EXPECT_FALSE(result.status().message().empty());
    }
  }
}

TEST_F(LobpcgHardCases, PreconditionerThatReturnsTheConstraint) {
  const SparseRows a = laplacian(n);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto constraint =
      vectors_of<double>(runtime(), op.segments(), 1, [](Index i, Index) { return std::cos(double(i)); });
  UserPreconditioner<double> t(
      runtime(), op.segments(),
      [](Index first, Index end, Index columns, const double*, Index, double* y, Index ldy) {
        for (Index i = first; i < end; ++i)
          for (Index j = 0; j < columns; ++j) y[(i - first) * ldy + j] = double(j + 1) * std::cos(double(i));
      });
  for (const LobpcgVariant variant : {LobpcgVariant::orthonormal, LobpcgVariant::basic}) {
    const auto result =
        lobpcg(runtime(), {.a = &op, .preconditioner = &t, .constraints = &constraint, .constraint_count = 1},
               {.count = 3, .variant = variant});
    EXPECT_EQ(result.status().code, StatusCode::breakdown) << result.status().message();
    // The basic variant detects that the remaining directions are linearly dependent.
    EXPECT_NE(result.status().message().find(variant == LobpcgVariant::basic ? "Gram" : "precondition"),
              std::string::npos)
        << result.status().message();
    EXPECT_LT(result.iterations, 5);
  }
}

TEST_F(LobpcgHardCases, ClustersOfOneHundredMillionth) {
  std::vector<double> all;
  for (Index i = 0; i < 200; ++i) all.push_back(i < 4 ? 1 + 1e-8 * double(i) : 2 + double(i));
  const SparseRows a = diagonal(all);
  const auto op = operator_of<double>(runtime(), a, 2);
  for (const Index count : {2, 4}) {
    const auto result = lobpcg(runtime(), {.a = &op}, {.count = count, .block = 6, .tolerance = 1e-12});
    expect_values(result, all, 2e-10 * 202);
    expect_eigenpairs<double>(result, a, nullptr, 1e-9, 1e-11);
  }
}

TEST_F(LobpcgHardCases, HugeAndTinyScales) {
  for (const double scale : {1e-100, 1e100}) {
    SparseRows a = laplacian(n);
    for (auto& row : a.rows)
      for (auto& [j, value] : row) value *= scale;
    const auto op = operator_of<double>(runtime(), a, 1, scale < 1);
    const auto result = lobpcg(runtime(), {.a = &op}, {.count = 3});
    EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
    for (Index k = 0; k < 3; ++k)
      EXPECT_NEAR(result.values[std::size_t(k)] / scale, laplacian_value(n, k + 1), 1e-10);
  }
}

/// NaN from an operator and a failed sequence from a preconditioner throw; the runtime must stay
/// usable.
TEST_F(LobpcgHardCases, ScalesOfAAndBFarApart) {
  for (const auto& [of_a, of_b] : {std::pair(1e90, 1e-40), std::pair(1e-95, 1e40)}) {
    SparseRows a = laplacian(n);
    for (auto& row : a.rows)
      for (auto& [j, value] : row) value *= of_a;
    const auto op = operator_of<double>(runtime(), a);
    const auto mass = operator_of<double>(runtime(), diagonal(std::vector<double>(n, of_b)));
    const auto result = lobpcg(runtime(), {.a = &op, .b = &mass}, {.count = 3});
    EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
    EXPECT_EQ(result.restarts, 0);
    for (Index k = 0; k < 3; ++k)
      EXPECT_NEAR(result.values[std::size_t(k)] / of_a * of_b, laplacian_value(n, k + 1), 1e-10);
    // The history must be valid, too.
    for (const LobpcgStep& step : result.history)
      EXPECT_GE(step.values[0] / of_a * of_b, (1 - 1e-9) * laplacian_value(n, 1));
  }
}

TEST_F(LobpcgHardCases, ToleranceBelowRounding) {
  const SparseRows a = laplacian(n);
  const auto op = operator_of<double>(runtime(), a);
  const auto result = lobpcg(runtime(), {.a = &op}, {.count = 2, .tolerance = 1e-30, .iterations = 2000});
  EXPECT_EQ(result.status().code, StatusCode::stagnated) << result.status().message();
  EXPECT_EQ(result.converged, 0);
  for (Index k = 0; k < 2; ++k) EXPECT_NEAR(result.values[std::size_t(k)], laplacian_value(n, k + 1), 1e-13);
}

/// After some iterations with independent directions the solver stops checking their independence.
/// If one application makes them dependent, the solver multiplies by A once more, with no other
/// effect.
TEST_F(LobpcgHardCases, DirectionsThatSuddenlyDepend) {
  const auto [k, m] = mikota(n);
  const auto a_of_pair = operator_of<double>(runtime(), k, 2), b = operator_of<double>(runtime(), m, 2);
  const SparseRows alone = laplacian(n);
  const auto a_alone = operator_of<double>(runtime(), alone, 2);
  constexpr int when = 6;
  enum class Kind { none, equal, nearly_equal, zero, small, tiny, huge };
  for (const bool pair : {false, true})
    for (const Kind kind :
         {Kind::none, Kind::equal, Kind::nearly_equal, Kind::zero, Kind::small, Kind::tiny, Kind::huge}) {
      const auto& op = pair ? a_of_pair : a_alone;
      int application = 0;
      tessera::UserPreconditioner<double> t(
          [&](Index first, Index rows, Index columns, const double* x, Index ldx, double* y, Index ldy) {
            for (Index i = 0; i < rows; ++i) {
              for (Index j = 0; j < columns; ++j) y[i * ldy + j] = x[i * ldx + j];
              if (application != when || kind == Kind::none) continue;
              const double noise = 1e-9 * random_uniform(5, 0, first + i, 0) * std::abs(x[i * ldx]);
              const double factor = kind == Kind::zero    ? 0
                                    : kind == Kind::small ? 1e-80
                                    : kind == Kind::tiny  ? 1e-120
                                                          : 1e120;
              const bool copy = kind == Kind::equal || kind == Kind::nearly_equal;
              y[i * ldy + 1] =
                  copy ? y[i * ldy] + (kind == Kind::equal ? 0 : noise) : factor * y[i * ldy + 1];
            }
          },
          [&](std::span<const double>, Index) { ++application; });
      const auto result = lobpcg(runtime(), {.a = &op, .b = pair ? &b : nullptr, .preconditioner = &t},
                                 {.count = 3, .block = 6, .tolerance = 1e-9});
      SCOPED_TRACE(fmt::format("pair {} kind {}", pair, static_cast<int>(kind)));
      EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
      EXPECT_EQ(result.restarts, 0);
      // Norms of directions do not matter unless they are extreme.
      const bool dependent = kind != Kind::none && kind != Kind::small;
      EXPECT_EQ(result.multiplications, result.iterations + 2 + (dependent ? 1 : 0));
      EXPECT_GT(application, when);
      for (Index j = 0; j < 3; ++j)
        EXPECT_NEAR(result.values[std::size_t(j)],
                    pair ? double((j + 1) * (j + 1)) : laplacian_value(n, j + 1), 1e-9);
      // Backward error: ||x||_B = 1, and n B is at least the identity.
      const SparseRows& matrix = pair ? k : alone;
      const double gate =
          1.01e-9 * (matrix.norm() + result.values.back()) * (pair ? std::sqrt(double(n)) : 1);
      expect_eigenpairs<double>(result, matrix, pair ? &m : nullptr, gate, 1e-11);
    }
}

TEST_F(LobpcgHardCases, NumbersThatAreNone) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const auto op = operator_of<double>(runtime(), laplacian(n), 2);
    int calls = 0;
    const auto broken = [&](Index order, Index columns, const double* x, Index ldx, double* y, Index ldy) {
      function_of<double>(laplacian(order))(0, order, columns, x, ldx, y, ldy);
      if (++calls == 4) y[3 * ldy] = bad;
    };
    UserOperator<double> late(runtime(), n, broken);
    auto result = lobpcg(runtime(), {.a = &late}, {.count = 2});
    EXPECT_EQ(result.status().code, StatusCode::not_finite);
    EXPECT_EQ(result.status().reason, "NaN or infinity in iteration 3 in A times vectors");
    EXPECT_EQ(result.values.size(), 2);
    EXPECT_TRUE(std::isnan(result.residuals[0]));

    UserPreconditioner<double> t(
        runtime(), op.segments(),
        [&](Index first, Index end, Index columns, const double*, Index, double* y, Index ldy) {
          for (Index i = 0; i < end - first; ++i) std::fill_n(y + i * ldy, columns, bad);
        });
    result = lobpcg(runtime(), {.a = &op, .preconditioner = &t}, {.count = 2});
    EXPECT_EQ(result.status().code, StatusCode::not_finite);
    EXPECT_NE(result.status().message().find("preconditioner"), std::string::npos)
        << result.status().message();
  }
  // An exception from a user function must end the solve.
  UserOperator<double> throws(runtime(), n,
                              [](Index, Index, const double*, Index, double*, Index) { throw 1; });
  EXPECT_THROW(std::ignore = lobpcg(runtime(), {.a = &throws}, {.count = 2}), int);
}

/// The operator changes once at most half of the columns are active. The final check detects the
/// error, and the whole block is multiplied again.
TEST_F(LobpcgHardCases, RestartsWhenFewColumnsAreLeft) {
  const SparseRows a = laplacian(n);
  Index fewest = n;
  UserOperator<double> op(runtime(), n,
                          [&](Index rows, Index columns, const double* x, Index ldx, double* y, Index ldy) {
                            fewest = std::min(fewest, columns);
                            function_of<double>(a)(0, rows, columns, x, ldx, y, ldy);
                            for (Index i = 0; i < rows; ++i)
                              for (Index j = 0; j < columns; ++j)
                                y[i * ldy + j] *= fewest <= 3 ? 1 + 1e-6 : 1;
                          });
  UserPreconditioner<double> t(runtime(), op.segments(), tridiagonal_inverse<double>(n, 2, -1));
  const auto result =
      lobpcg(runtime(), {.a = &op, .preconditioner = &t}, {.count = 5, .block = 6, .tolerance = 1e-11});
  EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
  EXPECT_LE(fewest, 3);
  EXPECT_GE(result.restarts, 1);
  for (Index j = 0; j < 5; ++j)
    EXPECT_NEAR(result.values[std::size_t(j)], (1 + 1e-6) * laplacian_value(n, j + 1), 1e-9);
}

/// One product with few columns is wrong, so pairs that had converged no longer satisfy the
/// tolerance. They need directions again, more than in the previous iteration.
TEST_F(LobpcgHardCases, ConvergedPairsAreTakenUpAgain) {
  const SparseRows a = laplacian(n);
  Index fewest = n, widened = 0;
  bool spoiled = false;
  UserOperator<double> op(runtime(), n,
                          [&](Index rows, Index columns, const double* x, Index ldx, double* y, Index ldy) {
                            if (spoiled && columns > fewest && columns < 6) ++widened;
                            fewest = std::min(fewest, columns);
                            function_of<double>(a)(0, rows, columns, x, ldx, y, ldy);
                            if (fewest > 3 || std::exchange(spoiled, true)) return;
                            for (Index i = 0; i < rows; ++i)
                              for (Index j = 0; j < columns; ++j) y[i * ldy + j] *= 1 + 0.1 * double(i % 7);
                          });
  UserPreconditioner<double> t(runtime(), op.segments(), tridiagonal_inverse<double>(n, 2, -1));
  const auto result =
      lobpcg(runtime(), {.a = &op, .preconditioner = &t}, {.count = 5, .block = 6, .tolerance = 1e-11});
  EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
  EXPECT_TRUE(spoiled);
  EXPECT_GE(widened, 1);
  for (Index j = 0; j < 5; ++j) EXPECT_NEAR(result.values[std::size_t(j)], laplacian_value(n, j + 1), 1e-9);
}

TEST_F(LobpcgHardCases, VectorsOfAFailedSolve) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // NaN from the first product on leaves zero vectors and no values.
  UserOperator<double> broken(runtime(), n,
                              [&](Index rows, Index columns, const double*, Index, double* y, Index ldy) {
                                for (Index i = 0; i < rows; ++i) std::fill_n(y + i * ldy, columns, nan);
                              });
  auto result = lobpcg(runtime(), {.a = &broken}, {.count = 2, .block = 3});
  EXPECT_EQ(result.status().code, StatusCode::not_finite);
  EXPECT_TRUE(result.values.empty());
  EXPECT_TRUE(result.residuals.empty());
  EXPECT_EQ(columns_of(result.vectors, 3), std::vector<double>(3 * n, 0.0));

  // NaN in the product after a restart leaves the values and vectors from before it. The restart
  // occurs because the operator changes during the solve, so the recurrences drift; the twentieth
  // step detects this.
  const SparseRows a = laplacian(n);
  int calls = 0;
  UserOperator<double> later(
      runtime(), n, [&](Index rows, Index columns, const double* x, Index ldx, double* y, Index ldy) {
        function_of<double>(a)(0, rows, columns, x, ldx, y, ldy);
        ++calls;
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < columns; ++j) y[i * ldy + j] *= calls > 20 ? nan : calls > 10 ? 1 + 1e-6 : 1;
      });
  result = lobpcg(runtime(), {.a = &later}, {.count = 2, .block = 3, .tolerance = 1e-13});
  EXPECT_EQ(result.status().code, StatusCode::not_finite) << result.status().message();
  EXPECT_EQ(result.restarts, 1);
  ASSERT_EQ(result.values.size(), 2);
  EXPECT_TRUE(std::isnan(result.residuals.at(1)));
  const std::vector<double> x = columns_of(result.vectors, 2);
  for (Index j = 0; j < 2; ++j) {
    EXPECT_EQ(result.values[std::size_t(j)], result.history.back().values[std::size_t(j)]);
    double square = 0, energy = 0;
    for (Index i = 0; i < n; ++i) {
      square += std::pow(x[std::size_t(2 * i + j)], 2);
      for (const auto& [k, value] : a.rows[std::size_t(i)])
        energy += value * x[std::size_t(2 * i + j)] * x[std::size_t(2 * k + j)];
    }
    EXPECT_NEAR(square, 1, 1e-10);
    EXPECT_NEAR(energy, result.values[std::size_t(j)], 1e-5);
  }
}

TEST_F(LobpcgHardCases, SinglePrecision) {
  const SparseRows a = laplacian(n);
  const auto op = operator_of<float>(runtime(), a, 2);
  for (const LobpcgVariant variant : {LobpcgVariant::orthonormal, LobpcgVariant::basic}) {
    const auto result = lobpcg(runtime(), {.a = &op}, {.count = 4, .tolerance = 1e-5, .variant = variant});
    expect_values(result, values(), 2e-5);
    expect_eigenpairs<float>(result, a, nullptr, 8e-5, 2e-5);
  }
  // A diagonal matrix whose elements span five powers of ten.
  std::vector<double> all;
  for (Index i = 0; i < 100; ++i) all.push_back(std::pow(10.0, 5.0 * double(i) / 99.0));
  const SparseRows hard = diagonal(all);
  const auto hard_op = operator_of<float>(runtime(), hard, 2);
  UserPreconditioner<float> jacobi(
      runtime(), hard_op.segments(),
      [&](Index first, Index end, Index columns, const float* x, Index ldx, float* y, Index ldy) {
        for (Index i = first; i < end; ++i)
          for (Index j = 0; j < columns; ++j)
            y[(i - first) * ldy + j] = float(double(x[i * ldx + j]) / all[std::size_t(i)]);
      });
  for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest}) {
    const bool smallest = end == EigenEnd::smallest;
    const auto result = lobpcg(runtime(), {.a = &hard_op, .preconditioner = smallest ? &jacobi : nullptr},
                               {.count = 4, .end = end, .tolerance = 1e-6});
    EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
    expect_eigenpairs<float>(result, hard, nullptr, 0.2, 2e-5);
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t at = smallest ? k : 99 - k;
      double distance = 1e300;
      for (std::size_t other = 0; other < 100; ++other)
        if (other != at) distance = std::min(distance, std::abs(result.values[k] - all[other]));
      const double r = result.residuals[k],
                   gate = std::min(r, r * r / distance) + 4 * double(precision<float>) * all[at];
      EXPECT_LT(gate, distance / 4) << "no gate for value " << k;
      EXPECT_NEAR(result.values[k], all[at], gate) << k;
    }
  }
}

}  // namespace
}  // namespace tessera::test
