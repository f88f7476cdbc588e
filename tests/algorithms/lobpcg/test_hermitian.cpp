// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>
#include <tests/algorithms/lobpcg/hermitian_problems.hpp>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/interior.hpp>
#include <tessera/preconditioners.hpp>

/// Complex Hermitian problems against LAPACK, closed forms and transformations that keep the spectrum.
namespace tessera::test {
namespace {

template <class T>
class HermitianSolve : public RuntimeTest<double> {
 protected:
  static constexpr bool single = sizeof(RealOf<T>) == 4;
  static constexpr double tolerance = single ? 1e-5 : 1e-9, values_gate = single ? 1e-4 : 1e-11,
                          orthogonality_gate = single ? 5e-5 : 1e-11;
};
using Complexes = ::testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(HermitianSolve, Complexes);

TYPED_TEST(HermitianSolve, AgreesWithLapack) {
  using T = TypeParam;
  for (const Index n : {16, 61, 130}) {
    const HermitianEntries a = random_entries(n, 0, 7), b = random_entries(n, 4, 8);
    const auto op = operator_of<T>(this->runtime(), a, 3), mass = operator_of<T>(this->runtime(), b, 3);
    for (const bool generalized : {false, true}) {
      const std::vector<double> all =
          generalized ? lapack_eigenvalues(dense(a), dense(b)) : lapack_eigenvalues(dense(a));
      for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest})
        for (const auto& [method, variant, count] :
             {std::tuple(EigenMethod::lobpcg, LobpcgVariant::orthonormal, Index(3)),
              {EigenMethod::lobpcg, LobpcgVariant::basic, 2},
              {EigenMethod::lobpcg, LobpcgVariant::orthonormal, n / 5},
              {EigenMethod::generalized_davidson, LobpcgVariant::orthonormal, 1},
              {EigenMethod::generalized_davidson, LobpcgVariant::orthonormal, n / 5}}) {
          SCOPED_TRACE(fmt::format("n {} B {} largest {} method {} variant {} count {}", n, generalized,
                                   end == EigenEnd::largest, int(method), int(variant), count));
          const auto result =
              lobpcg(this->runtime(), {.a = &op, .b = generalized ? &mass : nullptr},
                     {.count = count,
                      .method = method,
                      // Of 16 rows its Gram matrices are singular with more, the default on GPUs.
                      .block = variant == LobpcgVariant::basic ? Index(4) : Index(0),
                      .end = end,
                      .tolerance = this->tolerance,
                      .variant = variant,
                      .iterations = 3000});
          EXPECT_TRUE(result) << result.status().message();
          std::vector<double> wanted = all;
          if (end == EigenEnd::largest) std::reverse(wanted.begin(), wanted.end());
          ASSERT_EQ(Index(result.values.size()), count);
          expect_near(result.values, wanted, this->values_gate);
          expect_pairs(result, a, generalized ? &b : nullptr, 20 * this->tolerance, this->orthogonality_gate);
        }
    }
  }
}

/// Half a quantum of flux: all eigenvalues are double, to the last bits.
TYPED_TEST(HermitianSolve, RingsWithDoubleEigenvalues) {
  using T = TypeParam;
  const Index n = 40;
  for (const double phi : {0.0, 0.7, std::numbers::pi, -2.1}) {
    const HermitianEntries a = magnetic_ring(n, phi);
    const auto op = operator_of<T>(this->runtime(), a, 2);
    JacobiPreconditioner<T> jacobi(this->runtime(), op.segments(), std::vector<double>(std::size_t(n), 2.0));
    for (Preconditioner<T>* const preconditioner :
         {static_cast<Preconditioner<T>*>(nullptr), static_cast<Preconditioner<T>*>(&jacobi)}) {
      const auto result = lobpcg(this->runtime(), {.a = &op, .preconditioner = preconditioner},
                                 {.count = 5, .tolerance = this->tolerance, .iterations = 2000});
      EXPECT_TRUE(result) << result.status().message();
      expect_near(result.values, ring_values(n, phi), this->values_gate);
      expect_pairs(result, a, nullptr, 10 * this->tolerance, this->orthogonality_gate);
    }
  }
}

/// 40 pairs in groups, each of which has those before as constraints.
TYPED_TEST(HermitianSolve, MoreThanABlockHolds) {
  using T = TypeParam;
  const Index n = 220, count = 40;
  const HermitianEntries a = random_entries(n, 0, 3, 2), b = random_entries(n, 4, 9, 1);
  const auto op = operator_of<T>(this->runtime(), a, 2), mass = operator_of<T>(this->runtime(), b, 2);
  const std::vector<double> all = lapack_eigenvalues(dense(a), dense(b));
  for (const EigenMethod method : {EigenMethod::lobpcg, EigenMethod::generalized_davidson}) {
    const auto result =
        lobpcg(this->runtime(), {.a = &op, .b = &mass},
               {.count = count, .method = method, .tolerance = this->tolerance, .iterations = 3000});
    EXPECT_TRUE(result) << result.status().message();
    ASSERT_EQ(Index(result.values.size()), count);
    expect_near(result.values, all, this->values_gate);
    expect_pairs(result, a, &b, 20 * this->tolerance, this->orthogonality_gate);
  }
}

