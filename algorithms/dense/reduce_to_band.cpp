// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/algorithms/dense/reduce_column_groups.hpp>
#include <tessera/algorithms/dense/reduce_to_band.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/codelets/dense/column_groups.hpp>
#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/panel_qr.hpp>
#include <tessera/codelets/dense/panel_step.hpp>
#include <tessera/codelets/dense/two_sided.hpp>

namespace tessera {
namespace {

constexpr int panel_priority = 3, product_priority = 2, next_update_priority = 1, update_priority = 0;

/// The reduction's state: work space of one outer block of columns, reused by the next.
template <class T>
class Reduction {
 public:
  Reduction(Sequence& sequence, const TiledMatrix<T>& a, Index update_width, const BandMatrix<T>& band)
      : sequence_(sequence),
        runtime_(sequence.runtime()),
        a_(a),
        band_(band),
        n_(a.rows()),
        nb_(a.layout().tile_rows),
        nt_(a.row_tiles()),
        b_(band.bandwidth()),
        kb_(update_width),
        slots_(std::clamp<Index>(sequence.runtime().common_workers() / 4, 1, 8)),
        workspace_(
            Data::scratch(runtime_, nt_ == 1 ? panel_step_workspace_bytes<T>(n_, b_, kb_)
                                             : panel_workspace_bytes<T>(std::max(nb_, (nt_ + 1) * b_), b_))),
        update_workspace_(Data::scratch(runtime_, update_workspace_bytes<T>(std::min(nb_, n_), kb_))) {}

  /// Panels whose first column is in [c0, c0 + kb), then the rank-2k update of what is right of them.
  void outer_block(Index c0, std::vector<Data>& t_factors) {
    column_ = c0 / nb_;
    done_ = 0;
    if (nt_ == 1)
      panels_in_one_tile(c0, t_factors);
    else
      panels(c0, t_factors);
    if (c0 + kb_ < n_) update_trailing(c0 + kb_);
  }

 private:
  void panels(Index c0, std::vector<Data>& t_factors) {
    allocate();
    for (Index c = c0; c < std::min(c0 + kb_, n_); c += b_) {
      if (done_ > 0) update_panel(c);
      const Index width = std::min(b_, n_ - c);
      const Index in_tile = c - column_ * nb_;
      sequence_.insert(CopyToBand<T>{.tile = a_.tile(column_, column_),
                                     .segment = band_.segment(band_.segment_of(c)),
                                     .part = {in_tile, in_tile, width, width},
                                     .place = place_in_band(c, c)},
                       {.priority = panel_priority});
      if (c + b_ >= n_) continue;
      factor_panel(
          c, t_factors.emplace_back(Data::matrix(runtime_, b_, b_, sizeof(T), owner(row_tile(c + b_)))));
      form_z(c + b_);
      done_ += b_;
    }
  }

  /// The same, a task a panel.
  void panels_in_one_tile(Index c0, std::vector<Data>& t_factors) {
    vz_.clear();
    vz_.push_back(Data::matrix(runtime_, n_, 2 * kb_, sizeof(T), owner(0)));
    for (Index c = c0; c < std::min(c0 + kb_, n_); c += b_) {
      const PanelPosition panel{.n = n_, .column = c, .done = done_, .kb = kb_, .b = b_};
      const Index s = band_.segment_of(c);
      const Data* t = panel.last()
                          ? nullptr
                          : &t_factors.emplace_back(Data::matrix(runtime_, b_, b_, sizeof(T), owner(0)));
      sequence_.insert(PanelStep<T>{.a = a_.tile(0, 0),
                                    .vz = vz_[0],
                                    .segment = band_.segment(s),
                                    .workspace = workspace_,
                                    .t = t,
                                    .panel = panel,
                                    .first_column = band_.first_col(s)},
                       {.priority = panel_priority});
      if (!panel.last()) done_ += b_;
    }
  }

