// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include <tessera/algorithms/dense/one_stage.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/codelets/dense/block_reflector.hpp>
#include <tessera/codelets/dense/copy.hpp>
#include <tessera/codelets/one_stage/matrix_tasks.hpp>
#include <tessera/codelets/one_stage/panel_tasks.hpp>
#include <tessera/codelets/one_stage/whole_tasks.hpp>

namespace tessera::detail {

namespace {

constexpr int column_priority = 2, product_priority = 1, matrix_priority = 0, factor_priority = 1,
              apply_priority = 0;
constexpr Index chunk_rows = 512;  ///< rows that a chunk should at least have

template <class T>
class OneStage {
 public:
  OneStage(Sequence& sequence, const TileLayout& layout, const OneStageOptions& options, bool keep)
      : sequence_(sequence),
        runtime_(sequence.runtime()),
        options_(options),
        keep_(keep),
        layout_(layout.rows, layout.tile_rows, options.work_tile),
        rows_(layout_.rows()),
        workers_(runtime_.common_workers()) {
    tiles_ = std::make_shared<WorkTiles>(layout_, layout.grid, runtime_.size(),
                                         options.tasks_per_worker * workers_);
    sequence.keep(tiles_);
    for (Index g = 0; g < tiles_->groups(); ++g) {
      const auto slots = static_cast<Index>(tiles_->group(g).size());
      groups_.push_back(
          slots == 0 ? Data() : Data::matrix(runtime_, layout_.w, layout_.w * slots, sizeof(T), rank_of(g)));
    }
    rest_ = rows_ - 1;
    while (rest_ > 0 && layout_.n - layout_.start(rest_ - 1) <= options.rest) --rest_;
  }

  void pack(TiledMatrix<T>& a) {
    const Index per_rank = tiles_->groups_per_rank();
    for (Index j = 0; j < a.col_tiles(); ++j)
      for (Index i = j; i < a.row_tiles(); ++i) {
        for (Index g = a.owner(i, j) * per_rank; g < (a.owner(i, j) + 1) * per_rank; ++g) {
          if (!has_part(g, i, j)) continue;
          sequence_.insert(TridiagonalizePack<T>{.tile = a.tile(i, j),
                                                 .group = groups_[at(g)],
                                                 .tiles = tiles_.get(),
                                                 .group_number = g,
                                                 .i = i,
                                                 .j = j},
                           {.priority = matrix_priority});
        }
        a.release_tile(i, j);
      }
  }

  void reduce(std::vector<typename OneStageReflectors<T>::Block>& blocks) {
    for (Index column = 0; column < rest_; ++column) reduce_block(column, blocks);
    reduce_rest(blocks);
  }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  int rank_of(Index group) const { return static_cast<int>(group / tiles_->groups_per_rank()); }

  bool has_part(Index g, Index i, Index j) const {
    const auto& list = tiles_->group(g);
    const Index begin = tiles_->first_slot(g, j * layout_.pieces),
                end = tiles_->first_slot(g, (j + 1) * layout_.pieces);
    return std::any_of(list.begin() + begin, list.begin() + end,
                       [&](const WorkTiles::Tile& tile) { return tile.i / layout_.pieces == i; });
  }

  /// The panels in one work column; their reflectors are one block of the back-transform.
  void reduce_block(Index column, std::vector<typename OneStageReflectors<T>::Block>& blocks) {
    const Index columns = layout_.count(column);
    choose_tasks(column);
    allocate(std::min(options_.panel, columns));
    auto& block = blocks.emplace_back();
    if (keep_) start_block(block, column, columns);
    for (Index done = 0; done < columns; done += options_.panel) {
      const Index k = std::min(options_.panel, columns - done);
      pieces_.scalars = Data::bytes(runtime_, ScalarPiece<T>::bytes(k), owner_of_chunk(0));
      reduce_panel(column, done, k);
      if (keep_) store_reflectors(block, done, k);
      update_trailing(done + k < columns ? column : column + 1, k);
      block.scalars.push_back(std::move(pieces_.scalars));
      block.scalar_counts.push_back(k);
    }
    pieces_ = PanelPieces();
  }

