// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include <tessera/algorithms/density_matrix/contraction.hpp>
#include <tessera/density_matrix.hpp>

namespace tessera::detail {

/// The iterations would lose too much in half the precision. The same on all ranks.
struct IllConditioned {};
/// Whether they lose little with an overlap of this spectrum, scaled to the identity within blocks.
/// @throws IllConditioned
inline void require_well_conditioned(const SpectralInterval& overlap) {
  constexpr double most = 200;
  if (!(overlap.upper <= most * overlap.lower)) throw IllConditioned();
}

/// How Z is used.
struct FactorUse {
  bool repaired = false;  ///< McWeeny's step in the metric of S follows: what Z lacks counts with its square
  bool half = false;      ///< in iterations of half the precision of the problem
};

/// Z with Z^H S Z = I, stored in full; nothing where S is the identity.
template <class T>
class OrthonormalBasis {
 public:
  using Matrix = BlockSparseMatrix<T>;
  /// Of the identity.
  OrthonormalBasis() = default;
  /// Z0, the inverse Cholesky factors of S's diagonal blocks, times the inverse square root of Z0^H S Z0 by one polynomial
  /// where that is good enough for the filter, else refined (inverse_factor), as is a former Z.
  /// @param former Z of an overlap nearby, or null
  /// @throws IterationEnded
  /// @throws IllConditioned, with FactorUse::half
  OrthonormalBasis(BlockAlgebra<T>& algebra, const Matrix& overlap, const Matrix* former,
                   const DensityOptions& options, FactorUse use = {});

  /// Z^H A Z, A half-stored: half-stored.
  Matrix to_orthonormal(BlockAlgebra<T>& algebra, const Matrix& a) const;
  /// Z^{-1} P Z^{-H}, with Z^{-1} = Z^H S; P half-stored: half-stored.
  Matrix density_to_orthonormal(BlockAlgebra<T>& algebra, const Matrix& p, const Matrix* overlap) const;
  /// Z X Z^H, X half-stored, in a half-stored layout.
  Matrix from_orthonormal(BlockAlgebra<T>& algebra, const Matrix& x, const BlockLayout& layout) const;
  /// Z; empty for the identity.
  Matrix& factor() noexcept { return factor_; }

 private:
  bool by_polynomial(BlockAlgebra<T>& algebra, const Matrix& overlap, double filter_eps, FactorUse use,
                     std::optional<PositiveInterval>& spectrum);
  Matrix factor_;
};

/// With a margin: eigenvalues a little outside of [0, 1] come back, and it costs next to nothing.
inline SpectralInterval widened(const SpectralInterval& ends) {
  const double width = std::max(ends.upper - ends.lower, 1e-3 * std::abs(ends.upper));
  const double margin = width > 0 ? 0.005 * width : 1;
  return {ends.lower - margin, ends.upper + margin};
}

/// An interval that holds the spectrum of a half-stored matrix: nothing lies outside.
/// @throws IterationEnded
template <class T>
SpectralInterval spectrum_of(Runtime& runtime, const BlockSparseMatrix<T>& h);

}  // namespace tessera::detail
