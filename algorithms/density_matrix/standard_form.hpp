// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/density_matrix/hermitian_tiles.hpp>
#include <tessera/density_matrix.hpp>

namespace tessera::detail {

/// H' = L^{-1} H L^{-H}, S = L L^H, in tiles of type F, and the way back. Without an overlap H' is H.
///
/// In tiles: LAPACK's reduction, and substitutions. A GPU that has all of it in one tile computes L^{-1} instead, and
/// products with that, which take fewer milliseconds there.
template <class T, class F>
class StandardForm {
 public:
  /// Waits.
  /// @throws IterationEnded: not_positive_definite, ...
  StandardForm(Runtime& runtime, const DensityProblem<T>& problem, const TileLayout& layout);
  const HermitianTiles<F>& hamiltonian() const noexcept { return h_; }
  /// L^{-H} X, all tiles; X is lost.
  TiledMatrix<T> from_standard(Sequence& sequence, HermitianTiles<T>& x) const;

 private:
  void reduce_whole(Sequence& sequence, const TiledMatrix<T>& h);
  HermitianTiles<F> h_;
  TiledMatrix<T> factor_, inverse_;  ///< L, or its inverse; neither: the identity
};

}  // namespace tessera::detail