  /// Products of a column, and chunks of rows: fewer as the trailing matrix gets smaller.
  void choose_tasks(Index column) {
    const Index remaining = layout_.n - layout_.start(column);
    const double bytes = 0.5 * double(remaining) * double(remaining) * sizeof(T);
    product_tasks_ = tiles_->groups_per_rank();
    while (product_tasks_ > 1 &&
           bytes / double(product_tasks_ * runtime_.size()) < double(options_.least_bytes))
      product_tasks_ = product_tasks_ % 2 == 0 ? product_tasks_ / 2 : 1;
    const Index wanted =
        runtime_.size() * std::clamp<Index>(remaining / (chunk_rows * runtime_.size()), 1, workers_);
    chunks_ = {.first = static_cast<std::int32_t>(column),
               .end = static_cast<std::int32_t>(rows_),
               .w = static_cast<std::int32_t>(layout_.w),
               .chunks = static_cast<std::int32_t>(std::min(wanted, rows_ - column))};
  }

  void store_reflectors(const typename OneStageReflectors<T>::Block& block, Index done, Index k) {
    for (Index c = 0; c < chunks_.chunks; ++c)
      sequence_.insert(TridiagonalizeStore<T>{.v = pieces_.v[at(c)],
                                              .piece = block.v[at(c)],
                                              .layout = layout_,
                                              .chunks = chunks_,
                                              .chunk = c,
                                              .k = k,
                                              .at = done},
                       {.priority = matrix_priority});
  }

  /// The rank-2k update of the work columns from `first` on.
  void update_trailing(Index first, Index k) {
    const auto v = pointers_to(pieces_.v);
    for (Index g = 0; g < tiles_->groups(); ++g)
      if (live(g, first))
        sequence_.insert(TridiagonalizeUpdate<T>{.v = v,
                                                 .group = groups_[at(g)],
                                                 .tiles = tiles_.get(),
                                                 .chunks = chunks_,
                                                 .group_number = g,
                                                 .k = k,
                                                 .first_column = first},
                         {.priority = matrix_priority});
  }

  bool live(Index g, Index column) const {
    return tiles_->first_slot(g, column) < static_cast<Index>(tiles_->group(g).size());
  }
  int owner_of_chunk(Index c) const { return static_cast<int>(c % runtime_.size()); }
  Index height() const { return Index(chunks_.end - chunks_.first) * layout_.w; }

  void allocate(Index k) {
    for (Index c = 0; c < chunks_.chunks; ++c) {
      const int owner = owner_of_chunk(c);
      const Index rows = chunks_.rows(c);
      pieces_.x.push_back(Data::bytes(runtime_, sizeof(T) * at(ColumnPiece::header(k) + rows), owner));
      pieces_.v.push_back(Data::matrix(runtime_, rows, 3 * k, sizeof(T), owner));
      pieces_.p.push_back(Data::matrix(runtime_, rows, k, sizeof(T), owner));
    }
    for (Index t = 0; t < product_tasks_ * runtime_.size(); ++t)
      pieces_.y.push_back(Data::bytes(runtime_, sizeof(T) * at(ProductPiece::header(k) + height()),
                                      static_cast<int>(t / product_tasks_)));
    for (Index g = 0; g < tiles_->groups(); ++g) {
      const bool has_column = tiles_->first_slot(g, chunks_.first) < tiles_->first_slot(g, chunks_.first + 1);
      pieces_.extracted.push_back(has_column ? Data::matrix(runtime_, height(), k, sizeof(T), rank_of(g))
                                             : Data());
    }
    workspace_ = Data::scratch(runtime_, sizeof(T) * at(height()));
  }

  void start_block(typename OneStageReflectors<T>::Block& block, Index column, Index columns) {
    block.first_row = layout_.start(column);
    block.rows = layout_.n - block.first_row;
    block.k = columns;
    for (Index c = 0; c < chunks_.chunks; ++c) {
      const Index rows = layout_.start(chunks_.begin(c + 1)) - layout_.start(chunks_.begin(c));
      block.v.push_back(Data::matrix(runtime_, rows, columns, sizeof(T), owner_of_chunk(c)));
    }
  }

  void extract(Index g, Index column, Index count, const Data& columns) {
    sequence_.insert(TridiagonalizeExtract<T>{.group = groups_[at(g)],
                                              .columns = columns,
                                              .tiles = tiles_.get(),
                                              .group_number = g,
                                              .column = column,
                                              .count = count},
                     {.priority = matrix_priority});
  }

