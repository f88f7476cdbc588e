// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tests/support/matrix.hpp>

#include <tessera/eigensolve.hpp>

/// Dense Hermitian eigenproblems on the host, with references from LAPACK and errors as the
/// accuracy gates define them.
namespace tessera::test {

/// The whole matrix of a generator, with both triangles.
template <class T>
Matrix<T> generate(const std::string& kind, Index n, std::uint64_t seed = 1, double scale = 1);

/// Eigenvalues in ascending order, computed by LAPACK's heevd from the lower triangle.
template <class T>
std::vector<RealOf<T>> lapack_eigenvalues(Matrix<T> a);
/// Eigenvalues of A x = lambda B x from LAPACK's hegvd.
template <class T>
std::vector<RealOf<T>> lapack_eigenvalues(Matrix<T> a, Matrix<T> b);

/// The errors of all three gates for eigenvalues number first, ..., first + w.size() - 1. Matrices
/// near overflow or underflow are scaled to order one first. A zero matrix counts as having norm 1.
struct EigenErrors {
  double residual = 0, orthogonality = 0, values = 0;
};
template <class T>
EigenErrors eigen_errors(const Matrix<T>& a, const Matrix<T>* b, const std::vector<RealOf<T>>& w,
                         const Matrix<T>* z, const std::vector<RealOf<T>>& reference, Index first);

/// Orthogonality gate for random matrices (generator "random"), whose rounding errors average out
/// as n grows. LAPACK's heevd reaches up to 2.3 at n = 5, 1.3 at n = 33, 1.0 at n = 100 and 0.5 at
/// n = 500.
constexpr double random_orthogonality_gate(Index n) {
  return n < 64 ? 5 : n < 400 ? 2 : 1.1;
}

/// Solves a problem in LAPACK layout with padded columns, in which only triangle `uplo` is set and
/// the other contains NaN. Fails the running test unless the input is unchanged, nothing is written
/// outside the results, and the errors are below the gates.
struct SolveCase {
  Uplo uplo = Uplo::lower;
  EigensolveOptions options;
  double residual_gate = 30, orthogonality_gate = 30, values_gate = 30;
};
template <class T>
EigenErrors expect_solved(Runtime& runtime, const Matrix<T>& a, const Matrix<T>* b, const SolveCase& c);

}  // namespace tessera::test
