// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tests/support/runtime_test.hpp>
#include <tests/support/type_pairs.hpp>

#include <tessera/matgen.hpp>
#include <tessera/operators.hpp>
#include <tessera/preconditioners.hpp>

/// Effect of preconditioners on solves. test_preconditioners.cpp tests them as operators.
namespace tessera::test {
namespace {

template <class Pair>
class PreconditionedSolves : public RuntimeTest<typename Pair::T, true> {
 public:
  using V = typename Pair::V;
  using T = typename Pair::T;
};
TYPED_TEST_SUITE(PreconditionedSolves, TypePairs);

/// The expected end of this spectrum, from few products, lies 30 MeV inside: an indefinite preconditioner would find
/// the eigenvector next to it.
TYPED_TEST(PreconditionedSolves, FomFindsTheEndFromInside) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  const SparseGenerator helium = make_sparse_generator(
      "shell:nocore:4He:4", {.interaction = "minnesota", .oscillator = 20, .lawson = 10});
  const auto a = CsbMatrix<V, T>::build(this->runtime(), *helium.a);
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-8;
  const auto plain = lobpcg(this->runtime(), {.a = &a}, {.count = 4, .tolerance = tolerance});
  ASSERT_TRUE(plain) << plain.status().message();
  for (const Index count : {1, 2, 4}) {
    FomPreconditioner<V, T> fom(this->runtime(), a);
    const auto result =
        lobpcg(this->runtime(), {.a = &a, .preconditioner = &fom}, {.count = count, .tolerance = tolerance});
    EXPECT_TRUE(result) << result.status().message();
    for (std::size_t k = 0; k < std::size_t(count); ++k)
      EXPECT_NEAR(result.values[k], plain.values[k], 2 * tolerance * a.norm_bound()) << "of " << count;
  }
}

/// Preconditioners must reduce the iterations in a shell model: 20Ne with a random interaction.
TYPED_TEST(PreconditionedSolves, SaveIterations) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  const SparseGenerator shell = make_sparse_generator("shell:20Ne");
  const auto a = CsbMatrix<V, T>::build(this->runtime(), *shell.a, {.segments = 2});
  for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest}) {
    std::vector<double> values;
    const auto iterations = [&](Preconditioner<T>* preconditioner) {
      const LobpcgResult<T> result =
          lobpcg(this->runtime(), {.a = &a, .preconditioner = preconditioner},
                 {.count = 4, .end = end, .tolerance = sizeof(T) == 4 ? 3e-6 : 1e-8});
      EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
      if (values.empty()) values = result.values;
      for (std::size_t k = 0; k < 4; ++k)
        EXPECT_NEAR(result.values[k], values[k], 100 * precision<T> * a.norm_bound());
      return result.iterations;
    };
    const Index without = iterations(nullptr);
    FomPreconditioner<V, T> fom(this->runtime(), a, {.end = end});
    JacobiPreconditioner<T> jacobi(this->runtime(), a.segments(), a.diagonal(), {.end = end});
    ChebyshevPreconditioner<T> chebyshev(this->runtime(), a, {.end = end});
    const Index with_fom = iterations(&fom), with_jacobi = iterations(&jacobi),
                with_chebyshev = iterations(&chebyshev);
    // At the largest end, and in float, the diagonal and tiles are less effective.
    if (end == EigenEnd::smallest) {
      EXPECT_LT(6 * with_fom, 5 * without);
      EXPECT_LT(10 * with_jacobi, 9 * without);
    } else {
      EXPECT_LE(with_fom, without + 2);
      EXPECT_LE(4 * with_jacobi, 5 * without);
    }
    EXPECT_LT(2 * with_chebyshev, without);
    this->RecordProperty(end == EigenEnd::smallest ? "smallest" : "largest",
                         std::to_string(without) + " " + std::to_string(with_jacobi) + " " +
                             std::to_string(with_fom) + " " + std::to_string(with_chebyshev));
  }
}

