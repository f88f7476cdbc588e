// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/dense/check.hpp>
#include <tessera/error.hpp>
#include <tessera/matrix_market.hpp>

/// eigensolve from the caller's view: ranges, generalized problems, tiled input, concurrent solves,
/// failures.
namespace tessera::test {
using namespace detail;
namespace {

constexpr Solver solvers[] = {Solver::two_stage, Solver::one_stage, Solver::vendor};

EigensolveOptions small_tiles(Solver solver = Solver::two_stage) {
  return {.solver = solver, .tile = 16, .band = 4, .update_width = 8};
}

template <class T>
class Eigensolve : public RuntimeTest<T> {
 public:
  /// L D L^H with unit lower triangular L of small integers, exact in every type. The leading
  /// minors are 1 below order `minor` and negative from there on.
  static Matrix<T> overlap_with_negative_minor(Index n, Index minor) {
    Matrix<T> l = identity<T>(n), d = identity<T>(n);
    for (Index j = 0; j < n; ++j)
      for (Index i = j + 1; i < std::min(n, j + 3); ++i) l(i, j) = T(RealOf<T>((i + 2 * j) % 3 - 1));
    if (minor > 0) d(minor - 1, minor - 1) = T(-1);
    return multiply(Op::none, multiply(l, d), Op::adjoint, l);
  }
  static Status solve(const Matrix<T>& a, const Matrix<T>* b, Uplo uplo, const EigensolveOptions& options) {
    const Index n = a.rows();
    Matrix<T> z(n, n);
    EigenProblem<T> problem{.a = {a.data(), n, a.ld(), uplo}, .vectors_to = {z.data(), z.ld()}};
    if (b) problem.b = {b->data(), n, b->ld(), uplo};
    return eigensolve(RuntimeTest<T>::runtime(), problem, options).status();
  }
};
TYPED_TEST_SUITE(Eigensolve, Scalars);

TYPED_TEST(Eigensolve, RangesByIndex) {
  using T = TypeParam;
  const Index n = 67;
  const auto a = generate<T>("random", n);
  for (const Solver solver : solvers)
    for (const auto& [lo, hi] :
         {std::pair<Index, Index>{0, 1}, {0, 13}, {20, 45}, {66, 67}, {0, 67}, {5, 5}, {67, 67}})
      for (const bool vectors : {true, false}) {
        SCOPED_TRACE(::testing::Message()
                     << to_string(solver) << " [" << lo << ", " << hi << ") vectors " << vectors);
        auto options = small_tiles(solver);
        options.range = index_range(lo, hi);
        options.vectors = vectors;
        expect_solved<T>(this->runtime(), a, nullptr,
                         {.options = options, .orthogonality_gate = random_orthogonality_gate(n)});
      }
}

TYPED_TEST(Eigensolve, ReducedInColumnGroups) {
  using T = TypeParam;
  const Index n = 67;
  const auto a = generate<T>("random", n), b = generate<T>("overlap", n);
  for (const Index groups : {2, 3, 16})
    for (const bool vectors : {true, false}) {
      SCOPED_TRACE(::testing::Message() << groups << " groups, vectors " << vectors);
      SolveCase c{.options = small_tiles(), .orthogonality_gate = random_orthogonality_gate(n)};
      c.options.column_groups = groups;
      c.options.vectors = vectors;
      for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        c.uplo = uplo;
        expect_solved<T>(this->runtime(), a, nullptr, c);
      }
      expect_solved<T>(this->runtime(), a, &b, {.options = c.options});
      c.options.range = index_range(20, 45);
      expect_solved<T>(this->runtime(), a, nullptr, c);
    }
}

TYPED_TEST(Eigensolve, RangesByValue) {
  using T = TypeParam;
  const Index n = 61;
  const auto a = generate<T>("even", n);  // eigenvalues -1 + 2 k / 60
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const Solver solver : solvers)
    for (const auto& [above, upto] : {std::pair{-0.51, 0.51},
                                      {-5.0, 5.0},
                                      {-infinity, 0.15},
                                      {0.99, infinity},
                                      {2.0, 3.0},
                                      {0.001, 0.002}})
      for (const bool vectors : {true, false}) {
        SCOPED_TRACE(::testing::Message()
                     << to_string(solver) << " (" << above << ", " << upto << "] vectors " << vectors);
        auto options = small_tiles(solver);
        options.range = value_range(above, upto);
        options.vectors = vectors;
        expect_solved<T>(this->runtime(), a, nullptr, {.options = options, .orthogonality_gate = 5});
      }
  // The lower bound is exclusive, the upper one inclusive; both are exact for a diagonal integer
  // matrix.
  Matrix<T> d(9, 9);
  for (Index i = 0; i < 9; ++i) d(i, i) = T(RealOf<T>(i));
  for (const Solver solver : solvers) {
    EigensolveOptions options{.solver = solver, .range = value_range(2, 5)};
    expect_solved<T>(this->runtime(), d, nullptr, {.options = options});
  }
}

