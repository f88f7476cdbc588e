// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/codelets/one_stage/kernels/work_layout.hpp>
#include <tessera/runtime/sequence.hpp>

/// Tasks of a panel of the one-stage tridiagonalisation: two rounds of tasks for each column.
///
/// Column q of A, up to date, is x with x(q) = d_q; the reflector H = I - tau v v^H, v(q+1) = 1, makes it
/// (.., d_q, e_q, 0, ..) with real e_q (LAPACK larfg). With the p reflectors of the panel before it, A = A0 -
/// V W^H - W V^H, and
///
///     round 1 (products), in parts, by groups of tiles:
///         y = A0 v,  s = [V^H v; W^H v],  v^H y
///     round 2 (columns), by chunks of rows:
///         w = tau (y - V (W^H v) - W (V^H v)) - 1/2 |tau|^2 (v^H A v) v
///         x = P(:, p+1) - V W(q+1, :)^H - W V(q+1, :)^H
///
/// where V and W in the last line include v and w, and v^H A v = v^H y - 2 Re (V^H v)^H (W^H v): all sums
/// over the whole height are in the parts of round 1, so that nothing waits between w and the next x.
///
/// Pieces of data (layout: see work_layout.hpp; k is the width of the panel)
///   x_c      a chunk of x behind a header (norm in two numbers, x(q+1), d_q, rows q+1 of V and W):
///            ColumnPiece
///   y_t      the whole trailing height of a product task's part of y behind a header (tau, e_q,
///            1 / (x(q+1) - e_q), v^H y, s, rows q+1 of V and W): ProductPiece
///   V_c      chunk rows x 3 k: [V | W | V], so that its first and its last 2 k columns are the operands of
///            the rank-2k update
///   P_c      chunk rows x k: the panel's columns of A0
///   scalars  k real d, k real e, k tau: ScalarPiece
///
/// Flops: complex x 4. All run on CPUs only.
/// Source: LAPACK latrd; the delayed sums as in ELPA1 (tridiag).
namespace tessera {

/// Columns that a panel may have.
inline constexpr Index widest_panel = 256;

/// Elements of T before the data in an x_c, and their places.
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

/// A panel begins: P_c := the chunk's rows of the sum of the groups' extracted columns, x_c := its first
/// column. Flops are not counted (rows k a group).
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
/// Inserts it for the pieces of a panel.
template <class T>
void insert_panel_start(Sequence& sequence, int priority, const ColumnStep& step, Index chunk,
                        const PanelPieces& pieces);

/// What a product task multiplies: groups `first_group`, `first_group` + `stride`, ... (`count` of them;
/// numbers over all ranks), and the sums s of the chunks `first_inner`, `first_inner` + `inner_stride`, ...
struct ProductWork {
  const WorkTiles* tiles = nullptr;
  int rank = 0;
  Index first_group = 0, stride = 1, count = 0;
  Index first_inner = 0, inner_stride = 1, inner = 0;
  /// Work tiles of the groups from work column `column` on.
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
  /// The rows that remain, in steps of 256, numbers of groups and inner chunks, the columns before this one
  /// in steps of 16.
  std::uint32_t footprint() const noexcept {
    return footprint_of((step.chunks.end * step.chunks.w - step.next) / 256, work.count, work.inner,
                        step.p / 16);
  }
};
/// Inserts it for the pieces of a panel, on rank work.rank.
template <class T>
void insert_column_product(Sequence& sequence, int priority, const ColumnStep& step, const ProductWork& work,
                           std::span<const Data* const> groups, const PanelPieces& pieces, const Data& y,
                           const Data& workspace);

/// Round 2 for one chunk.                                                               [8 p flops a row]
/// | operand     | mode       | shape                | what                                            |
/// |-------------|------------|----------------------|-------------------------------------------------|
/// | x           | read-write | array: ColumnPiece   | x_c; of the next column then                    |
/// | v           | write or add | chunk rows x 3 k   | V_c, which gets a column: the panel's first one is written |
/// | p           | read       | chunk rows x k       | P_c                                             |
/// | scalars     | write or add | array: ScalarPiece | likewise; in the first chunk only               |
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
/// Inserts it for the pieces of a panel.
template <class T>
void insert_column_update(Sequence& sequence, int priority, const ColumnStep& step, Index chunk,
                          std::span<const Data* const> parts, const PanelPieces& pieces);

}  // namespace tessera