/// Forwards to another preconditioner; derived classes hide some of its functions.
template <class T>
class Passed : public Preconditioner<T> {
 public:
  explicit Passed(Preconditioner<T>& inner) : inner_(inner) {}
  const RowSegments* segments() const override { return inner_.segments(); }
  void prepare(Sequence& sequence, std::span<const double> ritz_values, Index converged) override {
    inner_.prepare(sequence, ritz_values, converged);
  }
  void apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
             Index columns) const override {
    inner_.apply(sequence, r, w, columns);
  }

 protected:
  Preconditioner<T>& inner_;
};

/// Does not forward by_columns(), so it is applied only after it is known which pairs have
/// converged.
template <class T>
class Late final : public Passed<T> {
 public:
  using Passed<T>::Passed;
  const char* name() const override { return "late"; }
  bool asks_for_the_end() const override { return this->inner_.asks_for_the_end(); }
  void expect(double ritz_value, double residual) override { this->inner_.expect(ritz_value, residual); }
};

/// Does not forward expect(), so the inner preconditioner has no estimate of the end of the
/// spectrum.
template <class T>
class Untold final : public Passed<T> {
 public:
  using Passed<T>::Passed;
  const char* name() const override { return "untold"; }
  bool by_columns() const override { return this->inner_.by_columns(); }
};

/// Estimating the end of the spectrum must save iterations, and columns but for those that it multiplies itself, one in
/// each of four steps: 44Ti with random interactions. (FOM stays definite without it, too.)
TYPED_TEST(PreconditionedSolves, ExpectingTheEndSavesIterations) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  if (sizeof(T) == 4) GTEST_SKIP() << "rounding decides about iterations";
  Index told = 0, untold = 0, columns_told = 0, columns_untold = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    SparseGeneratorOptions of_seed;
    of_seed.seed = seed;
    const SparseGenerator shell = make_sparse_generator("shell:44Ti", of_seed);
    const auto a = CsbMatrix<V, T>::build(this->runtime(), *shell.a);
    const LobpcgOptions options{.count = 4, .tolerance = 1e-8};
    FomPreconditioner<V, T> fom(this->runtime(), a), again(this->runtime(), a);
    Untold<T> alone(again);
    const auto with = lobpcg(this->runtime(), {.a = &a, .preconditioner = &fom}, options),
               without = lobpcg(this->runtime(), {.a = &a, .preconditioner = &alone}, options);
    ASSERT_EQ(with.status().code, StatusCode::success) << with.status().message();
    ASSERT_EQ(without.status().code, StatusCode::success) << without.status().message();
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_NEAR(with.values[k], without.values[k], 1e-10 * a.norm_bound());
    told += with.iterations, untold += without.iterations;
    columns_told += with.columns_multiplied, columns_untold += without.columns_multiplied;
  }
  EXPECT_LT(told, untold);
  EXPECT_LT(columns_told - 3 * 4, columns_untold);
}

/// Columns of W whose pairs turn out to have converged are dropped. The other columns equal those
/// of a solve that waits for the norms.
TYPED_TEST(PreconditionedSolves, BeginningEarlyChangesNothing) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  if (sizeof(T) == 4) GTEST_SKIP() << "rounding decides about iterations";
  const SparseGenerator shell = make_sparse_generator("shell:20Ne");
  const auto a = CsbMatrix<V, T>::build(this->runtime(), *shell.a, {.segments = 2});
  FomPreconditioner<V, T> fom(this->runtime(), a);
  ASSERT_TRUE(fom.by_columns());
  FomPreconditioner<V, T> again(this->runtime(), a);
  Late<T> late(again);
  ASSERT_FALSE(late.by_columns());
  const LobpcgOptions options{.count = 6, .block = 8, .tolerance = 1e-8};
  const auto early = lobpcg(this->runtime(), {.a = &a, .preconditioner = &fom}, options);
  const auto waiting = lobpcg(this->runtime(), {.a = &a, .preconditioner = &late}, options);
  ASSERT_EQ(early.status().code, StatusCode::success) << early.status().message();
  ASSERT_EQ(waiting.status().code, StatusCode::success) << waiting.status().message();
  EXPECT_EQ(early.iterations, waiting.iterations);
  EXPECT_EQ(early.columns_multiplied, waiting.columns_multiplied);
  bool some_locked_before_the_end = false;
  for (std::size_t k = 0; k < early.history.size() && k < waiting.history.size(); ++k) {
    some_locked_before_the_end =
        some_locked_before_the_end || (early.history[k].converged > 0 && early.history[k].converged < 6);
    EXPECT_NEAR(early.history[k].values[5], waiting.history[k].values[5],
                1e-6 * std::abs(waiting.history[k].values[5]))
        << k;
  }
  EXPECT_TRUE(some_locked_before_the_end);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(early.values[k], waiting.values[k], 1e-10 * a.norm_bound());
}

