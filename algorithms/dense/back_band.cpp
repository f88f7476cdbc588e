// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/dense/back_band.hpp>
#include <tessera/codelets/dense/block_reflector.hpp>

namespace tessera {
namespace {

constexpr int merge_priority = 1, apply_priority = 0;

/// The panels of one tile column as a block reflector.
template <class T>
struct ColumnReflector {
  Data top, t;
  std::vector<const Data*> pieces;
  Index first_row = 0, rows = 0, k = 0;
};

/// Fills `h`, whose pieces point at h.top.
template <class T>
void merge_column(Sequence& sequence, const BandReflectors<T>& q, Index column, Index first_panel,
                  Index panels, ColumnReflector<T>& h) {
  Runtime& runtime = sequence.runtime();
  const TiledMatrix<T>& tiles = q.vectors;
  h.k = panels * q.band;
  h.first_row = column * tiles.layout().tile_rows;
  h.rows = tiles.rows() - h.first_row;
  h.top = Data::matrix(runtime, tiles.tile_rows(column), h.k, sizeof(T), tiles.owner(column, column));
  h.t = Data::matrix(runtime, h.k, h.k, sizeof(T), tiles.owner(column, column));
  insert_top_reflectors<T>(sequence, merge_priority, tiles.tile(column, column), h.top, q.band);
  h.pieces.push_back(&h.top);
  for (Index i = column + 1; i < tiles.row_tiles(); ++i) h.pieces.push_back(&tiles.tile(i, column));
  std::vector<const Data*> t_panels;
  for (Index p = first_panel; p < first_panel + panels; ++p)
    t_panels.push_back(&q.t[static_cast<std::size_t>(p)]);
  insert_merge_t<T>(sequence, merge_priority, h.pieces, t_panels, h.t, h.rows, h.k, q.band);
}

}  // namespace

template <class T>
void back_band(Sequence& sequence, BandReflectors<T>&& reflectors, const ColumnSlabs<T>& z) {
  BandReflectors<T> q = std::move(reflectors);
  if (q.panels() == 0 || z.count() == 0) return;
  const Index tile = q.vectors.layout().tile_rows, panels_per_tile = tile / q.band;
  const Data workspace =
      Data::scratch(sequence.runtime(), sizeof(T) * static_cast<std::size_t>(tile * z.width()));
  const Index columns = ceil_div(q.panels(), panels_per_tile);
  for (Index column = columns - 1; column >= 0; --column) {
    const Index first_panel = column * panels_per_tile;
    const Index panels = std::min(panels_per_tile, q.panels() - first_panel);
    ColumnReflector<T> h;
    merge_column(sequence, q, column, first_panel, panels, h);
    for (Index j = 0; j < z.count(); ++j)
      insert_apply_block_reflector<T>(sequence, apply_priority, h.pieces, h.t, z.slab(j), h.first_row, h.rows,
                                      h.k, z.slab_cols(j), workspace);
    for (Index i = column; i < q.vectors.row_tiles(); ++i) q.vectors.release_tile(i, column);
  }
}

template <class T>
void to_general(Sequence& sequence, const TiledMatrix<T>& l, const ColumnSlabs<T>& x) {
  for (Index k = l.row_tiles() - 1; k >= 0; --k) {
    std::vector<const Data*> row;
    for (Index i = 0; i <= k; ++i) row.push_back(&l.tile(k, i));
    for (Index j = 0; j < x.count(); ++j)
      insert_solve_adjoint_row<T>(sequence, 0, row, x.slab(j), l.layout().tile_rows, l.tile_rows(k),
                                  x.slab_cols(j));
    for (const Data* tile : row) tile->flush_remote_copies();
  }
}

#define TESSERA_INSTANTIATE(T)                                                       \
  template void back_band<T>(Sequence&, BandReflectors<T>&&, const ColumnSlabs<T>&); \
  template void to_general<T>(Sequence&, const TiledMatrix<T>&, const ColumnSlabs<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
