// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>
#include <tests/support/block_cyclic.hpp>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/mpi_test.hpp>

/// Cholesky factors that several problems share, over any number of ranks.
namespace tessera::test {
namespace {

class CholeskyFactors : public MpiTest {
 public:
  static TileLayout layout(Index n, Index block, Uplo uplo = Uplo::lower) {
    const ProcessGrid grid = ProcessGrid::squarest(runtime().size());
    return {.rows = n,
            .cols = n,
            .tile_rows = block,
            .tile_cols = block + 2,
            .grid = grid,
            .uplo = uplo,
            .first_row = grid.rows - 1};
  }
  template <class T>
  static BlockCyclic<T> array_of(const Matrix<T>& a, Index block, Uplo uplo = Uplo::lower) {
    return BlockCyclic<T>(runtime(), layout(a.rows(), block, uplo), poison_other_triangle(a, uplo));
  }
  template <class T>
  static MatrixInput<T> input(BlockCyclic<T>& a) {
    return {a.data(), a.ld(), a.layout()};
  }
  static EigensolveOptions few_tiles() {
    return {.solver = Solver::two_stage, .tile = 16, .band = 8, .update_width = 16, .slab_width = 10};
  }

  template <class T>
  struct Solved {
    std::vector<RealOf<T>> values;
    Matrix<T> vectors;
    std::vector<std::string> stages;
    bool has(const std::string& stage) const {
      return std::find(stages.begin(), stages.end(), stage) != stages.end();
    }
  };
  /// With the vectors on every rank.
  template <class T>
  static Solved<T> solve(EigenProblem<T> problem, const EigensolveOptions& options = few_tiles()) {
    const Index n = problem.a.order();
    BlockCyclic<T> z(runtime(), layout(n, 5, Uplo::general), Matrix<T>(n, n));
    problem.vectors_to = {z.data(), z.ld(), z.layout()};
    auto completion = submit_eigensolve(runtime(), problem, options);
    EXPECT_TRUE(completion.wait()) << completion.status().message();
    Solved<T> solved;
    solved.values = completion.result().values;
    solved.vectors = z.gather(0, 0, n, n);
    for (const auto& stage : completion.statistics().stages) solved.stages.push_back(stage.name);
    return solved;
  }
  template <class T>
  static void expect_equal(const Solved<T>& one, const Solved<T>& other) {
    ASSERT_EQ(one.values.size(), other.values.size());
    EXPECT_EQ(std::memcmp(one.values.data(), other.values.data(), one.values.size() * sizeof(RealOf<T>)), 0);
    EXPECT_TRUE(identical(one.vectors, other.vectors));
  }
  template <class T>
  static void expect_right(const Matrix<T>& a, const Matrix<T>& b, const Solved<T>& solved) {
    const auto reference = lapack_eigenvalues(a, b);
    const auto errors = eigen_errors(a, &b, solved.values, &solved.vectors, reference, 0);
    EXPECT_LT(errors.residual, 1);
    EXPECT_LT(errors.orthogonality, random_orthogonality_gate(a.rows()));
    // B may be small: relative to the largest one.
    const double largest = std::max(std::abs(double(reference.front())), std::abs(double(reference.back())));
    for (std::size_t k = 0; k < reference.size(); ++k)
      EXPECT_NEAR(solved.values[k], reference[k], 30 * double(a.rows()) * precision<T> * largest);
  }

  /// L, with what does not count cleared; `scale` times it.
  template <class T>
  static Matrix<T> lapack_factor(const Matrix<T>& b, RealOf<T> scale) {
    const Index n = b.rows();
    Matrix<T> l(n, n);
    for (Index j = 0; j < n; ++j)
      for (Index i = j; i < n; ++i) {
        T sum = b(i, j);
        for (Index k = 0; k < j; ++k) sum -= l(i, k) * conjugate(l(j, k));
        l(i, j) = i == j ? T(std::sqrt(real_part(sum))) : sum / l(j, j);
      }
    for (Index j = 0; j < n; ++j)
      for (Index i = j; i < n; ++i) l(i, j) *= scale;
    return l;
  }