class Hermitian : public RuntimeTest<double> {
 protected:
  using T = Complex;
};

/// The widest blocks: two kernels' limits on GPUs.
TEST_F(Hermitian, WidestBlocksAndBases) {
  const Index n = 170;
  const HermitianEntries a = random_entries(n, 0, 5), b = random_entries(n, 4, 6);
  const auto op = operator_of<T>(runtime(), a, 2), mass = operator_of<T>(runtime(), b, 2);
  const std::vector<double> all = lapack_eigenvalues(dense(a), dense(b));
  for (const auto& [method, basis] :
       {std::tuple(EigenMethod::lobpcg, Index(0)), {EigenMethod::generalized_davidson, 128}}) {
    const auto result = lobpcg(
        runtime(), {.a = &op, .b = &mass},
        {.count = 32, .method = method, .block = 32, .basis = basis, .tolerance = 1e-9, .iterations = 2000});
    EXPECT_TRUE(result) << result.status().message();
    expect_near(result.values, all, 1e-11);
    expect_pairs(result, a, &b, 2e-8, 1e-11);
  }
}

/// D^H A D with phases D has A's eigenvalues, and its eigenvectors times D^H.
TEST_F(Hermitian, GaugeTransformations) {
  const Index n = 80;
  const HermitianEntries a = random_entries(n, 0, 11);
  HermitianEntries turned(n);
  const auto phase = [](Index i) { return std::polar(1.0, 2.5 * double(i) + 0.1 * double(i * i)); };
  for (Index i = 0; i < n; ++i)
    for (const auto& [j, value] : a.rows[std::size_t(i)])
      if (j <= i) turned.add(i, j, std::conj(phase(i)) * value * phase(j));
  const auto op = operator_of<T>(runtime(), a), other = operator_of<T>(runtime(), turned);
  const LobpcgOptions options{.count = 4, .tolerance = 1e-10, .iterations = 2000};
  const auto one = lobpcg(runtime(), {.a = &op}, options), two = lobpcg(runtime(), {.a = &other}, options);
  expect_near(one.values, lapack_eigenvalues(dense(a)), 1e-12);
  expect_near(two.values, one.values, 1e-12);
  const std::vector<T> x = all_columns(one.vectors, 4), y = all_columns(two.vectors, 4);
  for (Index j = 0; j < 4; ++j) {
    Complex overlap = 0;
    for (Index i = 0; i < n; ++i)
      overlap += std::conj(std::conj(phase(i)) * x[std::size_t(4 * i + j)]) * y[std::size_t(4 * i + j)];
    EXPECT_NEAR(std::abs(overlap), 1, 1e-10);
  }
}

/// The real matrix [Re A, -Im A; Im A, Re A] has each eigenvalue of A twice.
TEST_F(Hermitian, RealEmbeddings) {
  const Index n = 60, count = 3;
  const HermitianEntries a = random_entries(n, 0, 21);
  const UserOperator<double> embedded(
      runtime(), 2 * n,
      [&](Index, Index columns, const double* x, Index ldx, double* y, Index ldy) {
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < columns; ++j) {
            Complex sum = 0;
            for (const auto& [k, value] : a.rows[std::size_t(i)])
              sum += value * Complex(x[k * ldx + j], x[(n + k) * ldx + j]);
            y[i * ldy + j] = sum.real();
            y[(n + i) * ldy + j] = sum.imag();
          }
      },
      a.norm());
  const auto op = operator_of<T>(runtime(), a);
  const LobpcgOptions options{.count = count, .tolerance = 1e-10, .iterations = 2000};
  LobpcgOptions twice = options;
  twice.count = 2 * count;
  const auto complex = lobpcg(runtime(), {.a = &op}, options);
  const auto real = lobpcg(runtime(), {.a = &embedded}, twice);
  ASSERT_EQ(Index(real.values.size()), 2 * count);
  for (std::size_t k = 0; k < 2 * std::size_t(count); ++k)
    EXPECT_NEAR(real.values[k], complex.values[k / 2], 1e-11);
}

