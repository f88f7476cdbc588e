// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/dense/split_space.hpp>
#include <tessera/algorithms/dense/trailing_matrix.hpp>
#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/panel_qr.hpp>
#include <tessera/codelets/dense/two_sided.hpp>

namespace tessera::detail {

namespace {

constexpr TaskOptions panel_options{.priority = ReductionPriority::panel},
    product_options{.priority = ReductionPriority::product};

/// What the ranks' products add to Y of a tile row.
struct PartialSum {
  Data y;
  bool written = false;  ///< for this panel
};

/// The pieces of one tile row in an outer block.
struct TileRow {
  Data vz;                       ///< V and Z of the block's panels
  Data w;                        ///< W of the panel
  Data gram;                     ///< P^H P, later the triangle of a TSQR leaf
  Data inner;                    ///< inner products (InnerProducts)
  std::vector<PartialSum> sums;  ///< of Y, by rank x slots + slot
};

template <class T>
class TrailingTiles final : public TrailingMatrix<T> {
 public:
  TrailingTiles(Sequence& sequence, TiledMatrix<T>&& a, Index update_width, const BandMatrix<T>& band,
                bool split_products)
      : sequence_(sequence),
        runtime_(sequence.runtime()),
        a_(std::move(a)),
        band_(band),
        n_(a_.rows()),
        nb_(a_.layout().tile_rows),
        nt_(a_.row_tiles()),
        b_(band.bandwidth()),
        kb_(update_width),
        slots_(std::clamp<Index>(runtime_.common_workers() / 4, 1, 8)),
        both_triangles_(keeps_both_triangles<T>(runtime_)),
        split_(runtime_,
               split_products ? split_update_bytes<T>(std::min(nb_, n_), std::min(nb_, n_), kb_) : 0) {
    for (Index i = 0; i < nt_ && both_triangles_; ++i)
      sequence_.insert(MirrorLower<T>{.a = a_.tile(i, i)}, panel_options);
    workspace_ = Data::scratch(runtime_, panel_workspace_bytes<T>(std::max(nb_, (nt_ + 1) * b_), b_));
    update_workspace_ = Data::scratch(runtime_, update_workspace_bytes<T>(std::min(nb_, n_), kb_));
  }

  void begin_block(Index column) override {
    column_ = column / nb_;
    rows_.clear();
    rows_.resize(at(nt_));
    for (Index i = column_; i < nt_; ++i) rows_[at(i)] = make_row(i);
    factor_ = Data::bytes(runtime_, kernels::PanelFactor<T>::bytes(b_), owner(column_));
    inner_total_ = Data::matrix(runtime_, 2 * kb_ + b_, b_, sizeof(T), owner(column_));
    stack_ = Data();
  }

  void update_panel(const PanelPosition& panel) override {
    const Index c = panel.column, top_row = c - column_ * nb_, width = std::min(b_, n_ - c);
    for (Index i = column_; i < nt_; ++i)
      sequence_.insert(PanelUpdate<T>{.vz = row(i).vz,
                                      .vz_top = i == column_ ? nullptr : &row(column_).vz,
                                      .p = a_.tile(i, column_),
                                      .workspace = update_workspace_,
                                      .part = {first_row(i, c), top_row, rows_from(i, c), width},
                                      .top_row = top_row,
                                      .done = panel.done,
                                      .b = b_},
                       panel_options);
  }

  /// Where the panel has several tiles: Cholesky QR twice, Householder TSQR where that is not safe, then
  /// Householder reconstruction (codelets/dense/panel_qr.hpp).
  void factor_panel(const PanelPosition& panel) override {
    diagonal_to_band(panel);
    if (panel.last()) return;
    const Index first = row_tile(panel.row());
    const Data& t = t_.emplace_back(Data::matrix(runtime_, b_, b_, sizeof(T), owner(first)));
    if (in_last_tile_row(panel)) return factor_in_one_tile(panel, t);
    cholesky_qr(panel);
    tsqr(panel);
    sequence_.insert(
        PanelReconstruct<T>{
            .vz = row(first).vz, .factor = factor_, .t = t, .v = v_part(panel, first), .b = b_},
        panel_options);
  }