  void reduce_panel(Index column, Index done, Index k) {
    const Index first = layout_.start(column) + done;
    for (Index g = 0; g < tiles_->groups(); ++g)
      if (pieces_.extracted[at(g)].valid()) extract(g, layout_.padded(first), k, pieces_.extracted[at(g)]);
    for (Index p = 0; p < k; ++p) {
      ColumnStep step{.chunks = chunks_,
                      .p = static_cast<std::int32_t>(p),
                      .k = static_cast<std::int32_t>(k),
                      .q = layout_.padded(first + p),
                      .next = layout_.padded(first + p + 1)};
      if (!step.last()) step.after = layout_.padded(first + p + 2);
      if (p == 0)
        for (Index c = 0; c < chunks_.chunks; ++c)
          insert_panel_start<T>(sequence_, product_priority, step, c, pieces_);
      const auto parts = multiply(step);
      for (Index c = 0; c < chunks_.chunks; ++c)
        insert_column_update<T>(sequence_, column_priority, step, c, parts, pieces_);
    }
  }

  /// The product tasks of one column; returns the parts of y that they write.
  std::vector<const Data*> multiply(const ColumnStep& step) {
    std::vector<const Data*> parts;
    const Index per_rank = tiles_->groups_per_rank(), column = step.next / layout_.w, ranks = runtime_.size();
    for (Index rank = 0; rank < ranks; ++rank)
      for (Index t = 0; t < product_tasks_; ++t) {
        ProductWork work{.tiles = tiles_.get(),
                         .rank = static_cast<int>(rank),
                         .first_group = rank * per_rank + t,
                         .stride = product_tasks_};
        std::vector<const Data*> groups;
        bool any = false;
        for (Index g = work.first_group; g < (rank + 1) * per_rank && groups_[at(g)].valid();
             g += product_tasks_) {
          groups.push_back(&groups_[at(g)]);
          any = any || live(g, column);
        }
        work.count = any ? static_cast<Index>(groups.size()) : 0;
        if (!any) groups.clear();
        // The chunks of this rank are rank, rank + ranks, ...: in turn to its tasks.
        work.first_inner = rank + ranks * t;
        work.inner_stride = ranks * product_tasks_;
        if (step.p > 0 && work.first_inner < chunks_.chunks)
          work.inner = ceil_div(chunks_.chunks - work.first_inner, work.inner_stride);
        if (!any && work.inner == 0) continue;
        const Data& y = pieces_.y[at(rank * product_tasks_ + t)];
        insert_column_product<T>(sequence_, product_priority, step, work, groups, pieces_, y, workspace_);
        parts.push_back(&y);
      }
    return parts;
  }

  void reduce_rest(std::vector<typename OneStageReflectors<T>::Block>& blocks) {
    const Index m = layout_.n - layout_.start(rest_), padded = (rows_ - rest_) * layout_.w;
    std::vector<Data> squares;
    for (Index g = 0; g < tiles_->groups(); ++g)
      if (live(g, rest_)) {
        squares.push_back(Data::matrix(runtime_, padded, padded, sizeof(T), rank_of(g)));
        extract(g, rest_ * layout_.w, padded, squares.back());
      }
    const auto pointers = pointers_to(squares);
    auto& block = blocks.emplace_back();
    block.first_row = layout_.start(rest_);
    block.rows = m;
    block.k = m - 1;
    block.scalars.push_back(Data::bytes(runtime_, ScalarPiece<T>::bytes(m), 0));
    block.scalar_counts.push_back(m);
    if (keep_ && m > 1) block.v.push_back(Data::matrix(runtime_, m, m - 1, sizeof(T), 0));
    const Data workspace = Data::scratch(runtime_, rest_workspace_bytes<T>(m));
    sequence_.insert(TridiagonalizeRest<T>{.scalars = block.scalars.back(),
                                           .v = block.v.empty() ? nullptr : &block.v.back(),
                                           .workspace = workspace,
                                           .squares = pointers,
                                           .layout = layout_,
                                           .first = rest_},
                     {.priority = column_priority});
  }