  // Tile rows and the part of each that lies in rows >= r.
  Index row_tile(Index r) const { return r / nb_; }
  Index first_row(Index i, Index r) const { return std::max<Index>(0, r - i * nb_); }
  Index rows_from(Index i, Index r) const { return a_.tile_rows(i) - first_row(i, r); }
  int owner(Index i) const { return a_.owner(i, column_); }
  std::size_t at(Index i) const { return static_cast<std::size_t>(i); }

  void allocate() {
    vz_.clear();
    w_.clear();
    gram_.clear();
    inner_.clear();
    y_.clear();
    vz_.resize(at(nt_));
    w_.resize(at(nt_));
    gram_.resize(at(nt_));
    inner_.resize(at(nt_));
    y_.resize(at(nt_));
    for (Index i = column_; i < nt_; ++i) {
      vz_[at(i)] = Data::matrix(runtime_, a_.tile_rows(i), 2 * kb_, sizeof(T), owner(i));
      w_[at(i)] = Data::matrix(runtime_, a_.tile_rows(i), b_, sizeof(T), owner(i));
      gram_[at(i)] = Data::matrix(runtime_, b_, b_, sizeof(T), owner(i));
      inner_[at(i)] = Data::matrix(runtime_, 2 * kb_ + b_, b_, sizeof(T), owner(i));
      // Every rank that holds tiles of row or column i of the trailing matrix sums its own part of A W, in
      // several slots: one sum would be a chain of as many tasks as the row has tiles.
      y_[at(i)].resize(at(runtime_.size() * slots_));
      for (int rank : contributors(i))
        for (Index slot = 0; slot < slots_; ++slot)
          y_[at(i)][at(rank * slots_ + slot)] = Data::matrix(runtime_, a_.tile_rows(i), b_, sizeof(T), rank);
    }
    factor_ = Data::bytes(runtime_, kernels::PanelFactor<T>::bytes(b_), owner(column_));
    inner_total_ = Data::matrix(runtime_, 2 * kb_ + b_, b_, sizeof(T), owner(column_));
    stack_ = Data();
  }

  std::vector<int> contributors(Index i) const {
    std::vector<bool> has(at(runtime_.size()));
    for (Index j = column_; j <= i; ++j) has[at(a_.owner(i, j))] = true;
    for (Index k = i; k < nt_; ++k) has[at(a_.owner(k, i))] = true;
    has[at(owner(i))] = true;
    std::vector<int> ranks;
    for (int rank = 0; rank < runtime_.size(); ++rank)
      if (has[at(rank)]) ranks.push_back(rank);
    return ranks;
  }

  /// Brings the columns [c, c + b) up to date with the panels before them in this outer block.
  void update_panel(Index c) {
    const Index top_row = c - column_ * nb_, width = std::min(b_, n_ - c);
    for (Index i = column_; i < nt_; ++i)
      sequence_.insert(PanelUpdate<T>{.vz = vz_[at(i)],
                                      .vz_top = i == column_ ? nullptr : &vz_[at(column_)],
                                      .p = a_.tile(i, column_),
                                      .part = {first_row(i, c), top_row, rows_from(i, c), width},
                                      .top_row = top_row,
                                      .done = done_,
                                      .kb = kb_},
                       {.priority = panel_priority});
  }

  BandPlace place_in_band(Index row, Index column) const {
    return {.row = row,
            .column = column,
            .first_column = band_.first_col(band_.segment_of(column)),
            .bandwidth = b_};
  }

