// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/diagonal_symmetry.hpp>
#include <tessera/algorithms/block_sparse/exchanged_lists.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/pattern_algebra.hpp>
#include <tessera/algorithms/block_sparse/task_list.hpp>
#include <tessera/algorithms/block_sparse/whole_conversion.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/codelets/block_sparse/values/block_elementwise.hpp>
#include <tessera/codelets/block_sparse/values/dense_parts.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/runtime/require_success.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

/// Rows and columns of the matrix that a block has, and the element of its panel's data at which it begins.
struct BlockPlace {
  Index first_row, end_row, first_col, end_col, element;
};

BlockPlace place_of_block(const BlockLayout& layout, BlockCoordinate at, Index element) {
  return {layout.rows->first(at.row), layout.rows->first(at.row + 1), layout.cols->first(at.col),
          layout.cols->first(at.col + 1), element};
}

/// Calls visit(p, q, part) for the pieces into which a grid of row_tile x col_tile elements cuts a block; the
/// place of a part is that in piece (p, q) of the grid, straight.
template <class Visit>
void cut(const BlockPlace& block, Index row_tile, Index col_tile, const Visit& visit) {
  const Index ld = block.end_row - block.first_row;
  if (ld == 0) return;
  for (Index j = block.first_col, end_j; j < block.end_col; j = end_j) {
    const Index q = j / col_tile;
    end_j = std::min(block.end_col, (q + 1) * col_tile);
    for (Index i = block.first_row, end_i; i < block.end_row; i = end_i) {
      const Index p = i / row_tile;
      end_i = std::min(block.end_row, (p + 1) * row_tile);
      visit(p, q,
            DensePart{.element = block.element + i - block.first_row + (j - block.first_col) * ld,
                      .row = static_cast<std::int32_t>(i - p * row_tile),
                      .col = static_cast<std::int32_t>(j - q * col_tile),
                      .rows = static_cast<std::int32_t>(end_i - i),
                      .cols = static_cast<std::int32_t>(end_j - j),
                      .ld = static_cast<std::int32_t>(ld),
                      .image = PartImage::straight});
    }
  }
}

DensePart mirror_of(DensePart part) {
  std::swap(part.row, part.col);
  part.image = PartImage::mirrored;
  return part;
}

/// A panel and a tile with elements of it.
struct PanelTile {
  Index panel, row, col;
  /// By panels, then as tiles are stored.
  auto operator<=>(const PanelTile&) const = default;
};
using SharedParts = KeyedList<PanelTile, DensePart>;

/// The parts that one panel after the other shares with each tile, tiles in the order in which they are met.
class TileParts {
 public:
  explicit TileParts(const TileLayout& layout)
      : layout_(layout), slot_(static_cast<std::size_t>(layout.row_tiles() * layout.col_tiles()), -1) {}

  void begin(Index panel) {
    for (; first_ < shared_.size(); ++first_) slot_[number(shared_[first_].key)] = -1;
    panel_ = panel;
  }
  void add(Index row, Index col, const DensePart& part) {
    const PanelTile key{panel_, row, col};
    Index& slot = slot_[number(key)];
    if (slot < 0) {
      slot = static_cast<Index>(shared_.size());
      shared_.push_back({key, {}});
    }
    shared_[static_cast<std::size_t>(slot)].entries.push_back(part);
  }
  /// Those of all panels since they were taken last.
  std::vector<SharedParts> take() {
    begin(-1);
    first_ = 0;
    return std::exchange(shared_, {});
  }

 private:
  std::size_t number(const PanelTile& tile) const {
    return static_cast<std::size_t>(tile.row + tile.col * layout_.row_tiles());
  }
  const TileLayout& layout_;
  Index panel_ = -1;
  std::size_t first_ = 0;    // list of this panel
  std::vector<Index> slot_;  // of the tiles: number in shared_, or -1
  std::vector<SharedParts> shared_;
};

