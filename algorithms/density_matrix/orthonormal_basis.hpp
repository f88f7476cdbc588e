// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

}  // namespace tessera::detail