TYPED_TEST(Eigensolve, GeneralizedProblems) {
  using T = TypeParam;
  for (const Solver solver : solvers)
    for (const Index n : {1, 2, 5, 51})
      for (const Uplo uplo : {Uplo::lower, Uplo::upper, Uplo::general}) {
        SCOPED_TRACE(::testing::Message() << to_string(solver) << " n " << n << " uplo " << char(uplo));
        const auto a = generate<T>("random", n, 5), b = generate<T>("overlap", n, 6);
        auto options = n < 10 ? EigensolveOptions{.solver = solver} : small_tiles(solver);
        const double gate = n >= 50 ? 1 : 30;
        expect_solved<T>(this->runtime(), a, &b, {.uplo = uplo, .options = options, .residual_gate = gate});
        options.range = index_range(0, (n + 3) / 4);
        expect_solved<T>(this->runtime(), a, &b, {.uplo = uplo, .options = options, .residual_gate = gate});
        options.vectors = false;
        options.range = EigenRange{};
        expect_solved<T>(this->runtime(), a, &b, {.uplo = uplo, .options = options});
      }
}

TYPED_TEST(Eigensolve, TiledInputWithTilesOfItsOwn) {
  using T = TypeParam;
  const Index n = 53;
  const auto a = generate<T>("random", n), b = generate<T>("overlap", n, 2);
  const auto reference = lapack_eigenvalues(a, b);
  for (const Uplo uplo : {Uplo::lower, Uplo::upper, Uplo::general}) {
    auto copy_a = poison_other_triangle(a, uplo == Uplo::general ? Uplo::lower : uplo), copy_b = b;
    // Rectangular tiles whose sizes differ from those of B and of the solver.
    const TileLayout layout_a{n, n, 10, uplo == Uplo::general ? 7 : 10, {}, uplo},
        layout_b{n, n, 9, 9, {}, Uplo::upper};
    auto tiles_a = TiledMatrix<T>::wrap(this->runtime(), copy_a.data(), copy_a.ld(), layout_a);
    auto tiles_b = TiledMatrix<T>::wrap(this->runtime(), copy_b.data(), copy_b.ld(), layout_b);
    auto options = small_tiles();
    options.range = index_range(10, 40);
    options.slab_width = 11;
    auto completion = submit_eigensolve(this->runtime(), {.a = tiles_a, .b = tiles_b}, options);
    ASSERT_TRUE(completion.wait().ok()) << completion.wait().message();
    auto& result = completion.result();
    EXPECT_EQ(result.first, 10);
    EXPECT_EQ(result.used.slab_width, 11);
    EXPECT_EQ(result.vectors.count(), 3);
    EXPECT_EQ(result.vectors.cols(), 30);
    Matrix<T> z(n, 30);
    for (Index j = 0; j < 3; ++j)
      z.set_block(0, result.vectors.first_col(j), download<T>(result.vectors.slab(j)));
    const auto errors = eigen_errors(a, &b, result.values, &z, reference, 10);
    EXPECT_LT(errors.residual, 1);
    EXPECT_LT(errors.orthogonality, 5);
    EXPECT_LT(errors.values, 30);
    // The library's checks must agree with those on the host.
    const EigenCheck check =
        check_eigenpairs<T>(this->runtime(), tiles_a, &tiles_b, result.values, result.vectors);
    EXPECT_NEAR(check.residual, errors.residual, 0.5 * errors.residual + 0.05);
    EXPECT_NEAR(check.orthogonality, errors.orthogonality, 0.5 * errors.orthogonality + 0.05);
    const auto& statistics = completion.statistics();
    EXPECT_GT(statistics.tasks, 0);
    EXPECT_EQ(statistics.stages.front().name, "input");
    EXPECT_EQ(statistics.stages.back().name, "to_general");
    result.vectors.release();
  }
}