/// Calls visit(pair, parts) for the panels of a matrix and the tiles that share parts with them, which
/// find(panel) adds to `found` on the panel's owner: the same pairs in the same order on all ranks. Parts are
/// listed on the rank `runs_on(pair)` alone. Collective.
template <class Find, class RunsOn, class Visit>
void for_each_shared(const BlockPattern& pattern, TileParts& found, const Find& find, const RunsOn& runs_on,
                     const Visit& visit) {
  const bool alone = pattern.runtime().size() == 1;
  for (Index panel = 0; panel < pattern.panels(); ++panel) {
    if (!pattern.panel_local(panel) || pattern.panel_blocks(panel) == 0) continue;
    found.begin(panel);
    find(panel);
    // One panel after the other: no list of all parts.
    if (alone)
      for (const auto& [pair, parts] : found.take()) visit(pair, parts);
  }
  if (alone) return;
  std::vector<SharedParts> mine = found.take();
  std::vector<PanelTile> pairs;
  for (const SharedParts& shared : mine) pairs.push_back(shared.key);
  pairs = values_of_all(pattern.runtime(), std::move(pairs));
  mine = send_lists(pattern.runtime(), std::move(mine), runs_on);
  std::sort(mine.begin(), mine.end(),
            [](const SharedParts& x, const SharedParts& y) { return x.key < y.key; });
  auto next = mine.begin();
  const std::vector<DensePart> elsewhere;
  for (const PanelTile& pair : pairs) {
    const bool here = next != mine.end() && next->key == pair;
    visit(pair, here ? next->entries : elsewhere);
    if (here) ++next;
  }
}

/// Calls visit(coordinate, element) for the stored blocks of a panel.
template <class Visit>
void each_block(const BlockPattern& pattern, Index panel, const Visit& visit) {
  const auto coordinates = pattern.coordinates(panel);
  for (std::size_t b = 0; b < coordinates.size(); ++b) visit(coordinates[b], pattern.index(panel).offset[b]);
}

/// Where the blocks of a panel, and their mirror images, lie in tiles that there are.
template <class T>
void find_targets(const BlockSparseMatrix<T>& a, Index panel, const TileLayout& tiles, TileParts& found) {
  const auto add = [&](Index p, Index q, const DensePart& part) {
    if (tiles.exists(p, q)) found.add(p, q, part);
  };
  each_block(a.pattern(), panel, [&](BlockCoordinate at, Index element) {
    const BlockPlace block = place_of_block(a.layout(), at, element);
    cut(block, tiles.tile_rows, tiles.tile_cols, add);
    if (a.symmetry() != Symmetry::none && at.row != at.col)
      cut(block, tiles.tile_cols, tiles.tile_rows,
          [&](Index p, Index q, const DensePart& part) { add(q, p, mirror_of(part)); });
  });
}

template <class T>
void submit_to_tiled(Sequence& sequence, const BlockSparseMatrix<T>& a, const TiledMatrix<T>& tiled) {
  Runtime& runtime = sequence.runtime();
  const TileLayout& tiles = tiled.layout();
  if (converts_whole(runtime, tiles, a.layout())) return submit_to_whole(sequence, a, tiled);
  for (Index j = 0; j < tiled.col_tiles(); ++j)
    for (Index i = 0; i < tiled.row_tiles(); ++i)
      if (tiles.exists(i, j)) sequence.insert(GatherBlocks<T>{.matrix = overwrite(tiled.tile(i, j))});
  TileParts found(tiles);
  Index flushed = 0;  // panels whose tasks are all inserted
  const auto flush_before = [&](Index panel) {
    for (; flushed < panel; ++flushed)
      if (a.panel(flushed).valid()) a.panel(flushed).flush_remote_copies();
  };
  for_each_shared(
      a.pattern(), found, [&](Index panel) { find_targets(a, panel, tiles, found); },
      [&](const PanelTile& pair) { return tiled.tile(pair.row, pair.col).owner(); },
      [&](const PanelTile& pair, const std::vector<DensePart>& parts) {
        flush_before(pair.panel);
        const Data& tile = tiled.tile(pair.row, pair.col);
        const Data list = make_task_list(runtime, parts, tile.owner());
        sequence.insert(GatherBlocks<T>{
            .parts = list, .values = a.panel(pair.panel), .matrix = add_to(tile), .symmetry = a.symmetry()});
      });
  flush_before(a.pattern().panels());
}

