// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/completion.hpp>
#include <tessera/runtime.hpp>
#include <tessera/spectral_bounds.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

/// @file
/// Functions of block-sparse matrices by iterations of filtered products, for float, double, complex<float>,
/// complex<double>:
///
///   const auto r = matrix_sign(runtime, {.a = a}, {.filter_eps = 1e-6});
///   if (!r) return fail(r.status().message());
///   use(r.value);
///
/// All are collective and read A alone. A result has A's distribution; of a half-stored A it is half-stored,
/// too, unless it says otherwise. Half-stored means Hermitian here (real: symmetric). A matrix without
/// symmetry is taken as a general one.
namespace tessera {

/// One line of an iteration's table.
struct IterationStep {
  std::string stage;       ///< which iteration: matrix_sign, inverse_factor, trs4, ...
  Index iteration = 0;     ///< from 1
  double convergence = 0;  ///< what the stop compares; each iteration says what it is
  double occupation = 0;   ///< of the iterate: share of its elements that are stored
  double threshold = 0;    ///< eps of the filter of its products
  double seconds = 0;      ///< of this step
  Index products = 0;      ///< of matrices, in this step
  double flop = 0;         ///< of these products, all ranks together
  double gpu_bytes = 0;    ///< held in the memories of this rank's GPUs when the step was over
  double electrons = 0;    ///< density matrices only: occupied states times their occupation
  double energy = 0;       ///< density matrices only: trace(P H), in the unit of H; NaN where it is not known
};

/// Called after each step, on every rank; false on any stops (status: stopped).
using IterationMonitor = std::function<bool(const IterationStep&)>;

/// How a function of a matrix is computed.
struct MatrixFunctionOptions {
  double filter_eps = 0;  ///< of all products (MultiplyOptions::filter_eps); 0: none
  /// Of the polynomial of a step; 0: what each function says. Higher orders take fewer steps of more products.
  int order = 0;
  /// The iteration ends when its convergence will be at most this after the step; 0: max(rounding, the filter
  /// times 0.01).
  double tolerance = 0;
  Index iterations = 100;  ///< at most
  /// Each step scales the iterate so that the spectrum contracts as fast as it can (Chen and Chow for order 2;
  /// here for each order by a search over the scalar polynomial), as long as it is far from convergence. For
  /// matrices without symmetry there is no scaling.
  bool scaled = true;
  /// The reached error is measured at the end, with products of its own (without a filter). Off: it is
  /// estimated from the last step.
  bool check = true;
  int root = 2;                ///< p of matrix_inverse_root, 1 to 16
  IterationMonitor monitor{};  ///< of the steps
};

/// A matrix of which a function is wanted.
template <class T>
struct MatrixFunctionProblem {
  const BlockSparseMatrix<T>& a;  ///< square; rows and columns of the same blocks
  /// Of a former result, or null: where iterations that can refine it begin (inverse_factor, matrix_inverse).
  const BlockSparseMatrix<T>* start = nullptr;
};

/// What an iteration has done. Its status: success; iterations_exhausted; stagnated (the filter, or rounding,
/// lets it come no further, and it is far from the tolerance); not_positive_definite (of functions that need
/// it); not_finite (NaN or infinity, in A or by divergence); stopped (by the monitor); task_failed. The table
/// holds what was done until then.
struct IterationReport : ResultStatus {
  double error = 0;                  ///< reached; each function says of what
  std::vector<IterationStep> steps;  ///< the table
  Index products = 0;                ///< of matrices, the check's included
  double flop = 0;                   ///< of these, all ranks together
  double seconds = 0;                ///< all, from the call to its end
};

/// A function of a matrix, and how it was found.
template <class T>
struct MatrixFunctionResult : IterationReport {
  BlockSparseMatrix<T> value;  ///< f(A); valid only with success
};

/// sign(A) = A (A^2)^{-1/2}: eigenvalues -1 and 1 where those of A are below and above 0.
///
/// X_0 = A / b, b the smaller of ||A||_F and Gershgorin's bound; Y = I - X^2; X <- X f(Y), f the Taylor
/// polynomial of (1 - y)^{-1/2} of degree order - 1, orders 2 to 7 (default 2, Newton-Schulz): 2, 3, 4, 4, 5, 5
/// products a step. Convergence: ||Y||_F / sqrt(n). Error: that of the result. Scaled, the interval of A's
/// spectrum that is free around 0 is found by Lanczos on X_0^2, and no_gap says that an eigenvalue is nearer to 0 than
/// the filter or sqrt((100 + 10 sqrt(n)) eps), relative to b; plain, such eigenvalues take more steps than there may be, or have the sign
/// that rounding gives them.
/// Source: the seed of CP2K's LS_SCF (VandeVondele, Borstnik, Hutter, J. Chem. Theory Comput. 8 (2012) 3565,
/// eqs. 1 and 2); orders and stop as in CP2K; scaling after Chen and Chow, Preprint ANL/MCS-P5059 (2014).
template <class T>
Completion<MatrixFunctionResult<T>> submit_matrix_sign(Runtime& runtime,
                                                       const MatrixFunctionProblem<T>& problem,
                                                       const MatrixFunctionOptions& options = {});
/// The same, and waits.
template <class T>
[[nodiscard]] MatrixFunctionResult<T> matrix_sign(Runtime& runtime, const MatrixFunctionProblem<T>& problem,
                                                  const MatrixFunctionOptions& options = {});

/// Z with Z^H A Z = I, A Hermitian positive definite: Z <- Z p(Z^H A Z), p the Taylor polynomial of x^{-1/2} at
/// 1 of degree order - 1, orders 2 to 5 (default 3): 3, 4, 5, 5 products a step. Begins with the inverse
/// Cholesky factors of A's diagonal blocks, or with `start` (an inverse factor of a matrix nearby: it is refined). Z has no
/// symmetry, and is stored in full. Convergence: ||I - Z^H A Z||_F / sqrt(n). Error: that of the result.
/// Source: Niklasson, Phys. Rev. B 70 (2004) 193102.
template <class T>
Completion<MatrixFunctionResult<T>> submit_inverse_factor(Runtime& runtime,
                                                          const MatrixFunctionProblem<T>& problem,
                                                          const MatrixFunctionOptions& options = {});
/// The same, and waits.
template <class T>
[[nodiscard]] MatrixFunctionResult<T> inverse_factor(Runtime& runtime,
                                                     const MatrixFunctionProblem<T>& problem,
                                                     const MatrixFunctionOptions& options = {});

/// A^{-1}: X <- 2 X - X A X (Schulz 1933, Hotelling 1943), order 2, or 3 X - 3 X A X + X A X A X, order 3; default
/// 2: 2 and 3 products a step. Begins with `start`, or for a half-stored A, which must be positive definite, with a multiple of
/// the identity (scaled), else with A^H / (||A||_1 ||A||_inf). Convergence: ||I - A X||_F / sqrt(n). Error:
/// that of the result.
template <class T>
Completion<MatrixFunctionResult<T>> submit_matrix_inverse(Runtime& runtime,
                                                          const MatrixFunctionProblem<T>& problem,
                                                          const MatrixFunctionOptions& options = {});
/// The same, and waits.
template <class T>
[[nodiscard]] MatrixFunctionResult<T> matrix_inverse(Runtime& runtime,
                                                     const MatrixFunctionProblem<T>& problem,
                                                     const MatrixFunctionOptions& options = {});

/// Both square roots of a Hermitian positive definite matrix.
template <class T>
struct SquareRootsResult : IterationReport {
  BlockSparseMatrix<T> root;          ///< A^{1/2}; valid only with success
  BlockSparseMatrix<T> inverse_root;  ///< A^{-1/2}; likewise
};

/// A^{1/2} and A^{-1/2}, A half-stored and positive definite, by the coupled iteration Y <- Y p(Z Y), Z <- p(Z Y) Z,
/// Y_0 = A / c, Z_0 = I, c = (largest + smallest eigenvalue) / 2; p as in inverse_factor, orders 2 to 5 (default
/// 3): 3, 4, 4, 5 products a step. Convergence: ||I - Z Y||_F / sqrt(n). Error: ||I - Z A Z||_F / sqrt(n).
/// Source: Higham, Functions of Matrices (2008), section 6.3; as in CP2K (Jansik et al., J. Chem. Phys. 126
/// (2007) 124104).
template <class T>
Completion<SquareRootsResult<T>> submit_matrix_square_roots(Runtime& runtime,
                                                            const MatrixFunctionProblem<T>& problem,
                                                            const MatrixFunctionOptions& options = {});
/// The same, and waits.
template <class T>
[[nodiscard]] SquareRootsResult<T> matrix_square_roots(Runtime& runtime,
                                                       const MatrixFunctionProblem<T>& problem,
                                                       const MatrixFunctionOptions& options = {});

/// A^{-1/p} of a half-stored positive definite matrix, p = options.root: W = ((p + 1) I - M) / p, X <- X W,
/// M <- W^p M, M_0 = A / c, X_0 = c^{-1/p} I; each step scales M so that its spectrum contracts. A^{1/p} is
/// A X^{p - 1}. Convergence: ||I - M||_F / sqrt(n). Error: ||I - X^p A||_F / sqrt(n).
/// Source: Guo and Higham, SIAM J. Matrix Anal. Appl. 28 (2006) 788, the coupled Newton iteration for the inverse
/// root.
template <class T>
Completion<MatrixFunctionResult<T>> submit_matrix_inverse_root(Runtime& runtime,
                                                               const MatrixFunctionProblem<T>& problem,
                                                               const MatrixFunctionOptions& options = {});
/// The same, and waits.
template <class T>
[[nodiscard]] MatrixFunctionResult<T> matrix_inverse_root(Runtime& runtime,
                                                          const MatrixFunctionProblem<T>& problem,
                                                          const MatrixFunctionOptions& options = {});

/// exp(A) by scaling and squaring: exp(A / 2^s)^(2^s), s such that Gershgorin's bound of A / 2^s is at most 1/2,
/// with the Taylor polynomial whose remainder is below the tolerance, by Horner's rule. Convergence: of a term,
/// the bound of the remainder without it; of a squaring 0. Error: the bound of the polynomial's remainder,
/// relative to exp(A), without what the filter adds.
/// Source: Moler and Van Loan, SIAM Review 45 (2003) 3, method 3.
template <class T>
Completion<MatrixFunctionResult<T>> submit_matrix_exponential(Runtime& runtime,
                                                              const MatrixFunctionProblem<T>& problem,
                                                              const MatrixFunctionOptions& options = {});
/// The same, and waits.
template <class T>
[[nodiscard]] MatrixFunctionResult<T> matrix_exponential(Runtime& runtime,
                                                         const MatrixFunctionProblem<T>& problem,
                                                         const MatrixFunctionOptions& options = {});

/// The logarithm of a determinant.
struct LogDeterminantResult : IterationReport {
  double value = 0;  ///< log det A; valid only with success
};

/// log det A = trace(log A) of a half-stored positive definite matrix. With the Cholesky factors L of A's
/// diagonal blocks it is 2 sum log diag(L) + trace(log B), B = L^{-1} A L^{-H}. Square roots of B are taken until
/// the spectrum is near enough to 1, then trace(log(I - E)) = - sum_k trace(E^k) / k. Steps are those of the
/// square roots, then one for each power of E. Error: the bound of the remainder of the series, absolute.
template <class T>
Completion<LogDeterminantResult> submit_log_determinant(Runtime& runtime,
                                                        const MatrixFunctionProblem<T>& problem,
                                                        const MatrixFunctionOptions& options = {});
/// The same, and waits.
template <class T>
[[nodiscard]] LogDeterminantResult log_determinant(Runtime& runtime, const MatrixFunctionProblem<T>& problem,
                                                   const MatrixFunctionOptions& options = {});

/// A density matrix that is nearly idempotent: P S P is nearly P.
template <class T>
struct PurificationProblem {
  const BlockSparseMatrix<T>& density;            ///< P, half-stored; for states of occupation 1
  const BlockSparseMatrix<T>* overlap = nullptr;  ///< S, half-stored; null: the identity
};

/// P <- 3 P S P - 2 P S P S P (McWeeny, Rev. Mod. Phys. 32 (1960) 335) until ||P S P - P||_F <= tolerance ||P||_F,
/// or will be after the step. Eigenvalues of P S between (1 - sqrt(3)) / 2 and (1 + sqrt(3)) / 2 go to 0 or 1.
/// Convergence: ||P S P - P||_F / ||P||_F. Error: that of the result.
template <class T>
Completion<MatrixFunctionResult<T>> submit_purify(Runtime& runtime, const PurificationProblem<T>& problem,
                                                  const MatrixFunctionOptions& options = {});
/// The same, and waits.
template <class T>
[[nodiscard]] MatrixFunctionResult<T> purify(Runtime& runtime, const PurificationProblem<T>& problem,
                                             const MatrixFunctionOptions& options = {});

/// @cond
// With these a problem in braces finds its scalar type.
#define TESSERA_MATRIX_FUNCTION(T, name, Result, Problem)                              \
  inline Completion<Result> submit_##name(Runtime& runtime, const Problem<T>& problem, \
                                          const MatrixFunctionOptions& options = {}) { \
    return submit_##name<T>(runtime, problem, options);                                \
  }                                                                                    \
  [[nodiscard]] inline Result name(Runtime& runtime, const Problem<T>& problem,        \
                                   const MatrixFunctionOptions& options = {}) {        \
    return name<T>(runtime, problem, options);                                         \
  }
