// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <tessera/codelets/one_stage/kernels/vector_kernels.hpp>
#include <tessera/tiled_matrix.hpp>

/// How the one-stage tridiagonalisation lays out the lower triangle of A.
///
/// The tiles of A are cut into work tiles of about 100 rows, each of which stays on the rank that owns it. A
/// work tile is stored as a w x w square, padded with zeros to a multiple of kernels::row_granularity, and
/// vectors are padded alike: "padded index" below means work row x w + row inside. Diagonal work tiles hold
/// the strict lower triangle and half the diagonal, zeros above.
///
/// A rank's work tiles are dealt in turn, column by column, to its `groups`; a group is one handle, w x (w
/// tiles), and is what a product task reads. What remains after some columns is a suffix of every group, so
/// the groups stay balanced without moving anything.
namespace tessera {

struct WorkLayout {
  Index n = 0;       ///< order of A
  Index tile = 1;    ///< tile size of A, at most n
  Index pieces = 1;  ///< work rows in a tile
  Index step = 1;    ///< rows of A in a work row (the last one of a tile may have fewer)
  Index w = 1;       ///< the same, padded

  WorkLayout() = default;
  WorkLayout(Index order, Index tile_size, Index wanted) : n(order), tile(std::min(order, tile_size)) {
    step = ceil_div(tile, ceil_div(tile, wanted));
    pieces = ceil_div(tile, step);
    w = ceil_div(step, kernels::row_granularity) * kernels::row_granularity;
  }
  Index rows() const noexcept {
    const Index last = (n - 1) / tile;
    return last * pieces + ceil_div(n - last * tile, step);
  }
  /// First row of A in a work row (n for the one past the end), and their number.
  Index start(Index r) const noexcept { return std::min(n, (r / pieces) * tile + (r % pieces) * step); }
  Index count(Index r) const noexcept { return std::min({step, tile - (r % pieces) * step, n - start(r)}); }
  Index work_row(Index i) const noexcept { return (i / tile) * pieces + (i % tile) / step; }
  Index padded(Index i) const noexcept { return work_row(i) * w + (i % tile) % step; }
};

/// The work tiles of every rank and group, in the order of their slots.
class WorkTiles {
 public:
  struct Tile {
    std::int32_t i, j;
  };
  WorkTiles(const WorkLayout& layout, const ProcessGrid& grid, int ranks, Index groups)
      : layout_(layout), groups_(groups), lists_(static_cast<std::size_t>(ranks * groups)) {
    std::vector<Index> dealt(static_cast<std::size_t>(ranks));
    const Index rows = layout.rows();
    for (Index j = 0; j < rows; ++j)
      for (Index i = j; i < rows; ++i) {
        const int rank = grid.rank(i / layout.pieces, j / layout.pieces);
        const Index turn = dealt[static_cast<std::size_t>(rank)]++;
        lists_[static_cast<std::size_t>(rank * groups + turn % groups)].push_back(
            {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
      }
  }
  const WorkLayout& layout() const noexcept { return layout_; }
  /// Groups of all ranks are numbered rank by rank.
  Index groups_per_rank() const noexcept { return groups_; }
  Index groups() const noexcept { return static_cast<Index>(lists_.size()); }
  const std::vector<Tile>& group(Index g) const noexcept { return lists_[static_cast<std::size_t>(g)]; }
  /// The first slot of a group whose tile lies in work column j or beyond, or its size.
  Index first_slot(Index g, Index j) const noexcept {
    const auto& list = group(g);
    const auto found =
        std::partition_point(list.begin(), list.end(), [&](const Tile& tile) { return tile.j < j; });
    return found - list.begin();
  }

 private:
  WorkLayout layout_;
  Index groups_;
  std::vector<std::vector<Tile>> lists_;
};

/// The trailing rows in which some panels work: work rows [first, end) in `chunks` pieces, each on one rank.
struct RowChunks {
  std::int32_t first = 0, end = 0, w = 1, chunks = 1;
  /// First work row of chunk c.
  Index begin(Index c) const noexcept { return first + c * Index(end - first) / chunks; }
  Index rows(Index c) const noexcept { return (begin(c + 1) - begin(c)) * w; }
  Index padded_begin(Index c) const noexcept { return begin(c) * w; }
  Index chunk_of(Index work_row) const noexcept {
    Index c = 0;
    while (begin(c + 1) <= work_row) ++c;
    return c;
  }
};

}  // namespace tessera