/// From where in the tiles the blocks of a panel come.
void find_sources(const BlockPattern& pattern, Index panel, const TileLayout& tiles, TileParts& found) {
  each_block(pattern, panel, [&](BlockCoordinate at, Index element) {
    cut(place_of_block(pattern.layout(), at, element), tiles.tile_rows, tiles.tile_cols,
        [&](Index p, Index q, DensePart part) {
          if (!tiles.exists(p, q)) return found.add(q, p, mirror_of(part));
          if (p == q && tiles.uplo != Uplo::general)
            part.image = tiles.uplo == Uplo::lower ? PartImage::of_lower : PartImage::of_upper;
          found.add(p, q, part);
        });
  });
}

template <class T>
BlockSparseMatrix<T> submit_from_tiled(Sequence& sequence, const TiledMatrix<T>& tiled,
                                       BlockPatternPointer shared_pattern) {
  Runtime& runtime = sequence.runtime();
  if (converts_whole(runtime, tiled.layout(), shared_pattern->layout()))
    return submit_from_whole(sequence, tiled, std::move(shared_pattern));
  BlockSparseMatrix<T> result(std::move(shared_pattern));
  const BlockPattern& pattern = result.pattern();
  // The parts cover all elements: the first task of a panel writes, the others keep what it has written.
  std::vector<char> written(static_cast<std::size_t>(pattern.panels()), 0);
  TileParts found(tiled.layout());
  for_each_shared(
      pattern, found, [&](Index panel) { find_sources(pattern, panel, tiled.layout(), found); },
      [&](const PanelTile& pair) { return pattern.panel_owner(pair.panel); },
      [&](const PanelTile& pair, const std::vector<DensePart>& parts) {
        const Data& values = result.panel(pair.panel);
        const Data list = make_task_list(runtime, parts, values.owner());
        char& before = written[static_cast<std::size_t>(pair.panel)];
        sequence.insert(ScatterBlocks<T>{.parts = list,
                                         .matrix = tiled.tile(pair.row, pair.col),
                                         .values = before ? add_to(values) : overwrite(values),
                                         .symmetry = Symmetry::hermitian});
        before = 1;
      });
  for (Index p = 0; p < pattern.panels(); ++p)
    if (result.panel(p).valid() && !written[static_cast<std::size_t>(p)])
      sequence.insert(FillValues<T>{.values = result.panel(p), .value = T(0)});
  if (result.symmetry() != Symmetry::none) impose_symmetry(sequence, result);
  tiled.flush_remote_copies();
  return result;
}

/// The blocks that a tile has elements of, and the parts that it has.
struct TileBlocks {
  std::vector<BlockCoordinate> blocks;
  std::vector<DensePart> parts;
};

TileBlocks blocks_of_tile(const TileLayout& tiles, const BlockLayout& layout, Index p, Index q) {
  TileBlocks result;
  const Index first_row = p * tiles.tile_rows, end_row = std::min(first_row + tiles.tile_rows, tiles.rows);
  const Index first_col = q * tiles.tile_cols, end_col = std::min(first_col + tiles.tile_cols, tiles.cols);
  for (Index j = layout.cols->block_of(first_col); layout.cols->first(j) < end_col; ++j)
    for (Index i = layout.rows->block_of(first_row); layout.rows->first(i) < end_row; ++i) {
      // Without a place of its own a block may have one for its mirror image.
      if (!layout.stores(i, j) && tiles.uplo == Uplo::general) continue;
      const Index row = std::max(first_row, layout.rows->first(i)),
                  end_i = std::min(end_row, layout.rows->first(i + 1));
      const Index col = std::max(first_col, layout.cols->first(j)),
                  end_j = std::min(end_col, layout.cols->first(j + 1));
      if (row >= end_i || col >= end_j) continue;
      result.blocks.push_back({i, j});
      result.parts.push_back({.element = 0,
                              .row = static_cast<std::int32_t>(row - first_row),
                              .col = static_cast<std::int32_t>(col - first_col),
                              .rows = static_cast<std::int32_t>(end_i - row),
                              .cols = static_cast<std::int32_t>(end_j - col),
                              .ld = 1,
                              .image = PartImage::straight});
    }
  return result;
}

