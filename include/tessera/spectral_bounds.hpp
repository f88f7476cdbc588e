// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/completion.hpp>
#include <tessera/runtime.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

/// @file
/// Where the eigenvalues of a Hermitian block-sparse matrix lie, for float, double, complex<float>,
/// complex<double>:
///
///   const auto r = extremal_eigenvalues(runtime, {.a = a}, {.tolerance = 1e-3});
///   if (!r) return fail(r.status().message());
///   use(r.lowest.bound, r.highest.bound);
namespace tessera {

/// A closed interval of the real axis.
struct SpectralInterval {
  double lower = 0;  ///< its left end
  double upper = 0;  ///< its right end
};

/// The least and the largest a_ii -/+ sum_{j != i} |a_ij|, widened by the rounding of the sums: all eigenvalues
/// of A lie between them (Gershgorin, 1931). Both NaN if an element is NaN or infinite; 0 and 0 for a matrix
/// without elements. Collective; waits. Bitwise the same on all ranks.
/// @throws InvalidArgument for a matrix that was never made, is not square, or has a symmetry that is not
/// Hermitian (of one without symmetry the caller knows that it is Hermitian)
template <class T>
SpectralInterval gershgorin_bounds(const BlockSparseMatrix<T>& a);

/// A matrix whose extremal eigenvalues are wanted.
template <class T>
struct ExtremalProblem {
  /// Hermitian: half-stored, or without symmetry if the caller knows that it is. It is read, and must stay
  /// until the computation is over.
  const BlockSparseMatrix<T>& a;
};

/// How they are computed.
struct ExtremalOptions {
  /// The iteration has converged when both residuals are at most tolerance x (highest - lowest Ritz value); of
  /// the width of the spectrum, which does not depend on a shift of the matrix. Never below rounding.
  double tolerance = 1e-3;
  Index max_products = 100;  ///< with A, at most, and at most n; so many vectors are kept
  std::uint64_t seed = 1;    ///< of the start vector
};

/// One end of a spectrum.
struct SpectralEnd {
  double value = 0;     ///< the Ritz value: never outside the spectrum but for rounding
  double residual = 0;  ///< ||A x - value x|| of its Ritz vector, ||x|| = 1, and an allowance for rounding
  /// value -/+ residual, no further out than Gershgorin's. An eigenvalue lies between this and the Ritz value
  /// (Parlett, The Symmetric Eigenvalue Problem, theorem 4.5.1). No other one lies beyond it unless the start
  /// vector has next to no part along that one's eigenvector. Zhou and Li analyse such bounds of a few Lanczos
  /// steps ("Bounding the spectrum of large Hermitian matrices", Linear Algebra Appl. 435 (2011) 480).
  double bound = 0;
  /// No eigenvalue lies beyond it, but for a share below 1e-6 of all start vectors: with k products, a Ritz
  /// value is no further from the end of the spectrum than epsilon times its width,
  ///   1.648 sqrt(n) exp(-sqrt(epsilon) (2k - 1)) = 1e-6
  /// (Kuczynski and Wozniakowski, SIAM J. Matrix Anal. Appl. 13 (1992) 1094, for directions of equal
  /// probability, which those of normally distributed numbers are), and never closer than `bound`; or
  /// Gershgorin's end, which always holds, if it is tighter.
  double safe_bound = 0;
};

/// The extremal eigenvalues of a matrix; bitwise the same on all ranks. Its status: success;
/// iterations_exhausted (max_products did not suffice: all numbers are valid, their residuals larger);
/// not_finite (NaN or infinity in A: no numbers); task_failed. All zero for a matrix without elements.
struct ExtremalResult : ResultStatus {
  SpectralEnd lowest;           ///< the lower end
  SpectralEnd highest;          ///< the upper end
  SpectralInterval gershgorin;  ///< which holds always
  Index products = 0;           ///< with A
};

/// Submits the iteration. On one rank it goes on in a thread of its own, on several ranks it is over when the
/// call returns. Collective.
///
/// Lanczos with full reorthogonalisation (classical Gram-Schmidt, twice) from a random start vector, which
/// depends on the seed and the number of rows alone. The vectors stay in tasks on CPUs and GPUs; every eight
/// products the host waits for the coefficients, to decide whether the iteration has converged. n x
/// (products + 2) elements of vectors, dealt to the ranks as the rows of A are. The matrix is scaled by a power
/// of two, so that no square overflows.
///
/// Source: B. N. Parlett, The Symmetric Eigenvalue Problem (1998), chapter 13.
/// @throws InvalidArgument for a matrix as with gershgorin_bounds, or of another Runtime; a tolerance that is
/// negative or no number; max_products below 1. All ranks throw what is wrong on one.
template <class T>
Completion<ExtremalResult> submit_extremal_eigenvalues(Runtime& runtime, const ExtremalProblem<T>& problem,
                                                       const ExtremalOptions& options = {});

/// The same, and waits.
template <class T>
[[nodiscard]] ExtremalResult extremal_eigenvalues(Runtime& runtime, const ExtremalProblem<T>& problem,
                                                  const ExtremalOptions& options = {});
/// The same on A's Runtime.
template <class T>
[[nodiscard]] ExtremalResult extremal_eigenvalues(const ExtremalProblem<T>& problem,
                                                  const ExtremalOptions& options = {});

/// @cond
// With these a problem in braces finds its scalar type.
#define TESSERA_EXTREMAL(T)                                                                       \
  inline Completion<ExtremalResult> submit_extremal_eigenvalues(                                  \
      Runtime& runtime, const ExtremalProblem<T>& problem, const ExtremalOptions& options = {}) { \
    return submit_extremal_eigenvalues<T>(runtime, problem, options);                             \
  }                                                                                               \
  [[nodiscard]] inline ExtremalResult extremal_eigenvalues(                                       \
      Runtime& runtime, const ExtremalProblem<T>& problem, const ExtremalOptions& options = {}) { \
    return extremal_eigenvalues<T>(runtime, problem, options);                                    \
  }                                                                                               \
  [[nodiscard]] inline ExtremalResult extremal_eigenvalues(const ExtremalProblem<T>& problem,     \
                                                           const ExtremalOptions& options = {}) { \
    return extremal_eigenvalues<T>(problem, options);                                             \
  }
TESSERA_FOR_SCALARS(TESSERA_EXTREMAL)
#undef TESSERA_EXTREMAL
/// @endcond

}  // namespace tessera
