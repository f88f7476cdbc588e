// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/dense/redistribute.hpp>
#include <tessera/algorithms/dense/reduce_column_groups.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/codelets/dense/column_groups.hpp>
#include <tessera/codelets/dense/copy.hpp>
#include <tessera/codelets/dense/panel_step.hpp>
#include <tessera/codelets/dense/two_sided.hpp>

namespace tessera {
namespace {

constexpr int panel_priority = 3, product_priority = 2, update_priority = 0;

template <class T>
class GroupReduction {
 public:
  GroupReduction(Sequence& sequence, const ColumnGroups<T>& a, const BandMatrix<T>& band,
                 std::vector<Data>& t_factors)
      : sequence_(sequence),
        runtime_(sequence.runtime()),
        a_(a),
        columns_(a.columns()),
        band_(band),
        t_factors_(t_factors),
        n_(columns_.n),
        b_(band.bandwidth()),
        kb_(columns_.block),
        w_(Data::matrix(runtime_, n_, b_, sizeof(T))),
        workspace_(Data::scratch(runtime_, panel_step_workspace_bytes<T>(n_, b_, kb_))),
        update_workspace_(Data::scratch(runtime_, update_workspace_bytes<T>(columns_.count(0), kb_))) {
    for (int g = 0; g < columns_.groups; ++g) vz_.push_back(Data::matrix(runtime_, n_, 2 * kb_, sizeof(T)));
  }

  /// Panels whose first column is in [c0, c0 + kb), which are the columns of one group, then the update.
  void outer_block(Index c0) {
    const int owner = columns_.group_of(c0);
    v_.clear();
    z_.clear();
    make_y_pieces(c0 + b_);
    vz_[static_cast<std::size_t>(owner)].forget();  // the first panel writes it
    for (Index c = c0; c < std::min(c0 + kb_, n_); c += b_)
      panel({.n = n_, .column = c, .done = c - c0, .kb = kb_, .b = b_}, owner);
    if (c0 + kb_ < n_) update(c0 + kb_, owner);
  }

 private:
  int gpu_of(int group) const { return gpu_of_group(runtime_, group); }

  /// rows x b elements in memory for `most` rows: pieces of later blocks, which are smaller, use it again.
  Data piece(Index rows, Index most) const {
    const auto bytes = [&](Index m) { return static_cast<std::size_t>(m * b_) * sizeof(T); };
    return Data::bytes(runtime_, bytes(rows), 0, bytes(most));
  }

  /// For all products of an outer block.
  void make_y_pieces(Index row) {
    y_.clear();
    y_.resize(static_cast<std::size_t>(columns_.groups));
    for (int g = 0; g < columns_.groups && row < n_; ++g)
      if (const Index rows = columns_.from(g, row); rows > 0)
        y_[static_cast<std::size_t>(g)] = piece(rows, columns_.count(0));
  }

  void panel(const PanelPosition& position, int owner) {
    const Index c = position.column, r = position.row(), s = band_.segment_of(c);
    GroupPanel<T> task{.group = a_.group(owner),
                       .vz = vz_[static_cast<std::size_t>(owner)],
                       .segment = band_.segment(s),
                       .workspace = workspace_,
                       .panel = position,
                       .local_column = columns_.local(c),
                       .first_column = band_.first_col(s)};
    const TaskOptions options{.priority = panel_priority, .gpu = gpu_of(owner)};
    if (position.last()) return sequence_.insert(task, options);
    const Data& t = t_factors_.emplace_back(Data::matrix(runtime_, b_, b_, sizeof(T)));
    const Data& v = v_.emplace_back(piece(n_ - r, n_));
    const Data& z = z_.emplace_back(piece(n_ - r, n_));
    task.t = t;
    task.w = w_;
    task.v = v;
    sequence_.insert(task, options);
    std::vector<const Data*> pieces;
    for (int g = 0; g < columns_.groups; ++g) {
      const GroupPart part{.columns = columns_, .number = g, .row = r};
      if (part.count() == 0) continue;
      pieces.push_back(&y_[static_cast<std::size_t>(g)]);
      sequence_.insert(
          GroupProduct<T>{.group = a_.group(g), .v = v, .y = *pieces.back(), .part = part, .b = b_},
          {.priority = product_priority, .gpu = gpu_of(g)});
    }
    sequence_.insert(GroupFormZ<T>{.w = w_,
                                   .t = t,
                                   .vz = vz_[static_cast<std::size_t>(owner)],
                                   .z = z,
                                   .workspace = workspace_,
                                   .y = pieces,
                                   .panel = position,
                                   .columns = columns_},
                     options);
    const Index next = c - position.done + kb_;  // what the update begins with
    for (int g = 0; g < columns_.groups && next < n_; ++g)
      if (gpu_of(g) != gpu_of(owner) && columns_.from(g, next) > 0) z.prefetch(gpu_of(g), false);
  }

