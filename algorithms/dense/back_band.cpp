// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/dense/back_band.hpp>
#include <tessera/algorithms/dense/split_space.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/algorithms/dense/task_memory.hpp>
#include <tessera/codelets/dense/block_reflector.hpp>

namespace tessera::detail {

namespace {

constexpr int merge_priority = 1, apply_priority = 0;

/// Wider block reflectors make no faster products, but more work on T.
constexpr Index widest_reflector = 1024;

/// Columns k of a block reflector, fewer where the memory is short: one task gathers V (n x k) from a column
/// of tiles (n x tile; 0: from a column group, whose GPU has room for it), another holds V, T (k x k), a slab
/// (n x slab) and its work space (2 k x slab).
template <class T>
Index reflector_columns(const Runtime& runtime, Index n, Index tile, Index slab) {
  const Index elements = task_elements<T>(runtime);
  const Index gathered = elements / n - tile;
  const Index applied = (elements - n * slab) / (n + 2 * slab + widest_reflector);
  return std::min({widest_reflector, gathered, applied});
}

/// Work space for large products in other ways. That of complex<double> is several times a reflector: where the memory
/// is short, cuBLAS' own three products, which need none, take its place.
template <class T>
std::size_t split_bytes(const Runtime& runtime, Index n, Index k, Index slab) {
  const std::size_t bytes = split_reflector_bytes<T>(n, k, slab);
  const bool fits = bytes <= static_cast<std::size_t>(task_memory(runtime) / 4);
  return by_three_products<T> && !fits ? split_products::header_bytes : bytes;
}

/// Some panels of one tile column, or of one block of a column group, as a block reflector.
struct ColumnReflector {
  Data v, t;
  Index first_row = 0, rows = 0, k = 0;
};

/// V from a tile column; once its first panel is gathered, releases the tiles.
template <class T>
void gather_from_tiles(Sequence& sequence, BandReflectors<T>& q, const ColumnReflector& h) {
  TiledMatrix<T>& tiles = q.vectors;
  const Index tile = tiles.layout().tile_rows, column = h.first_row / tile,
              first = h.first_row - column * tile;
  std::vector<const Data*> pieces;
  for (Index i = column; i < tiles.row_tiles(); ++i) pieces.push_back(&tiles.tile(i, column));
  sequence.insert(
      GatherReflectors<T>{.tiles = pieces, .v = h.v, .b = q.band, .first_row = first, .first_col = first},
      {.priority = merge_priority});
  for (Index i = column; first == 0 && i < tiles.row_tiles(); ++i) tiles.release_tile(i, column);
}

/// V from a column group, on its GPU: only V goes to the others. Releases the group likewise.
template <class T>
void gather_from_group(Sequence& sequence, BandReflectors<T>& q, const ColumnReflector& h) {
  const int g = q.groups.columns().group_of(h.first_row);
  const Index first = q.groups.columns().local(h.first_row);
  const std::vector<const Data*> group{&q.groups.group(g)};
  sequence.insert(
      GatherReflectors<T>{
          .tiles = group, .v = h.v, .b = q.band, .first_row = h.first_row, .first_col = first},
      {.priority = merge_priority, .gpu = gpu_of_group(sequence.runtime(), g)});
  if (first == 0) q.groups.release_group(g);
}

template <class T>
ColumnReflector merge_panels(Sequence& sequence, BandReflectors<T>& q, Index n, int owner, Index first_panel,
                             Index panels) {
  Runtime& runtime = sequence.runtime();
  ColumnReflector h;
  h.k = panels * q.band;
  h.first_row = first_panel * q.band;
  h.rows = n - h.first_row;
  h.v = Data::matrix(runtime, h.rows, h.k, sizeof(T), owner);
  h.t = Data::matrix(runtime, h.k, h.k, sizeof(T), owner);
  if (q.groups.count() > 0)
    gather_from_group(sequence, q, h);
  else
    gather_from_tiles(sequence, q, h);
  std::vector<const Data*> t_panels;
  for (Index p = first_panel / q.panels_of_t; p * q.panels_of_t < first_panel + panels; ++p)
    t_panels.push_back(&q.t[static_cast<std::size_t>(p)]);
  const std::vector<const Data*> v{&h.v};
  sequence.insert(MergeT<T>{.v = v,
                            .t_panels = t_panels,
                            .t = h.t,
                            .rows = h.rows,
                            .k = h.k,
                            .b = q.band,
                            .first = first_panel % q.panels_of_t},
                  {.priority = merge_priority});
  return h;
}

template <class T>
void insert_back_band(Sequence& sequence, BandReflectors<T> q, const ColumnSlabs<T>& z, bool split_products) {
  if (q.panels == 0 || z.count() == 0) return;
  const bool in_groups = q.groups.count() > 0;
  const Index n = z.rows(), width = in_groups ? q.groups.columns().block : q.vectors.layout().tile_rows;
  const Index panels_per_column = width / q.band;
  const Index columns_at_once =
      reflector_columns<T>(sequence.runtime(), n, in_groups ? 0 : width, std::min(z.width(), z.cols()));
  const Index panels_at_once = std::clamp<Index>(columns_at_once / q.band, 1, panels_per_column);
  const Data workspace = Data::scratch(
      sequence.runtime(), block_reflector_workspace_bytes<T>(panels_at_once * q.band, z.width()));
  const SplitSpace split(
      sequence.runtime(),
      split_products ? split_bytes<T>(sequence.runtime(), n, panels_at_once * q.band, z.width()) : 0);
  // All of V, n^2 / 2 elements, is made long before it is needed.
  const bool room =
      n * n / 2 * static_cast<Index>(sizeof(T)) <= sequence.runtime().info().gpu_memory_bytes / 8;
  for (Index last = q.panels; last > 0;) {
    const Index column = (last - 1) / panels_per_column, begin = column * panels_per_column;
    const Index first = begin + (last - 1 - begin) / panels_at_once * panels_at_once;
    const int owner = in_groups ? 0 : q.vectors.owner(column, column);
    const ColumnReflector h = merge_panels(sequence, q, n, owner, first, last - first);
    if (room) {
      z.prefetch_to_gpus(h.v);
      z.prefetch_to_gpus(h.t);
    }
    const std::vector<const Data*> v{&h.v};
    for (Index j = 0; j < z.count(); ++j)
      sequence.insert(ApplyBlockReflector<T>{.v = v,
                                             .t = h.t,
                                             .c = z.slab(j),
                                             .work = workspace,
                                             .split = split.operand(),
                                             .first_row = h.first_row,
                                             .rows = h.rows,
                                             .k = h.k,
                                             .cols = z.slab_cols(j)},
                      {.priority = apply_priority});
    last = first;
  }
}

template <class T>
void insert_to_general(Sequence& sequence, const TiledMatrix<T>& l, const ColumnSlabs<T>& x) {
  for (Index k = l.row_tiles() - 1; k >= 0; --k) {
    std::vector<const Data*> row;
    for (Index i = 0; i <= k; ++i) row.push_back(&l.tile(k, i));
    for (Index j = 0; j < x.count(); ++j)
      sequence.insert(SolveAdjointRow<T>{.l_row = row,
                                         .x = x.slab(j),
                                         .tile = l.layout().tile_rows,
                                         .rows = l.tile_rows(k),
                                         .cols = x.slab_cols(j)});
    for (const Data* tile : row) tile->flush_remote_copies();
  }
}

}  // namespace

template <class T>
void back_band(Sequence& sequence, BandReflectors<T>&& reflectors, const ColumnSlabs<T>& z,
               bool split_products) {
  const auto check = [&] {
    if (reflectors.panels == 0) return;
    const bool in_groups = reflectors.groups.count() > 0;
    require_rows("z", z, in_groups ? reflectors.groups.columns().n : reflectors.vectors.rows());
  };
  const std::uint64_t arguments = argument_hash(hash_of(reflectors.vectors), reflectors.panels,
                                                reflectors.band, hash_of(z), split_products);
  collectively(sequence.runtime(), "back_band", arguments, check,
               [&] { insert_back_band(sequence, std::move(reflectors), z, split_products); });
}

template <class T>
void to_general(Sequence& sequence, const TiledMatrix<T>& l, const ColumnSlabs<T>& x) {
  const auto check = [&] {
    require_lower_tiles("l", l.layout());
    require_rows("x", x, l.rows());
  };
  collectively(sequence.runtime(), "to_general", argument_hash(hash_of(l), hash_of(x)), check,
               [&] { insert_to_general(sequence, l, x); });
}

#define TESSERA_INSTANTIATE(T)                                                             \
  template void back_band<T>(Sequence&, BandReflectors<T>&&, const ColumnSlabs<T>&, bool); \
  template void to_general<T>(Sequence&, const TiledMatrix<T>&, const ColumnSlabs<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
