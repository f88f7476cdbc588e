// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/dense/redistribute.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/codelets/dense/copy.hpp>
#include <tessera/codelets/dense/two_sided.hpp>

namespace tessera::detail {

namespace {

/// The piece of the destination tile (i, j) that source tile rows and columns cover, in entries of the source
/// matrix.
struct Interval {
  Index begin, end;
  bool empty() const { return begin >= end; }
  Index size() const { return end - begin; }
};
Interval intersect(Interval a, Interval b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}
Interval rows_of(const TileLayout& layout, Index i) {
  return {layout.row_begin(i), layout.row_end(i)};
}
Interval cols_of(const TileLayout& layout, Index j) {
  return {layout.col_begin(j), layout.col_end(j)};
}
/// The tiles that have some of the rows or columns.
Interval tiles_with(Interval entries, Index offset, Index tile) {
  return {(entries.begin + offset) / tile, ceil_div(entries.end + offset, tile)};
}

constexpr int priority = 4, copy_priority = 3;

template <class R>
Data replicate(Sequence& sequence, const Data& source) {
  Runtime& runtime = sequence.runtime();
  Data copy = Data::bytes(runtime, sizeof(R), Data::every_rank);
  for (int rank = 0; rank < runtime.size(); ++rank)
    sequence.insert(CopyBytes{.source = source, .destination = copy},
                    {.priority = priority, .execute_on = rank});
  return copy;
}

template <class T>
Data insert_check_and_scale(Sequence& sequence, const TiledMatrix<T>& a, bool power_of_four) {
  using R = RealOf<T>;
  Runtime& runtime = sequence.runtime();
  const TileLayout& layout = a.layout();
  const Uplo counted = layout.uplo == Uplo::upper ? Uplo::upper : Uplo::lower;
  std::vector<Data> largest;
  for (Index j = 0; j < a.col_tiles(); ++j)
    for (Index i = 0; i < a.row_tiles(); ++i) {
      const Interval rows = rows_of(layout, i), cols = cols_of(layout, j);
      const bool counts = counted == Uplo::upper ? rows.begin < cols.end : rows.end > cols.begin;
      if (!layout.exists(i, j) || !counts) continue;
      largest.push_back(Data::bytes(runtime, sizeof(R), a.owner(i, j)));
      sequence.insert(MaxAbs<T>{.tile = a.tile(i, j),
                                .out = largest.back(),
                                .uplo = counted,
                                .row0 = rows.begin,
                                .col0 = cols.begin},
                      {.priority = priority});
    }
  std::vector<const Data*> pieces;
  for (const Data& piece : largest) pieces.push_back(&piece);
  const Data scale = Data::bytes(runtime, sizeof(R), 0);
  sequence.insert(ChooseScale<R>{.values = pieces, .scale = scale, .power_of_four = power_of_four},
                  {.priority = priority});
  return replicate<R>(sequence, scale);
}

template <class T>
void insert_copy_hermitian(Sequence& sequence, const TiledMatrix<T>& source, const Data& scale,
                           const TiledMatrix<T>& destination) {
  const bool mirrored = source.layout().uplo == Uplo::upper;
  const TileLayout &from = source.layout(), &to = destination.layout();
  // Entries (rows, cols) of the lower triangle are read at (cols, rows) of an upper source.
  const auto copy = [&](Index i, Index j, Index p, Index q) {
    const Interval rows = rows_of(to, i), cols = cols_of(to, j);
    const Interval r = intersect(mirrored ? cols : rows, rows_of(from, p));
    const Interval c = intersect(mirrored ? rows : cols, cols_of(from, q));
    const Interval lower_rows = mirrored ? c : r, lower_cols = mirrored ? r : c;
    if (r.empty() || c.empty() || lower_rows.end <= lower_cols.begin) return;
    sequence.insert(
        CopyTile<T>{.source = source.tile(p, q),
                    .scale = scale,
                    .destination = destination.tile(i, j),
                    .from = {r.begin - from.row_begin(p), c.begin - from.col_begin(q), r.size(), c.size()},
                    .to = {lower_rows.begin - rows.begin, lower_cols.begin - cols.begin, lower_rows.size(),
                           lower_cols.size()},
                    .op = mirrored ? Op::adjoint : Op::none,
                    .row0 = lower_rows.begin,
                    .col0 = lower_cols.begin},
        {.priority = copy_priority});
  };
  for (Index j = 0; j < destination.col_tiles(); ++j)
    for (Index i = j; i < destination.row_tiles(); ++i) {
      const Interval rows = rows_of(to, i), cols = cols_of(to, j);
      const Interval ps = tiles_with(mirrored ? cols : rows, from.row_offset, from.tile_rows),
                     qs = tiles_with(mirrored ? rows : cols, from.col_offset, from.tile_cols);
      destination.tile(i, j).forget();
      for (Index q = qs.begin; q < qs.end; ++q)
        for (Index p = ps.begin; p < ps.end; ++p)
          if (from.exists(p, q)) copy(i, j, p, q);
    }
  source.flush_remote_copies();
}

template <class T>
ColumnGroups<T> insert_deal_columns(Sequence& sequence, TiledMatrix<T> tiles, Index block, int groups) {
  Runtime& runtime = sequence.runtime();
  const Index n = tiles.rows(), nb = tiles.layout().tile_rows;
  const CyclicColumns columns{n, block, groups};
  ColumnGroups<T> result(runtime, columns);
  const Data scale = unit_scale<T>(sequence);
  // Several tiles go to the GPUs of the groups. A single one is the whole matrix: it stays, the groups go.
  const bool one_tile = tiles.row_tiles() == 1;
  // The part of a tile, as it is or as its adjoint, that is rows [row, row + rows) of a block of columns.
  const auto copy = [&](const Data& tile, TilePart part, Op op, Index row, Index rows, Index column,
                        Index width) {
    const int g = columns.group_of(column);
    sequence.insert(CopyTile<T>{.source = tile,
                                .scale = scale,
                                .destination = result.group(g),
                                .from = part,
                                .to = {row, columns.local(column), rows, width},
                                .op = op,
                                .row0 = row,
                                .col0 = column},
                    {.priority = copy_priority, .gpu = gpu_of_group(runtime, one_tile ? 0 : g)});
  };
  for (Index j = 0; j < tiles.col_tiles(); ++j)
    for (Index i = j; i < tiles.row_tiles(); ++i) {
      const Data& tile = tiles.tile(i, j);
      const Index rows = tiles.tile_rows(i), cols = tiles.tile_cols(j);
      if (i == j) sequence.insert(MirrorLower<T>{.a = tile}, {.priority = copy_priority});
      for (Index c = 0; c < cols; c += block) {
        const Index width = std::min(block, cols - c);
        copy(tile, {0, c, rows, width}, Op::none, i * nb, rows, j * nb + c, width);
      }
      for (Index r = 0; i > j && r < rows; r += block) {
        const Index width = std::min(block, rows - r);
        copy(tile, {r, 0, width, cols}, Op::adjoint, j * nb, cols, i * nb + r, width);
      }
      tiles.release_tile(i, j);
    }
  for (int g = 0; g < groups; ++g)
    if (const int gpu = gpu_of_group(runtime, g); gpu > 0 && columns.count(g) > 0)
      result.group(g).prefetch(gpu, false);
  return result;
}

}  // namespace

template <class T>
Data check_and_scale(Sequence& sequence, const TiledMatrix<T>& a, bool power_of_four) {
  return collectively(sequence.runtime(), "check_and_scale", argument_hash(hash_of(a), power_of_four),
                      [&] { return insert_check_and_scale(sequence, a, power_of_four); });
}

template <class T>
Data unit_scale(Sequence& sequence) {
  using R = RealOf<T>;
  return collectively(sequence.runtime(), "unit_scale", sizeof(R), [&] {
    const Data scale = Data::bytes(sequence.runtime(), sizeof(R), 0);
    sequence.insert(ChooseScale<R>{.scale = scale}, {.priority = priority});
    return replicate<R>(sequence, scale);
  });
}

template <class T>
void copy_hermitian(Sequence& sequence, const TiledMatrix<T>& source, const Data& scale,
                    const TiledMatrix<T>& destination) {
  const auto check = [&] {
    require_lower_tiles("destination", destination.layout());
    require_made("scale", scale);
    if (source.rows() != destination.rows() || source.cols() != source.rows())
      throw InvalidArgument("source", std::to_string(source.rows()) + " rows",
                            "the order of the destination");
  };
  collectively(sequence.runtime(), "copy_hermitian", argument_hash(hash_of(source), hash_of(destination)),
               check, [&] { insert_copy_hermitian(sequence, source, scale, destination); });
}

template <class T>
ColumnGroups<T> deal_columns(Sequence& sequence, TiledMatrix<T>&& a, Index block, int groups) {
  const auto check = [&] {
    require_lower_tiles("a", a.layout());
    if (block < 1 || a.layout().tile_rows % block != 0)
      throw InvalidArgument("block", std::to_string(block), "a divisor of the tile size");
  };
  return collectively(sequence.runtime(), "deal_columns", argument_hash(hash_of(a), block, groups), check,
                      [&] { return insert_deal_columns(sequence, std::move(a), block, groups); });
}

#define TESSERA_INSTANTIATE(T)                                                                           \
  template Data check_and_scale<T>(Sequence&, const TiledMatrix<T>&, bool);                              \
  template Data unit_scale<T>(Sequence&);                                                                \
  template void copy_hermitian<T>(Sequence&, const TiledMatrix<T>&, const Data&, const TiledMatrix<T>&); \
  template ColumnGroups<T> deal_columns<T>(Sequence&, TiledMatrix<T>&&, Index, int);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