  /// QR of the panel in columns [c, c + b), rows from c + b: V into vz_ and the tiles, W = V T, T, and S R
  /// into the band.
  void factor_panel(Index c, const Data& t) {
    const Index r = c + b_, first = row_tile(r), col = c - column_ * nb_;
    const auto panel = [&](Index i) { return TilePart(first_row(i, r), col, rows_from(i, r), b_); };
    const auto v = [&](Index i) { return TilePart(first_row(i, r), done_, rows_from(i, r), b_); };
    const bool one_tile = first == nt_ - 1;
    if (one_tile)
      sequence_.insert(PanelHouseholder<T>{.tile = a_.tile(first, column_),
                                           .vz = vz_[at(first)],
                                           .factor = factor_,
                                           .t = t,
                                           .workspace = workspace_,
                                           .panel = panel(first),
                                           .v = v(first),
                                           .b = b_},
                       {.priority = panel_priority});
    else
      factor_tall_panel(r, panel, v, t);
    for (Index i = first; i < nt_; ++i)
      sequence_.insert(PanelVectors<T>{.factor = factor_,
                                       .t = t,
                                       .vz = vz_[at(i)],
                                       .tile = a_.tile(i, column_),
                                       .w = w_[at(i)],
                                       .panel = panel(i),
                                       .v = v(i),
                                       .top = i == first,
                                       .formed = one_tile},
                       {.priority = panel_priority});
    sequence_.insert(CopyToBand<T>{.factor = factor_,
                                   .segment = band_.segment(band_.segment_of(c)),
                                   .part = {0, 0, std::min(b_, n_ - r), b_},
                                   .place = place_in_band(r, c)},
                     {.priority = panel_priority});
  }

  template <class Panel, class V>
  void factor_tall_panel(Index r, const Panel& panel, const V& v, const Data& t) {
    const Index first = row_tile(r);
    const TaskOptions options{.priority = panel_priority};
    std::vector<const Data*> grams;
    for (Index i = first; i < nt_; ++i) grams.push_back(&gram_[at(i)]);
    for (Index i = first; i < nt_; ++i)
      sequence_.insert(
          PanelGram<T>{
              .tile = a_.tile(i, column_), .gram = gram_[at(i)], .workspace = workspace_, .panel = panel(i)},
          options);
    sequence_.insert(PanelCholesky<T>{.grams = grams, .factor = factor_, .b = b_}, options);
    for (Index i = first; i < nt_; ++i)
      sequence_.insert(PanelOrthogonalize<T>{.tile = a_.tile(i, column_),
                                             .factor = factor_,
                                             .vz = vz_[at(i)],
                                             .gram = gram_[at(i)],
                                             .workspace = workspace_,
                                             .panel = panel(i),
                                             .v = v(i)},
                       options);
    sequence_.insert(PanelCheck<T>{.grams = grams, .factor = factor_, .b = b_}, options);
    // The leaves' triangles take the place of the Gram matrices.
    Index stack_rows = 0;
    for (Index i = first; i < nt_; ++i) {
      sequence_.insert(TsqrLeaf<T>{.tile = a_.tile(i, column_),
                                   .factor = factor_,
                                   .vz = vz_[at(i)],
                                   .triangle = gram_[at(i)],
                                   .workspace = workspace_,
                                   .panel = panel(i),
                                   .v = v(i)},
                       options);
      stack_rows += std::min(b_, rows_from(i, r));
    }
    stack_ = Data::matrix(runtime_, stack_rows, b_, sizeof(T), factor_.owner());
    sequence_.insert(TsqrCombine<T>{.triangles = grams,
                                    .factor = factor_,
                                    .stack = stack_,
                                    .workspace = workspace_,
                                    .first_rows = std::min(b_, rows_from(first, r)),
                                    .last_rows = std::min(b_, rows_from(nt_ - 1, r)),
                                    .b = b_},
                     options);
    Index stack_row = 0;
    for (Index i = first; i < nt_; ++i) {
      sequence_.insert(PanelFinish<T>{.factor = factor_,
                                      .stack = stack_,
                                      .vz = vz_[at(i)],
                                      .workspace = workspace_,
                                      .v = v(i),
                                      .stack_row = stack_row},
                       options);
      stack_row += std::min(b_, rows_from(i, r));
    }
    sequence_.insert(
        PanelReconstruct<T>{.vz = vz_[at(first)], .factor = factor_, .t = t, .v = v(first), .b = b_},
        options);
  }

