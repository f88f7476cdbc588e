// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include <gtest/gtest.h>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/runtime_test.hpp>

/// The whole solver for many kinds of matrices, orders, tiles and bandwidths.
namespace tessera::test {
namespace {

struct Sizes {
  Index tile, band, update_width;
};

EigensolveOptions two_stage(Sizes sizes) {
  EigensolveOptions options;
  options.solver = Solver::two_stage;
  options.tile = sizes.tile, options.band = sizes.band, options.update_width = sizes.update_width;
  return options;
}

template <class T>
class EigensolveMatrices : public RuntimeTest<T> {
 public:
  static void TearDownTestSuite() {
    std::printf("worst errors, type %c: residual %.2f (random %.2f), orthogonality %.2f, values %.2f\n",
                type_letter<T>, worst().residual, worst_random_residual(), worst().orthogonality,
                worst().values);
    std::printf("  of random matrices: orthogonality n < 64 %.2f, n < 400 %.2f, beyond %.2f\n",
                worst_random(0), worst_random(64), worst_random(400));
    RuntimeTest<T>::TearDownTestSuite();
  }

  static void solve(const std::string& kind, Index n, const SolveCase& c, double scale = 1) {
    SCOPED_TRACE(::testing::Message()
                 << kind << ", n " << n << ", scale " << scale << ", " << to_string(c.options.solver)
                 << ", tile " << c.options.tile << " band " << c.options.band << " update "
                 << c.options.update_width << ", uplo " << char(c.uplo));
    const bool random = kind == "random";
    SolveCase gated = c;
    // Rounding errors do not average out while n is small.
    if (random && n >= 30) gated.residual_gate = 1;
    if (random) gated.orthogonality_gate = random_orthogonality_gate(n);
    const auto errors =
        expect_solved<T>(RuntimeTest<T>::runtime(), generate<T>(kind, n, 3, scale), nullptr, gated);
    worst().residual = std::max(worst().residual, errors.residual);
    worst().orthogonality = std::max(worst().orthogonality, errors.orthogonality);
    worst().values = std::max(worst().values, errors.values);
    if (random) worst_random(n) = std::max(worst_random(n), errors.orthogonality);
    if (random && n >= 30) worst_random_residual() = std::max(worst_random_residual(), errors.residual);
  }

 private:
  static EigenErrors& worst() {
    static EigenErrors errors;
    return errors;
  }
  static double& worst_random_residual() {
    static double residual = 0;
    return residual;
  }
  /// Worst orthogonality error among the orders that share the gate of n.
  static double& worst_random(Index n) {
    static double orthogonality[3];
    return orthogonality[n < 64 ? 0 : n < 400 ? 1 : 2];
  }
};
TYPED_TEST_SUITE(EigensolveMatrices, Scalars);

TYPED_TEST(EigensolveMatrices, EveryKind) {
  const Index n = 61;
  for (const auto& kind : generator_kinds())
    for (const Solver solver : {Solver::two_stage, Solver::one_stage, Solver::vendor}) {
      auto options = two_stage({24, 6, 12});
      options.solver = solver;
      this->solve(std::string(kind.name), n, {.options = options});
    }
}

TYPED_TEST(EigensolveMatrices, NearOverflowAndUnderflow) {
  using R = RealOf<TypeParam>;
  const double huge = double(std::numeric_limits<R>::max()) / 64,
               tiny = double(std::numeric_limits<R>::min()) * 64;
  for (const double scale : {huge, tiny, double(std::numeric_limits<R>::min()) / 16})
    for (const Solver solver : {Solver::two_stage, Solver::one_stage, Solver::vendor}) {
      auto options = two_stage({16, 4, 8});
      options.solver = solver;
      for (const char* kind : {"toeplitz", "even"}) this->solve(kind, 40, {.options = options}, scale);
    }
}

TYPED_TEST(EigensolveMatrices, SmallSizesAndOddTiles) {
  for (const Index n : {0, 1, 2, 3, 4, 5, 7, 12, 13, 31}) {
    this->solve("random", n, {.options = {.solver = Solver::automatic}});
    this->solve("random", n, {.uplo = Uplo::upper, .options = two_stage({0, 0, 0})});
    this->solve("random", n, {.options = {.solver = Solver::one_stage}});
    this->solve("random", n, {.options = {.solver = Solver::vendor}});
    if (n >= 2) this->solve("random", n, {.options = two_stage({n - 1, n - 1, n - 1})});  // the widest band
    if (n >= 4) this->solve("random", n, {.options = two_stage({3, 3, 3})});
    if (n >= 3) this->solve("random", n, {.options = two_stage({2, 2, 2})});
  }
}

TYPED_TEST(EigensolveMatrices, TilesBandsAndUpdateWidths) {
  for (const Sizes sizes :
       {Sizes{15, 5, 5}, {12, 3, 6}, {101, 1, 1}, {100, 50, 50}, {30, 10, 30}, {64, 32, 32}})
    for (const Uplo uplo : {Uplo::lower, Uplo::upper, Uplo::general})
      this->solve("random", 101, {.uplo = uplo, .options = two_stage(sizes)});
}

TYPED_TEST(EigensolveMatrices, MiddleSizes) {
  this->solve("random", 257, {.uplo = Uplo::upper, .options = two_stage({0, 0, 0})});
  this->solve("glued-wilkinson", 210, {.options = two_stage({48, 16, 48})});
  this->solve("clustered", 190, {.options = two_stage({64, 16, 32})});
  this->solve("random", 200, {.options = {.solver = Solver::one_stage}});
  this->solve("random", 150, {.options = {.solver = Solver::automatic}});
  for (const Solver solver : {Solver::two_stage, Solver::one_stage})
    for (const Index n : {257, 421}) this->solve("random", n, {.options = {.solver = solver}});
}

using EigensolveLarge = RuntimeTest<double>;
TEST_F(EigensolveLarge, SevenHundredAndOne) {
  const auto a = generate<double>("random", 701);
  const auto errors = expect_solved<double>(runtime(), a, nullptr,
                                            {.options = {.solver = Solver::two_stage},
                                             .residual_gate = 1,
                                             .orthogonality_gate = random_orthogonality_gate(701)});
  std::printf("n = 701: residual %.3f orthogonality %.3f values %.3f\n", errors.residual,
              errors.orthogonality, errors.values);
}

}  // namespace
}  // namespace tessera::test
