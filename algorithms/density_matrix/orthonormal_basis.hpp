// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/density_matrix.hpp>

namespace tessera::detail {

/// Z with Z^H S Z = I, as a product of what it is made of: Z = B R, B block-diagonal and R half-stored, or R alone
/// without symmetry (a former Z, refined).
template <class T>
class OrthonormalBasis {
 public:
  using Matrix = BlockSparseMatrix<T>;
  /// Without an overlap: the identity.
  OrthonormalBasis() = default;
  /// @param former Z of an overlap nearby, or null
  /// @throws IterationEnded
  OrthonormalBasis(BlockAlgebra<T>& algebra, const Matrix& overlap, const Matrix* former,
                   const DensityOptions& options);

  /// Z^H A Z, A half-stored: half-stored.
  Matrix to_orthonormal(BlockAlgebra<T>& algebra, const Matrix& a) const;
  /// factor Z X Z^H, X half-stored, in a half-stored layout.
  Matrix from_orthonormal(BlockAlgebra<T>& algebra, double factor, const Matrix& x, const BlockLayout& layout) const;
  /// Z, in full; empty for the identity.
  Matrix factor(BlockAlgebra<T>& algebra) const;

 private:
  Matrix block_;  ///< B = L^{-H}; empty with a former Z
  Matrix root_;   ///< R
};

}  // namespace tessera::detail