  Sequence& sequence_;
  Runtime& runtime_;
  const OneStageOptions options_;
  const bool keep_;
  const WorkLayout layout_;
  const Index rows_, workers_;
  std::shared_ptr<WorkTiles> tiles_;
  std::vector<Data> groups_;
  Index rest_ = 0;           ///< first work row that LAPACK gets
  Index product_tasks_ = 1;  ///< of a rank
  RowChunks chunks_;
  PanelPieces pieces_;
  Data workspace_;
};

/// d and e on every rank, from the scalars of all panels.
template <class T>
void place_all_scalars(Sequence& sequence, Index n,
                       const std::vector<typename OneStageReflectors<T>::Block>& blocks, const Data& d,
                       const Data& e) {
  d.forget();
  e.forget();
  for (int rank = 0; rank < sequence.runtime().size(); ++rank) {
    Index first = 0;
    for (const auto& block : blocks)
      for (std::size_t panel = 0; panel < block.scalars.size(); ++panel) {
        const Index count = block.scalar_counts[panel];
        sequence.insert(TridiagonalizePlace<T>{.scalars = block.scalars[panel],
                                               .d = d,
                                               .e = e,
                                               .at = first,
                                               .count = count,
                                               .elements = std::min(count, n - 1 - first)},
                        {.priority = column_priority, .execute_on = rank});
        first += count;
      }
  }
}

/// The tiles as one; a matrix of one tile stays as it is.
template <class T>
TiledMatrix<T> in_one_tile(Sequence& sequence, TiledMatrix<T>&& a) {
  if (a.row_tiles() <= 1) return std::move(a);
  const TiledMatrix<T> tiles = std::move(a);
  const Index n = tiles.rows(), tile = tiles.layout().tile_rows;
  Runtime& runtime = sequence.runtime();
  TiledMatrix<T> whole(runtime, {n, n, n, n, {}, Uplo::lower});
  const Data one = Data::bytes(runtime, sizeof(RealOf<T>));
  HostAccess(one, HostAccess::Mode::write).template array<RealOf<T>>()[0] = 1;
  for (Index j = 0; j < tiles.col_tiles(); ++j)
    for (Index i = j; i < tiles.row_tiles(); ++i) {
      const Index rows = tiles.tile_rows(i), cols = tiles.tile_cols(j), row0 = i * tile, col0 = j * tile;
      sequence.insert(CopyTile<T>{.source = tiles.tile(i, j),
                                  .scale = one,
                                  .destination = whole.tile(0, 0),
                                  .from = {0, 0, rows, cols},
                                  .to = {row0, col0, rows, cols},
                                  .row0 = row0,
                                  .col0 = col0},
                      {.priority = matrix_priority});
    }
  return whole;
}

template <class T>
void tridiagonalize_in_one_piece(Sequence& sequence, TiledMatrix<T>&& a, const Data& d, const Data& e,
                                 OneStageReflectors<T>* reflectors) {
  Runtime& runtime = sequence.runtime();
  const Index n = a.rows();
  TiledMatrix<T> whole = in_one_tile(sequence, std::move(a));
  Data tau = Data::bytes(runtime, sizeof(T) * static_cast<std::size_t>(std::max<Index>(n - 1, 1)));
  const Data workspace = Data::scratch(runtime, tridiagonalize_whole_workspace_bytes<T>(runtime, n));
  sequence.insert(
      TridiagonalizeWhole<T>{
          .a = whole.tile(0, 0), .tau = tau, .d = d, .e = e, .workspace = workspace, .n = n},
      {.priority = column_priority});
  if (!reflectors) return;
  reflectors->whole = std::move(whole);
  reflectors->tau = std::move(tau);
}

template <class T>
void back_in_one_piece(Sequence& sequence, const OneStageReflectors<T>& q, const ColumnSlabs<T>& z) {
  Runtime& runtime = sequence.runtime();
  const Index n = q.whole.rows();
  const Data workspace =
      Data::scratch(runtime, apply_tridiagonalize_whole_workspace_bytes<T>(runtime, n, z.width()));
  for (Index j = 0; j < z.count(); ++j)
    sequence.insert(ApplyTridiagonalizeWhole<T>{.a = q.whole.tile(0, 0),
                                                .tau = q.tau,
                                                .z = z.slab(j),
                                                .workspace = workspace,
                                                .n = n,
                                                .columns = z.slab_cols(j)},
                    {.priority = apply_priority});
}

void check(const Runtime& runtime, const TileLayout& a, const Data& d, const Data& e,
           const OneStageOptions& options) {
  require_lower_tiles("a", a);
  require_made("d", d);
  require_made("e", e);
  if (options.panel < 1 || options.panel > widest_panel)
    throw InvalidArgument("panel", fmt::format("{}", options.panel),
                          fmt::format("1 to {} columns", widest_panel));
  if (options.work_tile < 1)
    throw InvalidArgument("work_tile", fmt::format("{}", options.work_tile), "at least 1");
  if (options.in_one_piece && runtime.size() > 1)
    throw InvalidArgument("in_one_piece", "true", "false with several ranks");
}

template <class T>
void insert(Sequence& sequence, TiledMatrix<T>&& a, const Data& d, const Data& e,
            OneStageReflectors<T>* reflectors, const OneStageOptions& options) {
  const Runtime& runtime = sequence.runtime();
  if (options.in_one_piece || (runtime.gpus() > 0 && runtime.size() == 1))
    return tridiagonalize_in_one_piece<T>(sequence, std::move(a), d, e, reflectors);
  const Index n = a.rows();
  std::vector<typename OneStageReflectors<T>::Block> blocks;
  {
    OneStage<T> stage(sequence, a.layout(), options, reflectors != nullptr);
    stage.pack(a);
    a.release();
    stage.reduce(blocks);
  }
  place_all_scalars<T>(sequence, n, blocks, d, e);
  if (reflectors) reflectors->blocks = std::move(blocks);
}

template <class T>
void insert_back(Sequence& sequence, OneStageReflectors<T> q, const ColumnSlabs<T>& z) {
  if (z.count() == 0) return;
  if (q.tau.valid()) return back_in_one_piece(sequence, q, z);
  Index widest = 1;
  for (const auto& block : q.blocks) widest = std::max(widest, block.k);
  const Data workspace =
      Data::scratch(sequence.runtime(), block_reflector_workspace_bytes<T>(widest, z.width()));
  for (; !q.blocks.empty(); q.blocks.pop_back()) {
    const auto& block = q.blocks.back();
    if (block.k == 0) continue;
    const Data t = Data::matrix(sequence.runtime(), block.k, block.k, sizeof(T), block.v.front().owner());
    const auto scalars = pointers_to(block.scalars), v = pointers_to(block.v);
    sequence.insert(
        TridiagonalizeFactor<T>{.v = v, .scalars = scalars, .t = t, .rows = block.rows, .k = block.k},
        {.priority = factor_priority});
    for (Index j = 0; j < z.count(); ++j)
      sequence.insert(ApplyBlockReflector<T>{.v = v,
                                             .t = t,
                                             .c = z.slab(j),
                                             .work = workspace,
                                             .first_row = block.first_row,
                                             .rows = block.rows,
                                             .k = block.k,
                                             .cols = z.slab_cols(j)},
                      {.priority = apply_priority});
  }
}

}  // namespace

template <class T>
void tridiagonalize(Sequence& sequence, TiledMatrix<T>&& a, const Data& d, const Data& e,
                    OneStageReflectors<T>* reflectors, const OneStageOptions& options) {
  const auto& [in_one_piece, work_tile, panel, rest, tasks_per_worker, least_bytes] = options;
  const std::uint64_t arguments = argument_hash(hash_of(a), reflectors != nullptr, in_one_piece, work_tile,
                                                panel, rest, tasks_per_worker, least_bytes);
  collectively(
      sequence.runtime(), "tridiagonalize", arguments,
      [&] { check(sequence.runtime(), a.layout(), d, e, options); },
      [&] { insert(sequence, std::move(a), d, e, reflectors, options); });
}

template <class T>
void back_one_stage(Sequence& sequence, OneStageReflectors<T>&& reflectors, const ColumnSlabs<T>& z) {
  collectively(sequence.runtime(), "back_one_stage", argument_hash(reflectors.blocks.size(), hash_of(z)),
               [&] { insert_back(sequence, std::move(reflectors), z); });
}

#define TESSERA_INSTANTIATE(T)                                                           \
  template void tridiagonalize<T>(Sequence&, TiledMatrix<T>&&, const Data&, const Data&, \
                                  OneStageReflectors<T>*, const OneStageOptions&);       \
  template void back_one_stage<T>(Sequence&, OneStageReflectors<T>&&, const ColumnSlabs<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