  template <class T>
  static void check_reuse() {
    SCOPED_TRACE(::testing::Message() << type_letter<T> << " rank " << runtime().rank());
    const Index n = 34;
    const auto a = generate<T>("random", n, 3), b = generate<T>("overlap", n, 4);
    auto array_a = array_of(a, 7), array_b = array_of(b, 6, Uplo::upper);
    const auto plain = solve<T>({.a = input(array_a), .b = input(array_b)});
    EXPECT_TRUE(plain.has("cholesky"));
    expect_right(a, b, plain);
    const auto factor = cholesky_factor<T>(runtime(), {.b = input(array_b)}, {.tile = 16});
    ASSERT_TRUE(factor) << factor.status().message();
    EXPECT_EQ(factor.factor.order(), n);
    EXPECT_EQ(factor.factor.tile(), 16);
    for (int round = 0; round < 2; ++round) {  // the factor is as before
      const auto again = solve<T>({.a = input(array_a), .b_factor = factor.factor});
      EXPECT_FALSE(again.has("cholesky"));
      EXPECT_TRUE(again.has("to_standard"));
      expect_equal(again, plain);
    }
    // The factor of a solve that has made one, and that is gone.
    auto options = few_tiles();
    options.keep_factor = true;
    CholeskyFactor<T> kept =
        eigensolve<T>(runtime(), {.a = input(array_a), .b = input(array_b)}, options).b_factor;
    ASSERT_TRUE(kept);
    expect_equal(solve<T>({.a = input(array_a), .b_factor = kept}), plain);
    // Other tiles: a copy, right up to rounding.
    const auto wide = cholesky_factor<T>(runtime(), {.b = input(array_b)}, {.tile = 24});
    const auto other = solve<T>({.a = input(array_a), .b_factor = wide.factor});
    EXPECT_FALSE(other.has("cholesky"));
    expect_right(a, b, other);
    EXPECT_TRUE(array_b.unchanged());
  }