TYPED_TEST(Eigensolve, SeveralInFlightWaitedForInAnotherOrder) {
  using T = TypeParam;
  struct Job {
    Matrix<T> a;
    TiledMatrix<T> tiles;
    std::vector<RealOf<T>> reference;
  };
  std::vector<Job> jobs(3);
  std::vector<Completion<EigenResult<T>>> completions;
  for (int k = 0; k < 3; ++k) {
    const Index n = 40 + 13 * k;
    jobs[k].a = generate<T>(k == 1 ? "toeplitz" : "random", n, 10 + k);
    jobs[k].reference = lapack_eigenvalues(jobs[k].a);
    jobs[k].tiles = TiledMatrix<T>::wrap(this->runtime(), jobs[k].a.data(), jobs[k].a.ld(),
                                         {n, n, 20, 20, {}, Uplo::lower});
    completions.push_back(submit_eigensolve(this->runtime(), {.a = jobs[k].tiles}, small_tiles(solvers[k])));
  }
  for (const int k : {2, 0, 1}) {
    ASSERT_TRUE(completions[k].wait().ok());
    auto& result = completions[k].result();
    const Index n = jobs[k].a.rows();
    Matrix<T> z(n, n);
    for (Index j = 0; j < result.vectors.count(); ++j)
      z.set_block(0, result.vectors.first_col(j), download<T>(result.vectors.slab(j)));
    const auto errors = eigen_errors<T>(jobs[k].a, nullptr, result.values, &z, jobs[k].reference, 0);
    EXPECT_LT(errors.residual, 30);
    EXPECT_LT(errors.orthogonality, 30);
    EXPECT_LT(errors.values, 30);
  }
}

TYPED_TEST(Eigensolve, NotFiniteInputIsAStatusThatNamesTheColumn) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index n = 45;
  const auto good = generate<T>("random", n), overlap = generate<T>("overlap", n);
  for (const Solver solver : solvers)
    for (const R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity(),
                        -std::numeric_limits<R>::infinity()})
      for (const auto& [row, col] : {std::pair<Index, Index>{0, 0}, {40, 20}, {44, 44}}) {
        auto broken = good;
        broken(row, col) = T(bad);
        broken(col, row) = T(bad);
        const Status lower = this->solve(broken, nullptr, Uplo::lower, small_tiles(solver));
        EXPECT_EQ(lower.code, StatusCode::not_finite);
        EXPECT_EQ(lower.stage, "input");
        EXPECT_EQ(lower.index, col + 1);
        const Status upper = this->solve(broken, nullptr, Uplo::upper, small_tiles(solver));
        EXPECT_EQ(upper.code, StatusCode::not_finite);
        EXPECT_EQ(upper.index, row + 1);
        auto broken_b = overlap;
        broken_b(row, col) = T(bad);
        EXPECT_EQ(this->solve(good, &broken_b, Uplo::lower, small_tiles(solver)).code,
                  StatusCode::not_finite);
        // Only the specified triangle is read.
        if (row != col) {
          auto one_sided = good;
          one_sided(col, row) = T(bad);
          EXPECT_TRUE(this->solve(one_sided, nullptr, Uplo::lower, small_tiles(solver)).ok());
        }
      }
  // For ranges of values, submit_eigensolve waits for an intermediate result.
  auto broken = good;
  broken(3, 3) = not_a_number<T>();
  for (const Solver solver : solvers) {
    auto options = small_tiles(solver);
    options.range = value_range(-1, 1);
    EXPECT_EQ(this->solve(broken, nullptr, Uplo::lower, options).code, StatusCode::not_finite);
  }
  EXPECT_TRUE(this->solve(good, nullptr, Uplo::lower, small_tiles()).ok()) << "the next solve works";
}

