// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/codelets/one_stage/kernels/vector_kernels.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

/// The layout of the lower triangle of A in the one-stage tridiagonalisation.
///
/// The tiles of A are cut into work tiles of about 100 rows, each of which stays on the rank that owns it. A
/// work tile is stored as a w x w square, padded with zeros to a multiple of kernels::row_granularity.
/// Vectors are padded in the same way: "padded index" below means work row x w + row inside. Diagonal work
/// tiles hold the strict lower triangle and half the diagonal, zeros above.
///
/// A rank deals its work tiles in turn, column by column, to its `groups`. A group is one handle, w x (w
/// tiles), which a product task reads. After some columns the remaining work tiles are a suffix of every
/// group, so the groups stay balanced without moving data.
namespace tessera::detail {

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
  /// First row of A in a work row (n for the work row past the end), and the number of its rows.
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
  /// The first slot of a group whose tile lies in work column j or beyond; the group's size if there is none.
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

// Tasks of a panel of the one-stage tridiagonalisation: two rounds of tasks for each column.
//
// The updated column q of A is x with x(q) = d_q; the reflector H = I - tau v v^H, v(q+1) = 1, makes it
// (.., d_q, e_q, 0, ..) with real e_q (LAPACK larfg). With the p reflectors of the panel before it, A = A0 -
// V W^H - W V^H, and
//
//     round 1 (products), in parts, by groups of tiles:
//         y = A0 v,  s = [V^H v; W^H v],  v^H y
//     round 2 (columns), by chunks of rows:
//         w = tau (y - V (W^H v) - W (V^H v)) - 1/2 |tau|^2 (v^H A v) v
//         x = P(:, p+1) - V W(q+1, :)^H - W V(q+1, :)^H
//
// where V and W in the last line include v and w, and v^H A v = v^H y - 2 Re (V^H v)^H (W^H v). Round 1
// computes all sums over the whole height, so that no task waits between w and the next x.
//
// Pieces of data (k is the width of the panel)
//   x_c      a chunk of x behind a header (norm in two numbers, x(q+1), d_q, rows q+1 of V and W):
//            ColumnPiece
//   y_t      the whole trailing height of a product task's part of y behind a header (tau, e_q,
//            1 / (x(q+1) - e_q), v^H y, s, rows q+1 of V and W): ProductPiece
//   V_c      chunk rows x 3 k: [V | W | V]; its first and its last 2 k columns are the operands of the
//            rank-2k update
//   P_c      chunk rows x k: the panel's columns of A0
//   scalars  k real d, k real e, k tau: ScalarPiece
//
// Flops: complex x 4. All run on CPUs only.
// Source: LAPACK latrd; the delayed sums as in ELPA1 (tridiag).

/// The most columns of a panel.
inline constexpr Index widest_panel = 256;

/// The places of the elements of T in the header of an x_c.
struct ColumnPiece {
  static constexpr Index norm_scale = 0, norm_squares = 1, alpha = 2, diagonal = 3, row = 4;
  static Index header(Index k) noexcept { return ceil_div(row + 2 * k, 16) * 16; }
};
struct ProductPiece {
  static constexpr Index tau = 0, beta = 1, factor = 2, v_y = 3, sums = 4;
  static Index row(Index k) noexcept { return sums + 2 * k; }
  static Index header(Index k) noexcept { return ceil_div(sums + 4 * k, 16) * 16; }
};
template <class T>
struct ScalarPiece {
  static std::size_t bytes(Index k) noexcept {
    return static_cast<std::size_t>(k) * (2 * sizeof(RealOf<T>) + sizeof(T));
  }
  explicit ScalarPiece(char* memory, Index k) noexcept
      : d(reinterpret_cast<RealOf<T>*>(memory)), e(d + k), tau(reinterpret_cast<T*>(e + k)) {}
  RealOf<T>*d, *e;
  T* tau;
};

/// One column of a panel. Indices are padded ones.
struct ColumnStep {
  RowChunks chunks;
  std::int32_t p = 0;  ///< the column's place in the panel
  std::int32_t k = 1;  ///< columns of the panel
  Index q = 0;         ///< the column
  Index next = 0;      ///< the row after q
  Index after = -1;    ///< the row after `next`; -1: there is none
  bool last() const noexcept { return p + 1 == k; }
};

/// The handles of a panel.
struct PanelPieces {
  std::vector<Data> x, v, p;    ///< by chunk
  std::vector<Data> y;          ///< by product task
  std::vector<Data> extracted;  ///< by group: the panel's columns in the group's tiles, zero elsewhere
  Data scalars;
};

/// Begins a panel: P_c := the chunk's rows of the sum of the groups' extracted columns, x_c := its first
/// column. Its flops (rows k a group) are not counted.
/// | operand   | mode  | shape                         | what                                        |
/// |-----------|-------|-------------------------------|---------------------------------------------|
/// | x         | write | array: ColumnPiece            | x_c                                         |
/// | p         | write | chunk rows x k                | P_c                                         |
/// | extracted | read  | matrices: trailing height x k | of the groups that have the panel's columns |
template <class T>
struct TridiagonalizeStart {
  static constexpr const char* name = "tridiagonalize_start";
  Write<Array<T>> x;
  Write<Matrix<T>> p;
  ReadAll<Matrix<T>> extracted;
  ColumnStep step;
  Index chunk = 0;
};
/// Inserts the task for the pieces of a panel.
template <class T>
void insert_panel_start(Sequence& sequence, int priority, const ColumnStep& step, Index chunk,
                        const PanelPieces& pieces);

/// The share of a product task: the `count` groups `first_group`, `first_group` + `stride`, ... (numbers over
/// all ranks), and the sums s of the `inner` chunks `first_inner`, `first_inner` + `inner_stride`, ...
struct ProductWork {
  const WorkTiles* tiles = nullptr;
  int rank = 0;
  Index first_group = 0, stride = 1, count = 0;
  Index first_inner = 0, inner_stride = 1, inner = 0;
  /// The number of work tiles of the groups from work column `column` on.
  double live_tiles(Index column) const noexcept {
    double sum = 0;
    for (Index g = 0; g < count; ++g) {
      const Index group = first_group + g * stride;
      sum += double(static_cast<Index>(tiles->group(group).size()) - tiles->first_slot(group, column));
    }
    return sum;
  }
};
/// One part of round 1.                                    [4 flops x the area of the groups' trailing tiles]
/// | operand   | mode    | shape                      | what                    |
/// |-----------|---------|----------------------------|-------------------------|
/// | y         | write   | array: ProductPiece        | y_t                     |
/// | workspace | scratch | array: trailing height     | v                       |
/// | x         | read    | arrays: ColumnPiece        | x_c of all chunks       |
/// | groups    | read    | matrices                   | the groups' work tiles  |
/// | v         | read    | matrices: chunk rows x 3 k | V_c of the inner chunks |
template <class T>
struct TridiagonalizeProduct {
  static constexpr const char* name = "tridiagonalize_product";
  Write<Array<T>> y;
  Scratch<Array<T>> workspace;
  ReadAll<Array<T>> x;
  ReadAll<Matrix<T>> groups, v;
  ColumnStep step;
  ProductWork work;