  template <class T>
  static void check_given() {
    SCOPED_TRACE(::testing::Message() << type_letter<T> << " rank " << runtime().rank());
    const Index n = 33;
    const auto a = generate<T>("random", n, 5);
    auto array_a = array_of(a, 7);
    for (const RealOf<T> scale : {RealOf<T>(1), RealOf<T>(1e-9)}) {
      const auto l = lapack_factor(generate<T>("overlap", n, 6), scale);
      const auto b = multiply(Op::none, l, Op::adjoint, l);
      Matrix<T> u(n, n);
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) u(i, j) = conjugate(l(j, i));
      auto lower = array_of(l, 5, Uplo::lower), upper = array_of(u, 9, Uplo::upper);
      for (auto* array : {&lower, &upper}) {
        const auto factor =
            cholesky_factor<T>(runtime(), {.b = input(*array), .factorized = true}, {.tile = 16});
        ASSERT_TRUE(factor) << factor.status().message();
        expect_right(a, b, solve<T>({.a = input(array_a), .b_factor = factor.factor}));
        EXPECT_TRUE(array->unchanged());
      }
    }
  }
};

TEST_F(CholeskyFactors, SolvesWithTheSameFactorAgree) {
  check_reuse<double>();
  check_reuse<std::complex<float>>();
  if (runtime().size() > 2) return;
  check_reuse<float>();
  check_reuse<std::complex<double>>();
}

TEST_F(CholeskyFactors, GivenByTheCaller) {
  check_given<std::complex<double>>();
  check_given<float>();
  if (runtime().size() > 2) return;
  check_given<double>();
  check_given<std::complex<float>>();
}

/// Problems in braces find their type; sizes are chosen, the same for the factor and the solve.
TEST_F(CholeskyFactors, ArraysOfOneProcess) {
  if (runtime().size() > 1) GTEST_SKIP() << "run with one rank";

  const Index n = 260;
  const auto a = generate<double>("random", n, 3), b = generate<double>("overlap", n, 4);
  const EigensolveOptions options{.solver = Solver::two_stage};
  const auto s = cholesky_factor(runtime(), {.b = {b.data(), n, b.ld()}});
  ASSERT_TRUE(s);
  Matrix<double> z(n, n), plain(n, n);
  const auto r = eigensolve(
      runtime(), {.a = {a.data(), n, a.ld()}, .b_factor = s.factor, .vectors_to = {z.data(), z.ld()}},
      options);
  ASSERT_TRUE(r) << r.status().message();
  EXPECT_EQ(r.used.tile, s.factor.tile());
  const auto p = eigensolve(
      runtime(),
      {.a = {a.data(), n, a.ld()}, .b = {b.data(), n, b.ld()}, .vectors_to = {plain.data(), plain.ld()}},
      options);
  ASSERT_TRUE(p) << p.status().message();
  EXPECT_EQ(r.values, p.values);
  EXPECT_TRUE(identical(z, plain));
  EXPECT_LT(eigen_errors(a, &b, r.values, &z, lapack_eigenvalues(a, b), 0).residual, 1);
}

TEST_F(CholeskyFactors, FailuresAreTheSameOnAllRanks) {
  const Index n = 30, minor = 21;
  const auto a = generate<double>("random", n);
  auto b = identity<double>(n), not_finite = b;
  b(minor - 1, minor - 1) = -1;
  not_finite(19, 4) = std::nan("");
  auto array_a = array_of(a, 7), array_b = array_of(b, 4), array_nan = array_of(not_finite, 4);
  for (const bool factorized : {false, true}) {
    const auto failed =
        cholesky_factor<double>(runtime(), {.b = input(array_b), .factorized = factorized}, {.tile = 16});
    EXPECT_EQ(failed.status().code, StatusCode::not_positive_definite);
    EXPECT_EQ(failed.status().stage, "cholesky");
    EXPECT_EQ(failed.status().index, minor);
    expect_refused("b_factor", [&] {
      (void)eigensolve<double>(runtime(), {.a = input(array_a), .b_factor = failed.factor});
    });
    const auto bad = cholesky_factor<double>(runtime(), {.b = input(array_nan), .factorized = factorized});
    EXPECT_EQ(bad.status().code, StatusCode::not_finite);
    EXPECT_EQ(bad.status().stage, "input");
    EXPECT_EQ(bad.status().index, 5);
  }
  auto options = few_tiles();
  options.keep_factor = true;
  const auto solved = eigensolve<double>(runtime(), {.a = input(array_a), .b = input(array_b)}, options);
  EXPECT_EQ(solved.status().code, StatusCode::not_positive_definite);
  expect_refused("b_factor", [&] {
    (void)eigensolve<double>(runtime(), {.a = input(array_a), .b_factor = solved.b_factor});
  });
}

TEST_F(CholeskyFactors, RefusedOnAllRanks) {
  const Index n = 20;
  const auto a = generate<double>("random", n), b = generate<double>("overlap", n);
  auto array_a = array_of(a, 7), array_b = array_of(b, 4), small = array_of(identity<double>(n - 1), 4);
  const bool last = runtime().rank() == runtime().size() - 1;
  expect_refused("b", [&] { (void)cholesky_factor<double>(runtime(), {}); });
  expect_refused("tile",
                 [&] { (void)cholesky_factor<double>(runtime(), {.b = input(array_b)}, {.tile = -1}); });
  expect_refused("b.ld", [&] {
    (void)cholesky_factor<double>(runtime(),
                                  {.b = {array_b.data(), last ? 1 : array_b.ld(), array_b.layout()}});
  });
  const auto factor = cholesky_factor<double>(runtime(), {.b = input(array_b)});
  ASSERT_TRUE(factor);
  expect_refused("b_factor", [&] {
    (void)eigensolve<double>(runtime(),
                             {.a = input(array_a), .b = input(array_b), .b_factor = factor.factor});
  });
  expect_refused("b_factor", [&] {
    (void)eigensolve<double>(runtime(), {.a = input(small), .b_factor = factor.factor});
  });
  if (runtime().size() > 1) {
    EXPECT_THROW(
        (void)eigensolve<double>(
            runtime(), {.a = input(array_a), .b_factor = last ? CholeskyFactor<double>() : factor.factor}),
        InvalidArgument);
  }
  const auto empty = cholesky_factor<double>(runtime(), {.b = {nullptr, 1, layout(0, 4)}});
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty.factor.order(), 0);
}

}  // namespace
}  // namespace tessera::test
