// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>
#include <vector>

#include <tessera/codelets/density/hermitian_steps.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera::detail {

/// The type of half the precision: float for double; float stays.
template <class T>
using Single = std::conditional_t<is_complex<T>, std::complex<float>, float>;

/// Whether iterations in Single<T> take less time than in T: on a GPU complex products do not.
template <class T>
bool iterates_in_single(const Runtime& runtime) noexcept {
  return sizeof(RealOf<T>) == 8 && !(is_complex<T> && runtime.any_gpus());
}

/// The order of square tiles that products of dense matrices of order n want here: all of it on one GPU that can hold
/// some of them, else enough tiles for all workers.
template <class T>
Index tile_for_products(const Runtime& runtime, Index n);

/// A Hermitian matrix in the tiles of its lower triangle, those on the diagonal with both triangles, and its sums.
template <class T>
class HermitianTiles {
 public:
  /// Without contents; `layout`: lower, square tiles.
  HermitianTiles(Runtime& runtime, const TileLayout& layout);

  const TiledMatrix<T>& tiles() const noexcept { return tiles_; }
  /// X := c0 I + c2 Y; of Y's tiles on the diagonal the lower triangle counts.
  template <class S>
  void assign(Sequence& sequence, double c0, double c2, const TiledMatrix<S>& y);
  /// X := A B, whose product is Hermitian: the lower triangle alone. Without sums.
  void multiply(Sequence& sequence, const HermitianTiles& a, const HermitianTiles& b);
  /// X := Y Y^H, Y in all tiles: the lower triangle alone. Without sums.
  void square(Sequence& sequence, const TiledMatrix<T>& y);
  /// X := c0 I + c1 X + c2 Y; of Y's tiles on the diagonal the lower triangle counts.
  void combine(Sequence& sequence, double c0, double c1, double c2, const HermitianTiles& y);
  /// After assign or combine; waits for them. The same on all ranks. Collective.
  HermitianSums sums() const;
  /// All tiles, also those above the diagonal, for tasks that may overwrite them: X is lost.
  TiledMatrix<T> taken_in_full(Sequence& sequence);

 private:
  template <class Insert>
  void for_each_tile(const Insert& insert) const;
  TiledMatrix<T> tiles_;
  std::vector<Data> sums_;  ///< of the tiles, column by column
  Data work_of_sums_, work_of_square_;
};

/// Y := L^{-H} Y, all tiles. [n^3]
/// @pre L and Y have the same tiles.
template <class T>
void substitute_adjoint(Sequence& sequence, const TiledMatrix<T>& l, const TiledMatrix<T>& y);

}  // namespace tessera::detail
