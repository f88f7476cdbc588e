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

/// What a step does to an eigenvalue t of the matrix that is to become the identity, after scaling it.
using SpectralMap = std::function<double(double t)>;

/// t p(t)^2 with p as above: of T = Z Y in the coupled iteration, of Z^H A Z, and of X^2 in that of the sign.
SpectralMap inverse_root_map(int order);

/// The eigenvalues of a matrix on its way to the identity, as an interval, and the scaling of each step. A step
/// maps t to map(scale * t).
class Contraction {
 public:
  /// Not scaled: every scale is 1.
  Contraction() = default;
  /// `within`: all eigenvalues, positive.
  Contraction(SpectralMap map, SpectralInterval within) : map_(std::move(map)), within_(within) {}

  /// The factor of the next step, with which the ratio of the largest to the smallest eigenvalue falls most. A
  /// spectrum near 1 is not scaled. Moves on to the interval after the step.
  double next_scale();
  /// No eigenvalue is far from 1 any more.
  bool near_one() const noexcept { return map_ && within_.lower > 0.5 && within_.upper < 1.5; }

 private:
  SpectralMap map_;
  SpectralInterval within_{};
};

/// Eigenvalues of a Hermitian positive definite matrix.
/// @throws IterationEnded if it is not, or not finite, or is not Hermitian
template <class T>
SpectralInterval positive_interval(Runtime& runtime, const BlockSparseMatrix<T>& a, const char* stage);

}  // namespace tessera::detail
