// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/divide_and_conquer/kernels/merge_record.hpp>

/// The O(K^2) part of a merge: roots of the secular equation, weights, boundary rows and secular vectors,
/// each for a range, so that several workers share a merge. Compiled for each instruction set level and
/// chosen at run time.
namespace tessera::detail::kernels {

/// Roots [begin, end) of f(lambda) = 1/rho + sum_i z_i^2 / (d_i - lambda), with d_k < lambda_k < d_{k+1}.
///
/// A root is stored as nearest pole plus offset; the sign of f at the middle of the interval gives the
/// nearest pole. The first guess is the root of s/(d_near - x) + S/(d_far - x) + c with s = z_near^2 and S, c
/// fitted to f and f' there. Each step solves the same form fitted to f, f' and f'' (cubic convergence),
/// inside a shrinking bracket, or bisects if the fit leaves the bracket. The iteration ends when |f| <=
/// epsilon (8 (|psi| + |phi|) + 1/rho +
/// |offset| f'), the rounding error of f, or when the next correction is negligible. Bisection always ends, so the
/// iteration cannot fail to converge.
///
/// record        (R) header, pole, z
/// base, offset  (W) end - begin entries, for root begin first
/// Returns the number of evaluations of f. Numbers that are not finite leave NaN in offset.
/// Flops: about 10 per pole and evaluation, 3 to 4 evaluations a root, each with one division.
/// Source: Gragg, see Borges & Gragg, "A parallel divide and conquer algorithm for the generalized real
/// symmetric definite tridiagonal eigenproblem" (1993); Li, LAPACK Working Note 89 (1993); stopping as in
/// LAPACK dlaed4.
Index secular_roots(const divide_and_conquer::MergeRecord& record, Index begin, Index end, double* base,
                    double* offset) noexcept;

/// Weights of the poles [begin, end) for which the computed roots are exact:
///
///     w_i^2 = prod_j (lambda_j - d_i) / prod_{j != i} (d_j - d_i),   sign(w_i) = sign(z_i).
///
/// The factor 1/rho is omitted, because the vectors are normalised. These weights make the vectors
/// orthogonal.
/// record   (R) header, pole, z, base, offset
/// weights  (W) end - begin entries, ascending poles
/// Flops: 7 per pair, one division per four pairs.
/// Source: Gu & Eisenstat, SIAM J. Matrix Anal. Appl. 16 (1995), eq. 3.3; LAPACK dlaed3.
void secular_weights(const divide_and_conquer::MergeRecord& record, Index begin, Index end,
                     double* weights) noexcept;

/// First and last rows of the eigenvector matrix for the roots [begin, end): sum_p row_p v_p / |v| with
/// v_p = w_p / (d_p - lambda).
///
/// record       (R) header, base, offset, value, weight, first_row, last_row
/// first, last  (W) end - begin entries
void secular_rows(const divide_and_conquer::MergeRecord& record, Index begin, Index end, double* first,
                  double* last) noexcept;

/// Columns [begin, end) of the matrix of secular vectors, rows by slot: S(p, k - begin) = v_p / |v|.
///
/// record  (R) header, base, offset, value, weight
/// s       (W) K x (end - begin), leading dimension lds >= K
template <class R>
void secular_vectors(const divide_and_conquer::MergeRecord& record, Index begin, Index end, R* s,
                     Index lds) noexcept;

// The kernels for each instruction set level.

struct SecularKernels {
  Index (*roots)(const divide_and_conquer::MergeRecord&, Index, Index, double*, double*) noexcept;
  void (*weights)(const divide_and_conquer::MergeRecord&, Index, Index, double*) noexcept;
  void (*rows)(const divide_and_conquer::MergeRecord&, Index, Index, double*, double*) noexcept;
  void (*vectors_float)(const divide_and_conquer::MergeRecord&, Index, Index, float*, Index) noexcept;
  void (*vectors_double)(const divide_and_conquer::MergeRecord&, Index, Index, double*, Index) noexcept;
};

namespace level2 {
extern const SecularKernels secular_kernels;
}
namespace level3 {
extern const SecularKernels secular_kernels;
}
namespace level4 {
extern const SecularKernels secular_kernels;
}

}  // namespace tessera::detail::kernels
