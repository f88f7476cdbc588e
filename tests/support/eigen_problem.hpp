// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tests/support/matrix.hpp>

#include <tessera/eigensolve.hpp>

/// Dense Hermitian eigenproblems on the host: references by LAPACK, errors as the accuracy gates define them.
namespace tessera::test {

/// The whole matrix of a generator, both triangles.
template <class T>
Matrix<T> generate(const std::string& kind, Index n, std::uint64_t seed = 1, double scale = 1);

/// Ascending, by LAPACK's heevd from the lower triangle.
template <class T>
std::vector<RealOf<T>> lapack_eigenvalues(Matrix<T> a);
/// Those of A x = lambda B x, by LAPACK's hegvd.
template <class T>
std::vector<RealOf<T>> lapack_eigenvalues(Matrix<T> a, Matrix<T> b);

/// Of the gates, all three, for the eigenvalues number first, ..., first + w.size() - 1. Matrices near
/// overflow or underflow are brought to the size of one before anything is multiplied. A zero matrix counts
/// with norm 1.
struct EigenErrors {
  double residual = 0, orthogonality = 0, values = 0;
};
template <class T>
EigenErrors eigen_errors(const Matrix<T>& a, const Matrix<T>* b, const std::vector<RealOf<T>>& w,
                         const Matrix<T>* z, const std::vector<RealOf<T>>& reference, Index first);

/// Gate of the orthogonality for random matrices (generator "random"), whose rounding errors average out as n
/// grows: LAPACK's heevd gives up to 2.3 at n = 5, 1.3 at n = 33, 1.0 at n = 100 and 0.5 at n = 500.
constexpr double random_orthogonality_gate(Index n) {
  return n < 64 ? 5 : n < 400 ? 2 : 1.1;
}

/// What eigensolve makes of a problem given in LAPACK layout: triangle `uplo` alone is there (NaN in the
/// other), with padded columns. Fails the running test unless the input is as before, nothing is written
/// beyond the results, and the errors are below the gates.
struct SolveCase {
  Uplo uplo = Uplo::lower;
  EigensolveOptions options;
  double residual_gate = 30, orthogonality_gate = 30, values_gate = 30;
};
template <class T>
EigenErrors expect_solved(Runtime& runtime, const Matrix<T>& a, const Matrix<T>* b, const SolveCase& c);

}  // namespace tessera::test
