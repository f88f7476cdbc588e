// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <tuple>

#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/error.hpp>
#include <tessera/matgen.hpp>
#include <tessera/preconditioners.hpp>
#include <tessera/sparse_matrix.hpp>

/// Problems at the limits of number range and memory must be solved correctly or refused.
namespace tessera::test {
namespace {

class LobpcgLimits : public RuntimeTest<double, true> {
 protected:
  static constexpr Index n = 40;
  /// The two lowest eigenvalues of diag(2, 4, ..., 2 n) times a factor.
  template <class T>
  static void solve(double factor, bool with_norm) {
    std::vector<double> values;
    for (Index i = 1; i <= n; ++i) values.push_back(2 * double(i) * factor);
    const auto a = operator_of<T>(runtime(), diagonal(values), 2, with_norm);
    const auto result = lobpcg(runtime(), {.a = &a}, {.count = 2});
    EXPECT_EQ(result.status().code, StatusCode::success) << factor << ": " << result.status().message();
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_NEAR(result.values[k] / values[k], 1, sizeof(T) == 4 ? 1e-3 : 1e-7) << factor;
  }
};

/// Squares of residuals at the tolerance underflow to zero, so without a check the solve would
/// "converge" at once to wrong values.
TEST_F(LobpcgLimits, MatrixTooSmallToMeasure) {
  for (const bool with_norm : {false, true}) {
    for (const double factor : {1e-100, 1e-130}) solve<double>(factor, with_norm);
    for (const double factor : {1e-150, 1e-160, 1e-170})
      EXPECT_THROW(solve<double>(factor, with_norm), InvalidArgument) << factor;
    solve<float>(1e-20, with_norm);
    EXPECT_THROW(solve<float>(1e-32, with_norm), InvalidArgument);
  }
}

/// The zero matrix is not refused as too small: every vector is an eigenvector.
TEST_F(LobpcgLimits, ZeroMatrix) {
  const auto a = operator_of<double>(runtime(), SparseRows(n), 2);
  const auto result = lobpcg(runtime(), {.a = &a}, {.count = 3});
  EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
  for (const double value : result.values) EXPECT_EQ(value, 0);
}

/// With a shift below all of D, Jacobi inverts a diagonal A however small the least elements of D
/// are.
TEST_F(LobpcgLimits, JacobiWithAShiftBeyondTheDiagonal) {
  std::vector<double> values;
  for (Index i = 0; i < 200; ++i) values.push_back(std::pow(10.0, 5 * double(i) / 199));
  const auto a = operator_of<double>(runtime(), diagonal(values), 2);
  JacobiPreconditioner<double> jacobi(runtime(), a.segments(), values, {.shift = 0});
  const auto result =
      lobpcg(runtime(), {.a = &a, .preconditioner = &jacobi}, {.count = 4, .tolerance = 1e-11});
  EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
  EXPECT_LE(result.iterations, 20);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(result.values[k], values[k], 1e-8);
}

/// Refused because StarPU would wait for memory forever.
TEST_F(LobpcgLimits, VectorsThatDoNotFitAreRefused) {
  const UserOperator<double> a(
      runtime(), RowSegments::even(runtime(), Index(1) << 40, 2),
      [](Index, Index, Index, const double*, Index, double*, Index) { FAIL() << "applied"; }, 1);
  EXPECT_THROW(std::ignore = lobpcg(runtime(), {.a = &a}, {.count = 2}), RuntimeError);
}

/// Refused before the entries are counted one by one.
TEST_F(LobpcgLimits, MatrixThatCannotFitIsRefused) {
  const SparseGenerator large = make_sparse_generator("laplacian1d:99999999999");
  EXPECT_THROW((CsbMatrix<double, double>::build(runtime(), *large.a)), RuntimeError);
}

}  // namespace
}  // namespace tessera::test
