// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <functional>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/spectral_bounds.hpp>

/// Polynomials that bring a spectrum to 1, of numbers and of matrices.
namespace tessera::detail {

/// Coefficients of (1 - y)^{-1/2} at y = 0, of which an iteration of order p takes the first p.
inline constexpr std::array<double, 7> inverse_root_coefficients{
    1, 1.0 / 2, 3.0 / 8, 5.0 / 16, 35.0 / 128, 63.0 / 256, 231.0 / 1024};

/// W = p(T) - I for the polynomial p of an order, 2 to 7, given Y = I - T: sum_{k = 1}^{order - 1} c_k Y^k. Y is
/// used up. Products: 0, 1, 2, 2, 3, 3.
template <class T>
BlockSparseMatrix<T> inverse_root_terms(BlockAlgebra<T>& algebra, int order, BlockSparseMatrix<T> y);

/// What a step does to an eigenvalue t of the matrix that is to become the identity, after scaling it; negative where
/// the step must not go.
using SpectralMap = std::function<double(double t)>;

/// t p(t)^2 with p as above: of T = Z Y in the coupled iteration, of Z^H A Z, and of X^2 in that of the sign.
SpectralMap inverse_root_map(int order);

/// Where eigenvalues lie, above 0.
struct PositiveInterval {
  double lower, upper;
  bool sure;  ///< none lies below
  /// Of the matrix over c.
  PositiveInterval over(double c) const noexcept { return {lower / c, upper / c, sure}; }
};

/// The eigenvalues of a matrix on its way to the identity, as an interval, and the scaling of each step. A step
/// maps t to map(scale * t).
class Contraction {
 public:
  /// Not scaled: every scale is 1.
  Contraction() = default;
  /// `within`: all eigenvalues, positive.
  Contraction(SpectralMap map, const PositiveInterval& within)
      : map_(std::move(map)), within_{within.lower, within.upper}, sure_(within.sure) {}

  /// The factor of the next step, with which the ratio of the largest to the smallest eigenvalue falls most. A
  /// spectrum near 1 is not scaled. Moves on to the interval after the step.
  double next_scale();
  /// No eigenvalue is far from 1 any more.
  bool near_one() const noexcept { return map_ && sure_ && within_.lower > 0.5 && within_.upper < 1.5; }

 private:
  SpectralMap map_;
  SpectralInterval within_{};
  bool sure_ = false;
};

/// Residuals of extremal Ritz values, over the width of the spectrum, at which Lanczos ends: a bound on a spectrum that
/// is half a hundredth wider costs less than the products that would make it narrower.
inline constexpr double ends_tolerance = 5e-3;

/// The eigenvalues of a Hermitian positive semidefinite matrix, an interval above 0, by Lanczos; the upper end has a
/// margin. Not sure: the lowest Ritz value has not converged enough to tell where below it the spectrum ends.
/// @throws IterationEnded if the matrix is not finite
template <class T>
PositiveInterval positive_interval_of(Runtime& runtime, const BlockSparseMatrix<T>& a,
                                      double& lowest_ritz_value);

/// The same of a positive definite one.
/// @throws IterationEnded if it is not, or not finite
template <class T>
PositiveInterval positive_interval(Runtime& runtime, const BlockSparseMatrix<T>& a, const char* stage);

}  // namespace tessera::detail
