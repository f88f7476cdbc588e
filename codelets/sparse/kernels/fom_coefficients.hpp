// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include <tessera/codelets/sparse/fom_tiles.hpp>

/// Functions of the Lanczos coefficients of one tile and column, in double, for CPU and CUDA code.
namespace tessera::detail {

#ifdef __CUDACC__
#define TESSERA_FOM_FUNCTION __host__ __device__ inline
#else
#define TESSERA_FOM_FUNCTION inline
#endif

/// Whether the Krylov space is invariant after a step, for vectors of precision `epsilon`: the new direction
/// is rounding error beside the numbers it is a difference of. `largest`: of |alpha_i| and beta_i so far,
/// without `beta`.
TESSERA_FOM_FUNCTION bool fom_invariant(double beta, double largest, double epsilon) {
  return beta <= 32 * epsilon * largest;
}

/// The shift for T_k: as given, or, where sign (T_k - shift I) is to be positive definite and is not, as far beyond
/// Gershgorin's bound of T_k as the given one is inside of it. Arguments as below.
TESSERA_FOM_FUNCTION double definite_shift(int k, const double* alpha, const double* beta,
                                           std::int64_t stride, FomShift shift) {
  if (shift.sign == 0) return shift.value;
  bool definite = true;
  double pivot = 0, bound = 0, size = 0;  // bound: of the least eigenvalue of sign (T_k - shift I)
  for (int j = 0; j < k; ++j) {
    const double diagonal = shift.sign * (alpha[j * stride] - shift.value),
                 before = j > 0 ? fabs(beta[(j - 1) * stride]) : 0,
                 after = j + 1 < k ? fabs(beta[j * stride]) : 0, radius = before + after;
    pivot = j > 0 ? diagonal - before * before / pivot : diagonal;
    definite = definite && pivot > 0;
    bound = j > 0 ? fmin(bound, diagonal - radius) : diagonal - radius;
    size = fmax(size, fabs(diagonal) + radius);
  }
  return definite ? shift.value : shift.value + shift.sign * fmin(2 * bound, -1e-3 * size);
}

/// y of (T_k - shift I) y = norm e_1 for k >= 1, by Givens rotations: they need no definite matrix. A last
/// pivot that is almost zero (the shift is an eigenvalue of T_k) is replaced by sqrt(epsilon) times the size
/// of the matrix. alpha[j stride] is alpha_{j+1} and beta[j stride] beta_{j+1}, j < k and j < k - 1; y[j
/// stride] may be beta's memory.
TESSERA_FOM_FUNCTION void fom_solution(int k, const double* alpha, const double* beta, std::int64_t stride,
                                       FomShift given, double norm, double epsilon, double* y) {
  const double shift = definite_shift(k, alpha, beta, stride, given);
  double diagonal[fom_max_steps], first[fom_max_steps], second[fom_max_steps], right[fom_max_steps];
  double size = 0, pivot = alpha[0] - shift, above = k > 1 ? beta[0] : 0;
  right[0] = norm;
  for (int j = 0; j < k; ++j) {
    const double below = j + 1 < k ? beta[j * stride] : 0;
    size = fmax(size, fmax(fabs(alpha[j * stride] - shift), below));
    first[j] = above;
    second[j] = 0;
    diagonal[j] = pivot;
    if (j + 1 == k) break;
    // Rotates rows j and j + 1.
    const double next = alpha[(j + 1) * stride] - shift, after = j + 2 < k ? beta[(j + 1) * stride] : 0;
    const double length = hypot(pivot, below), cosine = pivot / length, sine = below / length;
    diagonal[j] = length;
    first[j] = cosine * above + sine * next;
    second[j] = sine * after;
    pivot = cosine * next - sine * above;
    above = cosine * after;
    right[j + 1] = -sine * right[j];
    right[j] *= cosine;
  }
  const double least = size > 0 ? sqrt(epsilon) * size : 1;
  if (fabs(diagonal[k - 1]) < least) diagonal[k - 1] = diagonal[k - 1] < 0 ? -least : least;
  double y1 = 0, y2 = 0;  // the two below
  for (int j = k - 1; j >= 0; --j) {
    const double value = (right[j] - first[j] * y1 - second[j] * y2) / diagonal[j];
    y2 = y1;
    y1 = value;
    y[j * stride] = value;
  }
}

#undef TESSERA_FOM_FUNCTION

}  // namespace tessera::detail