  void form_reflectors(const PanelPosition& panel) override {
    const Index first = row_tile(panel.row());
    for (Index i = first; i < nt_; ++i)
      sequence_.insert(PanelVectors<T>{.factor = factor_,
                                       .t = t_.back(),
                                       .vz = row(i).vz,
                                       .tile = a_.tile(i, column_),
                                       .w = row(i).w,
                                       .panel = panel_part(panel, i),
                                       .v = v_part(panel, i),
                                       .top = i == first,
                                       .formed = in_last_tile_row(panel)},
                       panel_options);
    sequence_.insert(CopyToBand<T>{.factor = factor_,
                                   .segment = band_.segment(band_.segment_of(panel.column)),
                                   .part = {0, 0, std::min(b_, panel.rows()), b_},
                                   .place = place_in_band(panel.row(), panel.column)},
                     panel_options);
  }

  /// In parts: every rank sums what its own tiles give.
  void two_sided_product(const PanelPosition& panel) override {
    const Index r = panel.row(), first = row_tile(r);
    for (TileRow& tile_row : rows_)
      for (PartialSum& part : tile_row.sums) {
        part.y.forget();  // the panel before's
        part.written = false;
      }
    // By diagonals: neighbouring tasks then add to different tile rows.
    for (Index distance = 0; distance < nt_ - first; ++distance)
      for (Index i = first + distance; i < nt_; ++i) {
        const Index j = i - distance;
        const bool diagonal = i == j;
        const Data& tile = a_.tile(i, j);
        PartialSum &sum_i = sum(i, a_.owner(i, j), distance), &sum_j = sum(j, a_.owner(i, j), distance);
        sequence_.insert(TwoSidedProduct<T>{.a = tile,
                                            .w_i = row(i).w,
                                            .w_j = diagonal ? nullptr : &row(j).w,
                                            .y_i = sum_i.y,
                                            .y_j = diagonal ? nullptr : &sum_j.y,
                                            .part = part_from(i, j, r),
                                            .b = b_},
                         {.priority = ReductionPriority::product, .execute_on = tile.owner()});
        sum_i.written = sum_j.written = true;
      }
  }

  /// The parts of Y added up, inner products, correction.
  void form_z(const PanelPosition& panel) override {
    const Index r = panel.row(), first = row_tile(r);
    const auto window = [&](Index i) {
      return PanelWindow{
          .row = first_row(i, r), .rows = rows_from(i, r), .done = panel.done, .kb = kb_, .b = b_};
    };
    std::vector<const Data*> pieces;
    for (Index i = first; i < nt_; ++i) {
      const PartialSum& own = sum(i, owner(i), 0);
      std::vector<const Data*> others;
      for (const PartialSum& part : row(i).sums)
        if (&part != &own && part.written) others.push_back(&part.y);
      sequence_.insert(InnerProducts<T>{.vz = row(i).vz,
                                        .w = row(i).w,
                                        .y = own.y,
                                        .d = row(i).inner,
                                        .parts = others,
                                        .window = window(i)},
                       product_options);
      pieces.push_back(&row(i).inner);
    }
    sequence_.insert(InnerSum<T>{.pieces = pieces, .d = inner_total_, .done = panel.done, .kb = kb_, .b = b_},
                     panel_options);
    for (Index i = first; i < nt_; ++i)
      sequence_.insert(
          FormZ<T>{.d = inner_total_, .y = sum(i, owner(i), 0).y, .vz = row(i).vz, .window = window(i)},
          panel_options);
  }

  void update(Index r) override {
    const Index first = row_tile(r), next_column = first;
    for (Index j = first; j < nt_; ++j)
      for (Index i = j; i < nt_; ++i)
        sequence_.insert(
            Rank2kUpdate<T>{.vz_i = row(i).vz,
                            .vz_j = i == j ? nullptr : &row(j).vz,
                            .a = a_.tile(i, j),
                            .workspace = update_workspace_,
                            .split = split_.operand(),
                            .part = part_from(i, j, r),
                            .done = kb_,
                            .b = b_,
                            .both_triangles = i == j && both_triangles_},
            {.priority = j == next_column ? ReductionPriority::next_update : ReductionPriority::update});
  }