  /// Z of the panel whose reflectors start at row r: products with the tiles of A0, inner products,
  /// correction.
  void form_z(Index r) {
    const Index first = row_tile(r);
    const auto window = [&](Index i) {
      return PanelWindow{.row = first_row(i, r), .rows = rows_from(i, r), .done = done_, .kb = kb_, .b = b_};
    };
    const auto summed = multiply(r);
    std::vector<const Data*> pieces;
    for (Index i = first; i < nt_; ++i) {
      const Index own = owner(i) * slots_;
      std::vector<const Data*> parts;
      for (Index part = 0; part < runtime_.size() * slots_; ++part)
        if (part != own && summed[at(i)][at(part)]) parts.push_back(&y_[at(i)][at(part)]);
      sequence_.insert(InnerProducts<T>{.vz = vz_[at(i)],
                                        .w = w_[at(i)],
                                        .y = y_[at(i)][at(own)],
                                        .d = inner_[at(i)],
                                        .parts = parts,
                                        .window = window(i)},
                       {.priority = product_priority});
      pieces.push_back(&inner_[at(i)]);
    }
    sequence_.insert(InnerSum<T>{.pieces = pieces, .d = inner_total_, .done = done_, .kb = kb_, .b = b_},
                     {.priority = panel_priority});
    for (Index i = first; i < nt_; ++i)
      sequence_.insert(FormZ<T>{.d = inner_total_,
                                .y = y_[at(i)][at(owner(i) * slots_)],
                                .vz = vz_[at(i)],
                                .window = window(i)},
                       {.priority = panel_priority});
  }

  /// A0 W in rows and columns >= r, in parts; which ones, numbered as y_, there are.
  std::vector<std::vector<bool>> multiply(Index r) {
    const Index first = row_tile(r);
    std::vector<std::vector<bool>> summed(at(nt_), std::vector<bool>(at(runtime_.size() * slots_)));
    for (const auto& parts : y_)
      for (const Data& part : parts) part.forget();  // the panel before's
    // By diagonals: neighbouring tasks then add to different tile rows.
    for (Index distance = 0; distance < nt_ - first; ++distance)
      for (Index i = first + distance; i < nt_; ++i) {
        const Index j = i - distance;
        const Index y = a_.owner(i, j) * slots_ + distance % slots_;
        const Data& tile = a_.tile(i, j);
        sequence_.insert(
            TwoSidedProduct<T>{.a = tile,
                               .w_i = w_[at(i)],
                               .w_j = i == j ? nullptr : &w_[at(j)],
                               .y_i = y_[at(i)][at(y)],
                               .y_j = i == j ? nullptr : &y_[at(j)][at(y)],
                               .part = {first_row(i, r), first_row(j, r), rows_from(i, r), rows_from(j, r)},
                               .b = b_},
            {.priority = product_priority, .execute_on = tile.owner()});
        summed[at(i)][at(y)] = summed[at(j)][at(y)] = true;
      }
    return summed;
  }

  /// A0 := A0 - V Z^H - Z V^H in rows and columns >= r, once for the whole outer block.
  void update_trailing(Index r) {
    const Index first = row_tile(r), next_column = first;
    for (Index j = first; j < nt_; ++j)
      for (Index i = j; i < nt_; ++i)
        sequence_.insert(
            Rank2kUpdate<T>{.vz_i = vz_[at(i)],
                            .vz_j = i == j ? nullptr : &vz_[at(j)],
                            .a = a_.tile(i, j),
                            .workspace = update_workspace_,
                            .part = {first_row(i, r), first_row(j, r), rows_from(i, r), rows_from(j, r)},
                            .done = done_,
                            .kb = kb_,
                            .both_triangles = i == j && keeps_both_triangles<T>(runtime_)},
            {.priority = j == next_column ? next_update_priority : update_priority});
  }