#define TESSERA_MATRIX_FUNCTIONS(T)                                                               \
  TESSERA_MATRIX_FUNCTION(T, matrix_sign, MatrixFunctionResult<T>, MatrixFunctionProblem)         \
  TESSERA_MATRIX_FUNCTION(T, inverse_factor, MatrixFunctionResult<T>, MatrixFunctionProblem)      \
  TESSERA_MATRIX_FUNCTION(T, matrix_inverse, MatrixFunctionResult<T>, MatrixFunctionProblem)      \
  TESSERA_MATRIX_FUNCTION(T, matrix_square_roots, SquareRootsResult<T>, MatrixFunctionProblem)    \
  TESSERA_MATRIX_FUNCTION(T, matrix_inverse_root, MatrixFunctionResult<T>, MatrixFunctionProblem) \
  TESSERA_MATRIX_FUNCTION(T, matrix_exponential, MatrixFunctionResult<T>, MatrixFunctionProblem)  \
  TESSERA_MATRIX_FUNCTION(T, log_determinant, LogDeterminantResult, MatrixFunctionProblem)        \
  TESSERA_MATRIX_FUNCTION(T, purify, MatrixFunctionResult<T>, PurificationProblem)
TESSERA_FOR_SCALARS(TESSERA_MATRIX_FUNCTIONS)
#undef TESSERA_MATRIX_FUNCTIONS
#undef TESSERA_MATRIX_FUNCTION
/// @endcond

}  // namespace tessera