  /// A tile column goes as a whole.
  void release_before(Index column) override {
    const bool last_of_tile = column % nb_ == 0 || column == n_;
    for (Index i = column_; i < nt_ && last_of_tile; ++i) a_.release_tile(i, column_);
  }

  BandReflectors<T> reflectors() override {
    const auto panels = static_cast<Index>(t_.size());
    return {std::move(a_), {}, std::move(t_), b_, panels};
  }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  TileRow& row(Index i) { return rows_[at(i)]; }
  PartialSum& sum(Index i, int rank, Index number) {
    return row(i).sums[at(rank * slots_ + number % slots_)];
  }
  int owner(Index i) const { return a_.owner(i, column_); }

  // Tile rows, and the part of each, and of a tile, that lies in rows (and columns) >= r.
  Index row_tile(Index r) const { return r / nb_; }
  Index first_row(Index i, Index r) const { return std::max<Index>(0, r - i * nb_); }
  Index rows_from(Index i, Index r) const { return a_.tile_rows(i) - first_row(i, r); }
  TilePart part_from(Index i, Index j, Index r) const {
    return {first_row(i, r), first_row(j, r), rows_from(i, r), rows_from(j, r)};
  }

  // The panel below its diagonal block in tile row i: in the tile, and its V in VZ.
  TilePart panel_part(const PanelPosition& panel, Index i) const {
    const Index r = panel.row();
    return {first_row(i, r), panel.column - column_ * nb_, rows_from(i, r), b_};
  }
  TilePart v_part(const PanelPosition& panel, Index i) const {
    const Index r = panel.row();
    return {first_row(i, r), v_column(panel.done), rows_from(i, r), b_};
  }
  bool in_last_tile_row(const PanelPosition& panel) const { return row_tile(panel.row()) == nt_ - 1; }