  Sequence& sequence_;
  Runtime& runtime_;
  const TiledMatrix<T>& a_;
  const BandMatrix<T>& band_;
  const Index n_, nb_, nt_, b_, kb_, slots_;
  Data workspace_, update_workspace_;
  Index column_ = 0;  ///< tile column of the outer block
  Index done_ = 0;    ///< columns of V and Z accumulated in it
  std::vector<Data> vz_, w_, gram_, inner_;
  std::vector<std::vector<Data>> y_;  ///< by tile row, then rank x slots + slot
  Data factor_, inner_total_, stack_;
};

template <class T>
void check(const Runtime& runtime, const TiledMatrix<T>& a, Index update_width, const BandMatrix<T>& band,
           int column_groups) {
  require_lower_tiles("a", a.layout());
  const Index tile = a.layout().tile_rows, b = band.bandwidth();
  if (band.size() != a.rows())
    throw InvalidArgument("band", fmt::format("{} rows", band.size()),
                          fmt::format("{} rows, as a", a.rows()));
  if (update_width < 1 || tile % update_width != 0 || update_width % b != 0)
    throw InvalidArgument(
        "update_width", fmt::format("{}", update_width),
        fmt::format("a divisor of the tile size {} and a multiple of the band {}", tile, b));
  if (column_groups < 0 || column_groups > max_column_groups || (column_groups > 0 && runtime.size() > 1))
    throw InvalidArgument("column_groups", fmt::format("{}", column_groups),
                          fmt::format("0 to {}, and 0 on several ranks", max_column_groups));
  if (runtime.gpus() > 0 && a.row_tiles() > 1 && b > widest_gpu_panel && column_groups == 0)
    throw InvalidArgument("band", fmt::format("{}", b),
                          fmt::format("at most {} on GPUs, unless the matrix is one tile", widest_gpu_panel));
}

template <class T>
void insert(Sequence& sequence, TiledMatrix<T>&& a, Index update_width, const BandMatrix<T>& band,
            BandReflectors<T>* reflectors, int column_groups) {
  const Index tile = a.layout().tile_rows, b = band.bandwidth(), n = a.rows();
  for (Index s = 0; s < band.segment_count(); ++s)
    sequence.insert(SetZero<T>{.a = band.segment(s)}, {.priority = panel_priority});
  std::vector<Data> t_factors;
  if (column_groups > 0) {
    auto groups = deal_columns<T>(sequence, std::move(a), update_width, column_groups);
    reduce_column_groups<T>(sequence, groups, band, t_factors);
    if (reflectors) *reflectors = {{}, std::move(groups), std::move(t_factors), b};
    return;
  }
  for (Index i = 0; i < a.row_tiles() && keeps_both_triangles<T>(sequence.runtime()); ++i)
    sequence.insert(MirrorLower<T>{.a = a.tile(i, i)}, {.priority = panel_priority});
  {
    Reduction<T> reduction(sequence, a, update_width, band);
    for (Index c0 = 0; c0 < n; c0 += update_width) {
      reduction.outer_block(c0, t_factors);
      const bool last_of_tile = (c0 + update_width) % tile == 0 || c0 + update_width >= n;
      if (!reflectors && last_of_tile)
        for (Index i = c0 / tile; i < a.row_tiles(); ++i) a.release_tile(i, c0 / tile);
    }
  }
  if (reflectors) *reflectors = {std::move(a), {}, std::move(t_factors), b};
}

}  // namespace

template <class T>
void reduce_to_band(Sequence& sequence, TiledMatrix<T>&& a, Index update_width, const BandMatrix<T>& band,
                    BandReflectors<T>* reflectors, int column_groups) {
  const std::uint64_t arguments =
      argument_hash(hash_of(a), update_width, hash_of(band), reflectors != nullptr, column_groups);
  collectively(
      sequence.runtime(), "reduce_to_band", arguments,
      [&] { check(sequence.runtime(), a, update_width, band, column_groups); },
      [&] { insert(sequence, std::move(a), update_width, band, reflectors, column_groups); });
}

#define TESSERA_INSTANTIATE(T)                                                              \
  template void reduce_to_band<T>(Sequence&, TiledMatrix<T>&&, Index, const BandMatrix<T>&, \
                                  BandReflectors<T>*, int);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
