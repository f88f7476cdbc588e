// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <tessera/algorithms/dense/reduce_to_band.hpp>
#include <tessera/codelets/dense/panel_step.hpp>

namespace tessera::detail {

/// Priorities of the tasks of reduce_to_band.
struct ReductionPriority {
  static constexpr int panel = 3;        ///< every step of a panel but the products
  static constexpr int product = 2;      ///< products with A0 and their sums
  static constexpr int next_update = 1;  ///< updates of the tile column that the next panel is in
  static constexpr int update = 0;       ///< other updates
};

/// The matrix during reduce_to_band: A0, which is not yet reduced, the reflectors in place of what is, and V
/// and Z of the panels in the current outer block. How it is stored is its own affair; each method inserts
/// the tasks of one step of the loop in reduce_to_band.cpp, in whose order they are called. A storage whose
/// task covers several steps inserts it in the first of them, and leaves the others empty.
///
/// Names as in codelets/dense/two_sided.hpp: H = I - V T V^H is the panel's reflector, Vacc and Zacc are V
/// and Z of the panels before it in the outer block.
template <class T>
class TrailingMatrix {
 public:
  TrailingMatrix() = default;
  TrailingMatrix(const TrailingMatrix&) = delete;
  TrailingMatrix& operator=(const TrailingMatrix&) = delete;
  virtual ~TrailingMatrix() = default;

  /// An outer block begins at this column: no V and Z yet.
  virtual void begin_block(Index column) = 0;
  /// P := P - Vacc Zacc^H - Zacc Vacc^H for the panel's columns P of A0. Not for the first of a block.
  virtual void update_panel(const PanelPosition&) {}
  /// The diagonal block into the band; below it, unless the panel is the last, P = H [S R; 0].
  virtual void factor_panel(const PanelPosition& panel) = 0;
  /// V into P's place, W = V T; S R into the band.
  virtual void form_reflectors(const PanelPosition&) {}
  /// Y = A0 W.
  virtual void two_sided_product(const PanelPosition&) {}
  /// Z = Y - Vacc (Zacc^H W) - Zacc (Vacc^H W) - V (1/2 W^H A W).
  virtual void form_z(const PanelPosition&) {}
  /// A0 := A0 - V Z^H - Z V^H with the whole block, in rows and columns from `row` on.
  virtual void update(Index row) = 0;
  /// Releases the columns before this one, whose reflectors are not needed any more.
  virtual void release_before(Index) {}
  /// V and T of all panels; the matrix is used up.
  virtual BandReflectors<T> reflectors() = 0;
};

/// A0 in lower tiles: every step is tasks on tiles and tile rows, on all ranks.
template <class T>
std::unique_ptr<TrailingMatrix<T>> trailing_tiles(Sequence& sequence, TiledMatrix<T>&& a, Index update_width,
                                                  const BandMatrix<T>& band, bool split_products);

/// A0 in one tile, as on one GPU that can hold it: one task for all panels of a block
/// (codelets/dense/panel_step.hpp), and one update a block.
template <class T>
std::unique_ptr<TrailingMatrix<T>> trailing_one_tile(Sequence& sequence, TiledMatrix<T>&& a,
                                                     Index update_width, const BandMatrix<T>& band,
                                                     bool split_products);

/// A0 dealt to column groups (deal_columns), each for a GPU, in blocks as wide as an update
/// (codelets/dense/column_groups.hpp has the scheme): 2 tasks a panel on the GPU that owns its columns and
/// one product on every GPU between them; after a block of columns one update on every GPU. One process.
///
/// What goes from GPU to GPU, in elements: V to all others, n^2 / 2 each, in the way of the next product;
/// Y back to the owner, n^2 / 2 in all; Z as V, but in the background, while the next panel is factored (one
/// copy of V and Z for each block instead would leave all GPUs waiting for it).
///
/// Memory of a GPU, in elements: n times its columns; VZ, the pieces of V and Z of one or two blocks, and
/// work space, about 10 n kb.
template <class T>
std::unique_ptr<TrailingMatrix<T>> trailing_column_groups(Sequence& sequence, TiledMatrix<T>&& a,
                                                          Index update_width, const BandMatrix<T>& band,
                                                          int groups, bool split_products);

}  // namespace tessera::detail