  void update(Index row, int owner) {
    std::vector<const Data*> v, z;
    for (const Data& piece : v_) v.push_back(&piece);
    for (const Data& piece : z_) z.push_back(&piece);
    for (int k = 0; k < columns_.groups; ++k) {
      // The next block's owner first: where groups share a GPU its panels begin the sooner.
      const int g = (owner + 1 + k) % columns_.groups;
      const GroupPart part{.columns = columns_, .number = g, .row = row};
      if (part.count() == 0) continue;
      GroupUpdate<T> task{.group = a_.group(g), .workspace = update_workspace_, .part = part, .b = b_};
      if (g == owner) {
        task.vz = vz_[static_cast<std::size_t>(g)];
      } else {
        task.gathered = vz_[static_cast<std::size_t>(g)];
        task.v = v;
        task.z = z;
      }
      sequence_.insert(task, {.priority = update_priority, .gpu = gpu_of(g)});
    }
  }

  Sequence& sequence_;
  Runtime& runtime_;
  const ColumnGroups<T>& a_;
  const CyclicColumns columns_;
  const BandMatrix<T>& band_;
  std::vector<Data>& t_factors_;
  const Index n_, b_, kb_;
  Data w_, workspace_, update_workspace_;
  std::vector<Data> vz_;     ///< by group
  std::vector<Data> y_;      ///< by group, of one outer block
  std::vector<Data> v_, z_;  ///< by panel of the outer block
};

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
                    {.priority = panel_priority, .gpu = gpu_of_group(runtime, one_tile ? 0 : g)});
  };
  for (Index j = 0; j < tiles.col_tiles(); ++j)
    for (Index i = j; i < tiles.row_tiles(); ++i) {
      const Data& tile = tiles.tile(i, j);
      const Index rows = tiles.tile_rows(i), cols = tiles.tile_cols(j);
      if (i == j) sequence.insert(MirrorLower<T>{.a = tile}, {.priority = panel_priority});
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
ColumnGroups<T> deal_columns(Sequence& sequence, TiledMatrix<T>&& a, Index block, int groups) {
  const auto check = [&] {
    require_lower_tiles("a", a.layout());
    if (block < 1 || a.layout().tile_rows % block != 0)
      throw InvalidArgument("block", std::to_string(block), "a divisor of the tile size");
  };
  return collectively(sequence.runtime(), "deal_columns", argument_hash(hash_of(a), block, groups), check,
                      [&] { return insert_deal_columns(sequence, std::move(a), block, groups); });
}

template <class T>
void reduce_column_groups(Sequence& sequence, const ColumnGroups<T>& a, const BandMatrix<T>& band,
                          std::vector<Data>& t_factors) {
  const CyclicColumns& columns = a.columns();
  collectively(sequence.runtime(), "reduce_column_groups",
               argument_hash(columns.n, columns.block, columns.groups, hash_of(band)), [&] {
                 GroupReduction<T> reduction(sequence, a, band, t_factors);
                 for (Index c0 = 0; c0 < columns.n; c0 += columns.block) reduction.outer_block(c0);
               });
}

#define TESSERA_INSTANTIATE(T)                                                                   \
  template ColumnGroups<T> deal_columns<T>(Sequence&, TiledMatrix<T>&&, Index, int);             \
  template void reduce_column_groups<T>(Sequence&, const ColumnGroups<T>&, const BandMatrix<T>&, \
                                        std::vector<Data>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