TYPED_TEST(Eigensolve, IndefiniteOverlapIsAStatusThatNamesTheLeadingMinor) {
  using T = TypeParam;
  const Index n = 45;
  const auto a = generate<T>("random", n);
  for (const Solver solver : solvers)
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
      for (const Index minor : {1, 2, 16, 17, 33, 45}) {
        const auto b = this->overlap_with_negative_minor(n, minor);
        const Status status = this->solve(a, &b, uplo, small_tiles(solver));
        EXPECT_EQ(status.code, StatusCode::not_positive_definite);
        EXPECT_EQ(status.stage, "cholesky");
        EXPECT_EQ(status.index, minor);
        EXPECT_NE(status.message().find("order " + std::to_string(minor)), std::string::npos)
            << status.message();
      }
  const auto b = this->overlap_with_negative_minor(n, 0);
  for (const Solver solver : solvers) EXPECT_TRUE(this->solve(a, &b, Uplo::lower, small_tiles(solver)).ok());
}

/// Two failing solves must not disturb a concurrent good one.
using EigensolveFailures = RuntimeTest<double>;
TEST_F(EigensolveFailures, StayWithTheirSequence) {
  auto good = generate<double>("random", 50), bad = good;
  bad(30, 10) = std::nan("");
  const TileLayout layout{50, 50, 20, 20, {}, Uplo::lower};
  auto tiles_good = TiledMatrix<double>::wrap(runtime(), good.data(), good.ld(), layout);
  auto tiles_bad = TiledMatrix<double>::wrap(runtime(), bad.data(), bad.ld(), layout);
  auto first = submit_eigensolve(runtime(), {.a = tiles_bad}, small_tiles());
  auto second = submit_eigensolve(runtime(), {.a = tiles_good}, small_tiles());
  auto third = submit_eigensolve(runtime(), {.a = tiles_good, .b = tiles_bad}, small_tiles());
  EXPECT_TRUE(second.wait().ok());
  EXPECT_EQ(third.wait().code, StatusCode::not_finite);
  EXPECT_EQ(first.wait().index, 11);
  const auto reference = lapack_eigenvalues(good);
  const auto errors = eigen_errors<double>(good, nullptr, second.result().values, nullptr, reference, 0);
  EXPECT_LT(errors.values, 30);
}