/// Residuals must reach a few rounding errors of A, so no iteration may add more than that to A X.
TYPED_TEST(PreconditionedSolves, ReachTheRoundingOfA) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  const SparseGenerator chain = make_sparse_generator("heisenberg:16");
  const auto a = CsbMatrix<V, T>::build(this->runtime(), *chain.a, {.segments = 2});
  FomPreconditioner<V, T> fom(this->runtime(), a, {});
  const LobpcgResult<T> result = lobpcg(this->runtime(), {.a = &a, .preconditioner = &fom},
                                        {.count = 8, .block = 12, .tolerance = 8 * double(precision<T>)});
  EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
  EXPECT_LE(result.restarts, 1);
  for (const double residual : result.residuals)
    EXPECT_LE(residual, 9 * double(precision<T>) * a.norm_bound() * 2);
}

/// With B = s I the Ritz values are those of A / s; b_norm = s scales them back to those of A.
TYPED_TEST(PreconditionedSolves, TheScaleOfBDoesNotMatter) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  Runtime& runtime = this->runtime();
  const SparseGenerator shell = make_sparse_generator("shell:20Ne");
  const auto a = CsbMatrix<V, T>::build(runtime, *shell.a, {.segments = 2});
  const EigenEnd end = sizeof(V) == 8 ? EigenEnd::largest : EigenEnd::smallest;
  Index expected[3] = {};
  for (const double s : {1.0, 0.01, 100.0}) {
    const UserOperator<T> b(
        runtime, a.segments(),
        [s](Index first, Index last, Index columns, const T* x, Index ldx, T* y, Index ldy) {
          for (Index i = first; i < last; ++i)
            for (Index j = 0; j < columns; ++j) y[(i - first) * ldy + j] = T(s) * x[i * ldx + j];
        },
        s);
    FomPreconditioner<V, T> fom(runtime, a, {.end = end, .b_norm = b.norm_bound()});
    JacobiPreconditioner<T> jacobi(runtime, a.segments(), a.diagonal(),
                                   {.end = end, .b_norm = b.norm_bound()});
    ChebyshevPreconditioner<T> chebyshev(runtime, a, {.end = end, .b_norm = b.norm_bound()});
    Preconditioner<T>* const all[] = {&fom, &jacobi, &chebyshev};
    for (int k = 0; k < 3; ++k) {
      const LobpcgResult<T> result =
          lobpcg(runtime, {.a = &a, .b = &b, .preconditioner = all[k]},
                 {.count = 4, .end = end, .tolerance = sizeof(T) == 4 ? 1e-5 : 1e-8});
      EXPECT_EQ(result.status().code, StatusCode::success)
          << all[k]->name() << ' ' << result.status().message();
      if (s == 1)
        expected[k] = result.iterations;
      else
        EXPECT_NEAR(double(result.iterations), double(expected[k]), 0.2 * double(expected[k]))
            << all[k]->name() << ", B = " << s;
    }
  }
}

}  // namespace
}  // namespace tessera::test
