// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/dense/eigensolve_arguments.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/algorithms/dense/vectors_output.hpp>
#include <tessera/codelets/dense/copy.hpp>

namespace tessera::detail {

namespace {

/// The rows or columns of one process in a block-cyclic matrix.
struct CyclicPart {
  Index offset;  ///< entries that the matrix' first block lacks
  Index block;
  int count;  ///< of processes
  int index;  ///< of this one, counted from that with the first block

  Index lead() const { return index == 0 ? offset : 0; }
  /// Its entries among the first ones of the matrix.
  Index among(Index first) const { return local_extent(offset + first, block, index, count) - lead(); }
  /// Where its entries from number `first` on lie, counted from `origin`.
  CyclicIndices from(Index first, Index origin) const {
    return {.begin = index * block - offset - origin,
            .lead = lead() + first,
            .block = block,
            .stride = block * count};
  }
};
CyclicPart process_row(const TileLayout& layout, int p) {
  const int count = layout.grid.rows;
  return {layout.row_offset, layout.tile_rows, count, (p - layout.first_row + count) % count};
}
CyclicPart process_col(const TileLayout& layout, int q) {
  const int count = layout.grid.cols;
  return {layout.col_offset, layout.tile_cols, count, (q - layout.first_col + count) % count};
}

template <class T>
std::vector<Data> move_to_array(Sequence& sequence, const ColumnSlabs<T>& z, const MatrixOutput<T>& output) {
  Runtime& runtime = sequence.runtime();
  const TileLayout layout = output.layout().part(output.row(), output.col(), z.rows(), z.cols());
  const ProcessGrid& grid = layout.grid;
  const Index ld = std::max<Index>(output.ld(), 1);
  T* const local = local_part(runtime, output.array(), ld, output.layout(), output.row(), output.col());
  std::vector<Data> pieces;
  for (Index s = 0; s < z.count(); ++s)
    for (int q = 0; q < grid.cols; ++q) {
      const CyclicPart cols = process_col(layout, q);
      const Index origin = z.first_col(s), first = cols.among(origin),
                  width = cols.among(origin + z.slab_cols(s)) - first;
      for (int p = 0; width > 0 && p < grid.rows; ++p) {
        const CyclicPart rows = process_row(layout, p);
        const Index height = rows.among(z.rows());
        if (height == 0) continue;
        const int owner = grid.rank(p, q);
        T* const place = owner == runtime.rank() ? local + rows.lead() + (cols.lead() + first) * ld : nullptr;
        Data& piece =
            pieces.emplace_back(Data::wrap_matrix(runtime, place, height, width, ld, sizeof(T), owner));
        piece.set_gpu(z.slab(s).gpu());
        sequence.insert(CopyCyclic<T>{.source = z.slab(s),
                                      .destination = overwrite(piece),
                                      .rows = rows.from(0, 0),
                                      .cols = cols.from(first, origin),
                                      .to = {0, 0, height, width}},
                        {.execute_on = z.owner(s)});
        if (z.slab(s).local()) piece.drop_written_copy();
      }
    }
  return pieces;
}

/// The columns [begin, end) of a slab into a tile.
template <class T>
void move_to_tile(Sequence& sequence, const ColumnSlabs<T>& z, Index s, Index begin, Index end, bool alone,
                  const TiledMatrix<T>& tiles, Index i, Index k) {
  const Data& tile = tiles.tile(i, k);
  const Index rows = tiles.tile_rows(i), cols = end - begin;
  const TilePart place{0, begin - tiles.layout().col_begin(k), rows, cols};
  CopyCyclic<T> task{.source = z.slab(s),
                     .destination = tile,
                     .rows = {.begin = tiles.layout().row_begin(i)},
                     .cols = {.begin = begin - z.first_col(s)},
                     .to = place};
  if (alone || z.owner(s) == tile.owner()) {
    sequence.insert(task, {.execute_on = z.owner(s)});
    if (z.slab(s).local()) tile.drop_written_copy();
    return;
  }
  // A task elsewhere would want all of the tile.
  Data piece = Data::matrix(sequence.runtime(), rows, cols, sizeof(T), tile.owner());
  piece.set_gpu(z.slab(s).gpu());
  task.destination = overwrite(piece);
  task.to = {0, 0, rows, cols};
  sequence.insert(task, {.execute_on = z.owner(s)});
  if (z.slab(s).local()) piece.drop_written_copy();
  sequence.insert(CopyCyclic<T>{.source = piece, .destination = tile, .to = place});
}

template <class T>
void move_to_tiles(Sequence& sequence, const ColumnSlabs<T>& z, const TiledMatrix<T>& tiles) {
  const TileLayout& layout = tiles.layout();
  for (Index k = 0; k < tiles.col_tiles() && layout.col_begin(k) < z.cols(); ++k) {
    const Index begin = layout.col_begin(k), end = std::min(layout.col_end(k), z.cols());
    const Index first = begin / z.width(), last = (end - 1) / z.width();
    for (Index i = 0; i < tiles.row_tiles(); ++i) {
      tiles.tile(i, k).forget();
      for (Index s = first; s <= last; ++s)
        move_to_tile(sequence, z, s, std::max(begin, z.first_col(s)),
                     std::min(end, z.first_col(s) + z.slab_cols(s)), first == last, tiles, i, k);
    }
  }
}

}  // namespace

template <class T>
T* array_in_one_process(const Runtime& runtime, const MatrixOutput<T>& output) noexcept {
  if (output.kind() == MatrixKind::array) return output.array();
  if (output.kind() != MatrixKind::block_cyclic || runtime.size() > 1 || !output.array()) return nullptr;
  return output.array() + output.row() + output.col() * output.ld();
}

template <class T>
std::vector<Data> move_vectors(Sequence& sequence, ColumnSlabs<T>&& z, const MatrixOutput<T>& output) {
  return collectively(sequence.runtime(), "move_vectors", argument_hash(hash_of(z), hash_of(output)), [&] {
    const ColumnSlabs<T> slabs = std::move(z);
    if (output.kind() == MatrixKind::block_cyclic) return move_to_array(sequence, slabs, output);
    move_to_tiles(sequence, slabs, *output.tiles());
    return std::vector<Data>();
  });
}

#define TESSERA_INSTANTIATE(T)                                                          \
  template T* array_in_one_process<T>(const Runtime&, const MatrixOutput<T>&) noexcept; \
  template std::vector<Data> move_vectors<T>(Sequence&, ColumnSlabs<T>&&, const MatrixOutput<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