class EigensolveArguments : public RuntimeTest<double> {
 public:
  template <class Call>
  static void expect_invalid(const char* name, const Call& call) {
    try {
      call();
      ADD_FAILURE() << name << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.name(), name) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
};

TEST_F(EigensolveArguments, AreRefusedBeforeAnythingIsSubmitted) {
  const Index n = 20;
  const auto a = generate<double>("random", n);
  Matrix<double> z(n, n);
  Runtime& r = runtime();
  const double* none = nullptr;
  const auto refused = [&](const char* name, const EigenProblem<double>& problem,
                           const EigensolveOptions& options = {}) {
    expect_invalid(name, [&] { std::ignore = eigensolve(r, problem, options); });
  };
  const auto call = [&](const EigensolveOptions& o) {
    return [&, o] { std::ignore = eigensolve(r, {.a = {a.data(), n, n}}, o); };
  };
  for (const auto& [lo, hi] : {std::pair<Index, Index>{-1, 3}, {4, 3}, {0, 21}, {21, 21}})
    expect_invalid("range", call({.range = index_range(lo, hi)}));
  expect_invalid("range", call({.range = value_range(1, 1)}));
  expect_invalid("range", call({.range = value_range(2, 1)}));
  expect_invalid("range", call({.range = value_range(std::nan(""), 1)}));
  expect_invalid("tile", call({.tile = -1}));
  expect_invalid("tile", call({.tile = Index(1) << 40}));
  expect_invalid("tile", call({.tile = 9, .band = 4, .update_width = 4}));
  expect_invalid("band", call({.band = -4}));
  expect_invalid("band", call({.band = 20}));
  expect_invalid("update_width", call({.tile = 12, .band = 4, .update_width = 6}));
  expect_invalid("slab_width", call({.slab_width = -3}));
  expect_invalid("column_groups", call({.column_groups = -1}));
  expect_invalid("column_groups", call({.column_groups = 33}));
  const double* pa = a.data();
  refused("a", {});
  refused("a.n", {.a = {pa, -1, n}});
  refused("a", {.a = {none, n, n}});
  refused("a.ld", {.a = {pa, n, n - 1}});
  refused("b", {.a = {pa, n, n}, .b = {none, n, n}});
  refused("b", {.a = {pa, n, n}, .b = {pa, n - 1, n}});
  refused("b.ld", {.a = {pa, n, n}, .b = {pa, n, n - 1}});
  refused("vectors_to", {.a = {pa, n, n}, .vectors_to = {nullptr, n}});
  refused("vectors_to.ld", {.a = {pa, n, n}, .vectors_to = {z.data(), n - 1}});
  auto memory = a;
  const auto square = TiledMatrix<double>::wrap(r, memory.data(), n, {n, n, 8, 8, {}, Uplo::lower});
  const TiledMatrix<double> wide(r, {n, n + 1, 8, 8, {}, Uplo::general}),
      small(r, {n - 1, n - 1, 8, 8, {}, Uplo::lower});
  refused("a", {.a = wide});
  refused("b", {.a = square, .b = wide});
  refused("b", {.a = square, .b = small});
  expect_invalid("solver", [] { solver_from_string("magic"); });
  for (const Solver solver : {Solver::automatic, Solver::two_stage, Solver::one_stage, Solver::vendor})
    EXPECT_EQ(solver_from_string(to_string(solver)), solver);
  // The failed solve must leave no state behind.
  expect_solved<double>(r, a, nullptr, {});
}

TEST_F(EigensolveArguments, ResolvedSizesFitTogether) {
  for (const Index n : {0, 1, 2, 3, 10, 100, 1000, 5000, 40000})
    for (const Index band : {Index(0), Index(1), Index(5), Index(24)})
      for (const Index tile : {Index(0), Index(60), Index(120), Index(240)}) {
        if (band > std::max<Index>(n - 1, 1) || (tile > 0 && band > 0 && tile % band != 0)) continue;
        const auto used =
            resolve_options<double>(runtime(), n, {.solver = Solver::two_stage, .tile = tile, .band = band});
        SCOPED_TRACE(::testing::Message() << "n " << n << " tile " << used.tile << " band " << used.band
                                          << " update " << used.update_width);
        EXPECT_GE(used.band, 1);
        EXPECT_EQ(used.update_width % used.band, 0);
        EXPECT_EQ(used.tile % used.update_width, 0);
        EXPECT_GE(used.slab_width, 1);
        EXPECT_EQ(used.column_groups, 1);  // because there are fewer than two GPUs
        EXPECT_EQ(used.band, band > 0 ? band : used.band);
        EXPECT_EQ(used.tile, tile > 0 ? tile : used.tile);
      }
}

using EigensolveWater = RuntimeTest<double>;
TEST_F(EigensolveWater, MoleculesMatchLapackAndThePublishedValues) {
  const char* directory = std::getenv("TESSERA_TEST_DATA");
  if (!directory) GTEST_SKIP() << "TESSERA_TEST_DATA is not set";
  const auto load = [&](const char* name) {
    MatrixMarketReader reader(std::string(directory) + "/" + name);
    const Index n = reader.header().rows;
    Matrix<double> a(n, n);
    read_hermitian<double>(reader, [&](Index i, Index j) { return &a(i, j); });
    for (Index j = 0; j < n; ++j)
      for (Index i = j; i < n; ++i) a(j, i) = a(i, j);
    return a;
  };
  const auto h = load("water32_dzvp_H.mtx.gz"), s = load("water32_dzvp_S.mtx.gz");
  ASSERT_EQ(h.rows(), 736);
  const auto reference = lapack_eigenvalues(h, s);
  auto copy_h = h, copy_s = s;
  const TileLayout layout{736, 736, 128, 128, {}, Uplo::lower};
  auto tiles_h = TiledMatrix<double>::wrap(runtime(), copy_h.data(), copy_h.ld(), layout);
  auto tiles_s = TiledMatrix<double>::wrap(runtime(), copy_s.data(), copy_s.ld(), layout);
  for (const Solver solver : {Solver::two_stage, Solver::one_stage}) {
    auto completion = submit_eigensolve(runtime(), {.a = tiles_h, .b = tiles_s}, {.solver = solver});
    ASSERT_TRUE(completion.wait().ok());
    const auto& values = completion.result().values;
    ASSERT_EQ(values.size(), 736u);
    for (std::size_t k = 0; k < 736; ++k) ASSERT_NEAR(values[k], reference[k], 1e-9) << k;
    EXPECT_NEAR(values[0], -0.8476932801, 1e-9);
    EXPECT_NEAR(values[127], -0.0797670777, 1e-9);
    EXPECT_NEAR(values[128], 0.1392856730, 1e-9);
    EXPECT_NEAR(values[735], 5.8333544791, 1e-9);
    const EigenCheck check =
        check_eigenpairs<double>(runtime(), tiles_h, &tiles_s, values, completion.result().vectors);
    EXPECT_LT(check.residual, 1);
    EXPECT_LT(check.orthogonality, 1);
    completion.result().vectors.release();
  }
}

/// Ends the process, with 0 if the solve is right, or has failed with a message about memory on a GPU.
[[noreturn]] void solve_under_a_limit() {
  setenv("STARPU_LIMIT_CPU_MEM", "8", 1);
  Runtime runtime({.cores = 2});
  const auto a = generate<double>("random", 300);
  try {
    expect_solved<double>(
        runtime, a, nullptr,
        {.options = {.solver = Solver::two_stage, .tile = 48, .band = 16, .update_width = 48},
         .residual_gate = 1});
  } catch (const RuntimeError& error) {
    EXPECT_TRUE(runtime.any_gpus());
    EXPECT_THAT(error.what(), ::testing::HasSubstr("memory"));
  }
  Runtime::abort_ranks(::testing::Test::HasFailure() ? 1 : 0);
}

/// StarPU may allocate 8 MB, a few more than the data alive at once (3.2 n^2 elements, 2.3 MB). It
/// must wait for released memory and not fail. With a GPU, host memory is counted too and pieces
/// stay allocated on both sides. The solver may then fail with a message, but must not wait
/// forever. No other Runtime can follow such a failure, so it has a process of its own.
TEST(EigensolveMemory, EndsUnderALimitOfStarPUsMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(solve_under_a_limit(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tessera::test