/// The solution is B-orthogonal to constraints, complex ones, and goes on from a guess.
TEST_F(Hermitian, ConstraintsAndGuesses) {
  const Index n = 90;
  const HermitianEntries a = random_entries(n, 0, 31), b = random_entries(n, 4, 32);
  const auto op = operator_of<T>(runtime(), a, 3), mass = operator_of<T>(runtime(), b, 3);
  const std::vector<double> all = lapack_eigenvalues(dense(a), dense(b));
  const LobpcgOptions options{.count = 3, .tolerance = 1e-10, .iterations = 2000};
  const auto first = lobpcg(runtime(), {.a = &op, .b = &mass}, options);
  ASSERT_TRUE(first) << first.status().message();
  const auto next = lobpcg(
      runtime(), {.a = &op, .b = &mass, .constraints = &first.vectors, .constraint_count = 3}, options);
  expect_near(next.values, {all.begin() + 3, all.end()}, 1e-11);
  expect_pairs(next, a, &b, 1e-8, 1e-11);
  const auto again =
      lobpcg(runtime(), {.a = &op, .b = &mass, .guess = &first.vectors, .guess_count = 3}, options);
  expect_near(again.values, all, 1e-11);
  EXPECT_LE(again.iterations, first.iterations / 4);
}

TEST_F(Hermitian, InteriorPairsByFolding) {
  const Index n = 80;
  const HermitianEntries a = random_entries(n, 0, 41);
  const auto op = operator_of<T>(runtime(), a, 2);
  std::vector<double> all = lapack_eigenvalues(dense(a));
  for (const double sigma : {0.123, -0.4}) {
    std::vector<double> wanted = all;
    std::sort(wanted.begin(), wanted.end(),
              [&](double x, double y) { return std::abs(x - sigma) < std::abs(y - sigma); });
    const FoldedOperator<T> folded(runtime(), op, sigma);
    const auto found = lobpcg(
        runtime(), {.a = &folded},
        {.count = 4, .method = EigenMethod::generalized_davidson, .tolerance = 1e-12, .iterations = 3000});
    ASSERT_TRUE(found) << found.status().message();
    const auto pairs = interior_pairs(runtime(), op, sigma, found);
    expect_near(pairs.values, wanted, 1e-9);
    expect_pairs(pairs.values, pairs.residuals, all_columns(pairs.vectors, 4), a, nullptr, 1e-5, 1e-12);
  }
}

/// Chebyshev's recurrence and a preconditioner of the user's, whose inverse is complex, too.
TEST_F(Hermitian, Preconditioners) {
  const Index n = 150;
  const HermitianEntries a = magnetic_ring(n, 1.1);
  const auto op = operator_of<T>(runtime(), a, 2);
  ChebyshevPreconditioner<T> chebyshev(runtime(), op, {.degree = 6});
  // The ring's vectors are plane waves: 1 / (A + 0.01) on these, by sums over all of them.
  std::vector<Complex> green(std::size_t(n), 0.0);
  for (Index k = 0; k < n; ++k) {
    const double angle = 2 * std::numbers::pi * double(k) / double(n),
                 value = 2.01 - 2 * std::cos(angle - 1.1 / double(n));
    for (Index d = 0; d < n; ++d)
      green[std::size_t(d)] += std::polar(1 / (value * double(n)), angle * double(d));
  }
  UserPreconditioner<T> inverse(
      [&](Index first, Index rows, Index columns, const T* r, Index ldr, T* w, Index ldw) {
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < columns; ++j) {
            T sum = 0;
            for (Index k = 0; k < rows; ++k) sum += green[std::size_t((i - k + n) % n)] * r[k * ldr + j];
            w[i * ldw + j] = sum;
          }
        EXPECT_EQ(first, 0);
      });
  const auto whole = operator_of<T>(runtime(), a, 1);
  const LobpcgOptions options{.count = 4, .tolerance = 1e-10, .iterations = 3000};
  const auto bare = lobpcg(runtime(), {.a = &op}, options);
  const auto of_chebyshev = lobpcg(runtime(), {.a = &op, .preconditioner = &chebyshev}, options);
  const auto of_inverse = lobpcg(runtime(), {.a = &whole, .preconditioner = &inverse}, options);
  for (const auto* result : {&bare, &of_chebyshev, &of_inverse}) {
    EXPECT_TRUE(*result) << result->status().message();
    expect_near(result->values, ring_values(n, 1.1), 1e-11);
    expect_pairs(*result, a, nullptr, 1e-9, 1e-11);
  }
  EXPECT_LT(of_chebyshev.iterations, bare.iterations / 2);
  EXPECT_LT(of_inverse.iterations, 30);
}

/// What is symmetric, but not Hermitian, is refused; and so is a diagonal that is not real.
TEST_F(Hermitian, RefusesOtherOperators) {
  const Index n = 40;
  for (const bool on_diagonal : {false, true}) {
    const UserOperator<T> op(runtime(), n, [&](Index, Index columns, const T* x, Index ldx, T* y, Index ldy) {
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < columns; ++j) {
          y[i * ldy + j] = T(2, on_diagonal ? 0.5 : 0) * x[i * ldx + j];
          if (!on_diagonal)
            for (const Index k : {i - 1, i + 1})
              if (k >= 0 && k < n) y[i * ldy + j] += T(-1, 0.5) * x[k * ldx + j];
        }
    });
    expect_refused("a", [&] { (void)lobpcg(runtime(), {.a = &op}, {.count = 2}); });
  }
}

}  // namespace
}  // namespace tessera::test