  double flops() const noexcept {
    const Index w = work.tiles->layout().w;
    return 4 * work.live_tiles(step.next / w) * double(w) * double(w) * flop_factor<T>;
  }
  /// The remaining rows in steps of 256, the numbers of groups and inner chunks, and the columns before this
  /// one in steps of 16.
  std::uint32_t footprint() const noexcept {
    return footprint_of((step.chunks.end * step.chunks.w - step.next) / 256, work.count, work.inner,
                        step.p / 16);
  }
};
/// Inserts the task for the pieces of a panel, on rank work.rank.
template <class T>
void insert_column_product(Sequence& sequence, int priority, const ColumnStep& step, const ProductWork& work,
                           std::span<const Data* const> groups, const PanelPieces& pieces, const Data& y,
                           const Data& workspace);

/// Round 2 for one chunk.                                                               [8 p flops a row]
/// | operand     | mode       | shape                | what                                            |
/// |-------------|------------|----------------------|-------------------------------------------------|
/// | x           | read-write | array: ColumnPiece   | x_c; becomes that of the next column            |
/// | v           | write or add | chunk rows x 3 k   | V_c, which gets a column; the panel's first one overwrites |
/// | p           | read       | chunk rows x k       | P_c                                             |
/// | scalars     | write or add | array: ScalarPiece | as v, in the first chunk only                   |
/// | parts       | read       | arrays: ProductPiece | the y_t that were written                       |
template <class T>
struct TridiagonalizeColumn {
  static constexpr const char* name = "tridiagonalize_column";
  ReadWrite<Array<T>> x;
  WriteOrAdd<Matrix<T>> v;
  Read<Matrix<T>> p;
  WriteOrAdd<Array<char>> scalars{};
  ReadAll<Array<T>> parts;
  ColumnStep step;
  Index chunk = 0;

  double flops() const noexcept { return 8.0 * double(step.chunks.rows(chunk)) * step.p * flop_factor<T>; }
  /// The chunk's rows in steps of 256, p in steps of 16, number of parts.
  std::uint32_t footprint() const noexcept {
    return footprint_of(step.chunks.rows(chunk) / 256, step.p / 16, parts.size());
  }
};
/// Inserts the task for the pieces of a panel.
template <class T>
void insert_column_update(Sequence& sequence, int priority, const ColumnStep& step, Index chunk,
                          std::span<const Data* const> parts, const PanelPieces& pieces);

}  // namespace tessera::detail