  TileRow make_row(Index i) const {
    TileRow made;
    made.vz = Data::matrix(runtime_, a_.tile_rows(i), 2 * kb_, sizeof(T), owner(i));
    made.w = Data::matrix(runtime_, a_.tile_rows(i), b_, sizeof(T), owner(i));
    made.gram = Data::matrix(runtime_, b_, b_, sizeof(T), owner(i));
    made.inner = Data::matrix(runtime_, 2 * kb_ + b_, b_, sizeof(T), owner(i));
    // Every rank that holds tiles of row or column i of the trailing matrix sums its own part of A W, in
    // several slots: one sum would be a chain of as many tasks as the row has tiles.
    made.sums.resize(at(runtime_.size() * slots_));
    for (int rank : contributors(i))
      for (Index slot = 0; slot < slots_; ++slot)
        made.sums[at(rank * slots_ + slot)].y = Data::matrix(runtime_, a_.tile_rows(i), b_, sizeof(T), rank);
    return made;
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

  BandPlace place_in_band(Index row, Index column) const {
    return {.row = row,
            .column = column,
            .first_column = band_.first_col(band_.segment_of(column)),
            .bandwidth = b_};
  }

  void diagonal_to_band(const PanelPosition& panel) {
    const Index c = panel.column, in_tile = c - column_ * nb_, width = std::min(b_, n_ - c);
    sequence_.insert(CopyToBand<T>{.tile = a_.tile(column_, column_),
                                   .segment = band_.segment(band_.segment_of(c)),
                                   .part = {in_tile, in_tile, width, width},
                                   .place = place_in_band(c, c)},
                     panel_options);
  }

  void factor_in_one_tile(const PanelPosition& panel, const Data& t) {
    const Index i = nt_ - 1;
    sequence_.insert(PanelHouseholder<T>{.tile = a_.tile(i, column_),
                                         .vz = row(i).vz,
                                         .factor = factor_,
                                         .t = t,
                                         .workspace = workspace_,
                                         .panel = panel_part(panel, i),
                                         .v = v_part(panel, i),
                                         .b = b_},
                     panel_options);
  }

  std::vector<const Data*> grams(const PanelPosition& panel) {
    std::vector<const Data*> pieces;
    for (Index i = row_tile(panel.row()); i < nt_; ++i) pieces.push_back(&row(i).gram);
    return pieces;
  }

  /// Q = P R^-1, Q^H Q, and whether that is safe.
  void cholesky_qr(const PanelPosition& panel) {
    const Index first = row_tile(panel.row());
    for (Index i = first; i < nt_; ++i)
      sequence_.insert(PanelGram<T>{.tile = a_.tile(i, column_),
                                    .gram = row(i).gram,
                                    .workspace = workspace_,
                                    .panel = panel_part(panel, i)},
                       panel_options);
    sequence_.insert(PanelCholesky<T>{.grams = grams(panel), .factor = factor_, .b = b_}, panel_options);
    for (Index i = first; i < nt_; ++i)
      sequence_.insert(PanelOrthogonalize<T>{.tile = a_.tile(i, column_),
                                             .factor = factor_,
                                             .vz = row(i).vz,
                                             .gram = row(i).gram,
                                             .workspace = workspace_,
                                             .panel = panel_part(panel, i),
                                             .v = v_part(panel, i)},
                       panel_options);
    sequence_.insert(PanelCheck<T>{.grams = grams(panel), .factor = factor_, .b = b_}, panel_options);
  }

  /// Q by Householder TSQR where Cholesky QR is not safe; else its second pass is finished.
  void tsqr(const PanelPosition& panel) {
    const Index first = row_tile(panel.row());
    const auto leaf_rows = [&](Index i) { return std::min(b_, rows_from(i, panel.row())); };
    Index stack_rows = 0;
    for (Index i = first; i < nt_; ++i) {
      // The leaves' triangles take the place of the Gram matrices.
      sequence_.insert(TsqrLeaf<T>{.tile = a_.tile(i, column_),
                                   .factor = factor_,
                                   .vz = row(i).vz,
                                   .triangle = row(i).gram,
                                   .workspace = workspace_,
                                   .panel = panel_part(panel, i),
                                   .v = v_part(panel, i)},
                       panel_options);
      stack_rows += leaf_rows(i);
    }
    stack_ = Data::matrix(runtime_, stack_rows, b_, sizeof(T), factor_.owner());
    sequence_.insert(TsqrCombine<T>{.triangles = grams(panel),
                                    .factor = factor_,
                                    .stack = stack_,
                                    .workspace = workspace_,
                                    .first_rows = leaf_rows(first),
                                    .last_rows = leaf_rows(nt_ - 1),
                                    .b = b_},
                     panel_options);
    Index stack_row = 0;
    for (Index i = first; i < nt_; ++i) {
      sequence_.insert(PanelFinish<T>{.factor = factor_,
                                      .stack = stack_,
                                      .vz = row(i).vz,
                                      .workspace = workspace_,
                                      .v = v_part(panel, i),
                                      .stack_row = stack_row},
                       panel_options);
      stack_row += leaf_rows(i);
    }
  }

  Sequence& sequence_;
  Runtime& runtime_;
  TiledMatrix<T> a_;
  const BandMatrix<T>& band_;
  const Index n_, nb_, nt_, b_, kb_, slots_;
  const bool both_triangles_;
  const SplitSpace split_;
  Data workspace_, update_workspace_;
  Index column_ = 0;           ///< tile column of the outer block
  std::vector<TileRow> rows_;  ///< by tile row, from the outer block's on
  Data factor_;                ///< PanelFactor of the panel
  Data stack_;                 ///< factor of the TSQR's leaves
  Data inner_total_;           ///< inner products, summed
  std::vector<Data> t_;        ///< by panel
};

}  // namespace

template <class T>
std::unique_ptr<TrailingMatrix<T>> trailing_tiles(Sequence& sequence, TiledMatrix<T>&& a, Index update_width,
                                                  const BandMatrix<T>& band, bool split_products) {
  return std::make_unique<TrailingTiles<T>>(sequence, std::move(a), update_width, band, split_products);
}

#define TESSERA_INSTANTIATE(T)                                                                      \
  template std::unique_ptr<TrailingMatrix<T>> trailing_tiles<T>(Sequence&, TiledMatrix<T>&&, Index, \
                                                                const BandMatrix<T>&, bool);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