/// The blocks with an element above the threshold. Their number is known only from the elements: it waits.
template <class T>
BlockPatternPointer pattern_above(const TiledMatrix<T>& tiled, Runtime& runtime, const BlockLayout& layout,
                                  double threshold) {
  const TileLayout& tiles = tiled.layout();
  if (converts_whole(runtime, tiles, layout)) return pattern_of_whole(tiled, runtime, layout, threshold);
  Sequence sequence(runtime);
  sequence.begin_stage("from_tiled");
  struct Tile {
    std::vector<BlockCoordinate> blocks;
    Data largest;
  };
  std::vector<Tile> mine;
  for (Index q = 0; q < tiled.col_tiles(); ++q)
    for (Index p = 0; p < tiled.row_tiles(); ++p) {
      if (!tiles.exists(p, q)) continue;
      const int owner = tiled.owner(p, q);
      // What every rank registers has the same size everywhere.
      TileBlocks found = blocks_of_tile(tiles, layout, p, q);
      if (found.parts.empty()) continue;
      Data largest = Data::bytes(runtime, found.parts.size() * sizeof(double), owner);
      const Data list = make_task_list(runtime, found.parts, owner);
      sequence.insert(LargestOfParts<T>{.parts = list,
                                        .matrix = tiled.tile(p, q),
                                        .largest = largest,
                                        .counted = p == q ? tiles.uplo : Uplo::general});
      if (owner == runtime.rank()) mine.push_back({std::move(found.blocks), std::move(largest)});
    }
  finish(sequence);
  std::vector<BlockCoordinate> above;
  for (const Tile& tile : mine) {
    const HostAccess access(tile.largest, HostAccess::Mode::read);
    const auto largest = access.array<const double>();
    for (std::size_t b = 0; b < tile.blocks.size(); ++b) {
      if (largest[b] <= threshold) continue;
      const BlockCoordinate at = tile.blocks[b], image{at.col, at.row};
      if (layout.stores(at.row, at.col)) above.push_back(at);
      if (tiles.uplo != Uplo::general && at != image && layout.stores(image.row, image.col))
        above.push_back(image);
    }
  }
  return BlockPattern::make(runtime, layout, above);
}

BlockPatternPointer every_block(Runtime& runtime, const BlockLayout& layout) {
  std::vector<BlockCoordinate> blocks;
  for (Index i = 0; i < layout.rows->blocks(); ++i)
    for (Index j = 0; j < layout.cols->blocks(); ++j)
      if (layout.stores(i, j) && layout.owner(i, j) == runtime.rank()) blocks.push_back({i, j});
  return BlockPattern::make(runtime, layout, blocks);
}

template <class T>
std::uint64_t tiled_hash(const TiledMatrix<T>& tiled) {
  return argument_hash(sizeof(T), is_complex<T>, detail::hash_of(tiled.layout()));
}

void require_size(const char* name, const TileLayout& tiles, const BlockLayout& layout) {
  if (tiles.rows != layout.rows->elements() || tiles.cols != layout.cols->elements())
    throw InvalidArgument(name, fmt::format("{} x {}", tiles.rows, tiles.cols),
                          fmt::format("{} x {}", layout.rows->elements(), layout.cols->elements()));
  if (tiles.row_offset != 0 || tiles.col_offset != 0 ||
      (tiles.uplo != Uplo::general && tiles.tile_rows != tiles.tile_cols))
    throw InvalidArgument(
        name, "a matrix that begins within a tile, or a triangle whose tiles are not square", "whole tiles");
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  if (tiles.tile_rows > most || tiles.tile_cols > most)
    throw InvalidArgument("tile", fmt::format("{} x {}", tiles.tile_rows, tiles.tile_cols),
                          fmt::format("at most {} rows and columns", most));
}

/// Tiles for a matrix' elements.
template <class T>
void require_target(const BlockSparseMatrix<T>& a, const TileLayout& tiles) {
  require_made("a", a);
  require_size("tiles", tiles, a.layout());
  if (tiles.uplo != Uplo::general && a.symmetry() != Symmetry::none)
    require_symmetry<T>("a", a.symmetry(), Symmetry::hermitian, true);
}

