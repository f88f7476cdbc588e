// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/density_matrix.hpp>

namespace tessera::detail {

/// Z with Z^H S Z = I, stored in full; nothing where S is the identity.
template <class T>
class OrthonormalBasis {
 public:
  using Matrix = BlockSparseMatrix<T>;
  /// Of the identity.
  OrthonormalBasis() = default;
  /// @param former Z of an overlap nearby, or null
  /// @throws IterationEnded
  OrthonormalBasis(BlockAlgebra<T>& algebra, const Matrix& overlap, const Matrix* former,
                   const DensityOptions& options);

  /// Z^H A Z, A half-stored: half-stored.
  Matrix to_orthonormal(BlockAlgebra<T>& algebra, const Matrix& a) const;
  /// Z^{-1} P Z^{-H}, with Z^{-1} = Z^H S; P half-stored: half-stored.
  Matrix density_to_orthonormal(BlockAlgebra<T>& algebra, const Matrix& p, const Matrix* overlap) const;
  /// Z X Z^H, X half-stored, in a half-stored layout.
  Matrix from_orthonormal(BlockAlgebra<T>& algebra, const Matrix& x, const BlockLayout& layout) const;
  /// Z; empty for the identity.
  Matrix& factor() noexcept { return factor_; }

 private:
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