template <class T>
void require_source(const TiledMatrix<T>& tiled, const BlockLayout& layout) {
  require_size("tiled", tiled.layout(), layout);
  if (!tiled.valid() && tiled.row_tiles() * tiled.col_tiles() > 0)
    throw InvalidArgument("tiled", "nothing", "a matrix with tiles");
  if (tiled.layout().uplo != Uplo::general)
    require_symmetry<T>("tiled", Symmetry::hermitian, layout.symmetry, false);
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
TileLayout tile_layout_for(const BlockSparseMatrix<T>& a, Index tile) {
  require_made("a", a);
  if (tile < 1) throw InvalidArgument("tile", fmt::to_string(tile), "at least 1");
  const bool lower = kind_of<T>(a.symmetry()) == kind_of<T>(Symmetry::hermitian);
  return {a.rows(),
          a.cols(),
          tile,
          tile,
          ProcessGrid::squarest(a.runtime().size()),
          lower ? Uplo::lower : Uplo::general};
}

template <class T>
void copy_to_tiled(Sequence& sequence, const BlockSparseMatrix<T>& a, const TiledMatrix<T>& tiled) {
  const auto check = [&] {
    require_target(a, tiled.layout());
    if (!tiled.valid() && tiled.row_tiles() * tiled.col_tiles() > 0)
      throw InvalidArgument("tiled", "nothing", "a matrix with tiles");
  };
  collectively(sequence.runtime(), "copy_to_tiled", argument_hash(tiled_hash(tiled), shape_hash(a)), check,
               [&] { submit_to_tiled(sequence, a, tiled); });
}

template <class T>
TiledMatrix<T> to_tiled(Sequence& sequence, const BlockSparseMatrix<T>& a, const TileLayout& layout) {
  // Each refuses its own arguments on all ranks.
  TiledMatrix<T> tiled(sequence.runtime(), layout);
  copy_to_tiled(sequence, a, tiled);
  return tiled;
}

template <class T>
BlockSparseMatrix<T> from_tiled(Sequence& sequence, const TiledMatrix<T>& tiled,
                                BlockPatternPointer pattern) {
  const auto check = [&] {
    if (!pattern) throw InvalidArgument("pattern", "nothing", "a pattern");
    require_source(tiled, pattern->layout());
  };
  const std::uint64_t hash =
      pattern ? argument_hash(tiled_hash(tiled), pattern->blocks(), pattern->elements()) : 0;
  return collectively(sequence.runtime(), "from_tiled", hash, check,
                      [&] { return submit_from_tiled(sequence, tiled, pattern); });
}

template <class T>
BlockSparseMatrix<T> from_tiled(Sequence& sequence, const TiledMatrix<T>& tiled, const BlockLayout& layout,
                                double threshold) {
  Runtime& runtime = sequence.runtime();
  const auto check = [&] {
    layout.require_valid(runtime);
    require_source(tiled, layout);
  };
  const std::uint64_t hash = argument_hash(tiled_hash(tiled), layout.hash(runtime), threshold);
  return collectively(runtime, "from_tiled", hash, check, [&] {
    const bool whole = converts_whole(runtime, tiled.layout(), layout);
    return submit_from_tiled(sequence, tiled,
                             threshold < 0 && !whole ? every_block(runtime, layout)
                                                     : pattern_above(tiled, runtime, layout, threshold));
  });
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template TileLayout tile_layout_for<T>(const BlockSparseMatrix<T>&, Index);                         \
  template void copy_to_tiled<T>(Sequence&, const BlockSparseMatrix<T>&, const TiledMatrix<T>&);      \
  template TiledMatrix<T> to_tiled<T>(Sequence&, const BlockSparseMatrix<T>&, const TileLayout&);     \
  template BlockSparseMatrix<T> from_tiled<T>(Sequence&, const TiledMatrix<T>&, BlockPatternPointer); \
  template BlockSparseMatrix<T> from_tiled<T>(Sequence&, const TiledMatrix<T>&, const BlockLayout&, double);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
