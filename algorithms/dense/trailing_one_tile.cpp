// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/dense/split_space.hpp>
#include <tessera/algorithms/dense/trailing_matrix.hpp>
#include <tessera/codelets/dense/panel_step.hpp>
#include <tessera/codelets/dense/two_sided.hpp>

namespace tessera::detail {

namespace {

template <class T>
class TrailingOneTile final : public TrailingMatrix<T> {
 public:
  TrailingOneTile(Sequence& sequence, TiledMatrix<T>&& a, Index update_width, const BandMatrix<T>& band,
                  bool split_products)
      : sequence_(sequence),
        a_(std::move(a)),
        band_(band),
        n_(a_.rows()),
        kb_(update_width),
        both_triangles_(keeps_both_triangles<T>(sequence.runtime())),
        split_(sequence.runtime(), split_products ? std::max(split_update_bytes<T>(n_, n_, kb_),
                                                             panel_step_split_bytes<T>(n_, band.bandwidth()))
                                                  : 0) {
    Runtime& runtime = sequence.runtime();
    if (both_triangles_)
      sequence_.insert(MirrorLower<T>{.a = a_.tile(0, 0)}, {.priority = ReductionPriority::panel});
    workspace_ = Data::scratch(runtime, panel_step_workspace_bytes<T>(n_, band_.bandwidth(), kb_));
    update_workspace_ =
        Data::scratch(runtime, update_workspace_bytes<T>(std::min(a_.layout().tile_rows, n_), kb_));
  }

  /// All steps of all panels of the block, as one task.
  void begin_block(Index column) override {
    const Index b = band_.bandwidth();
    const PanelPosition panel{.n = n_, .column = column, .done = 0, .kb = kb_, .b = b};
    vz_.release();
    vz_ = matrix(n_, 2 * kb_);
    std::vector<const Data*> segments;
    const Index end = std::min(column + kb_, n_);
    for (Index s = band_.segment_of(column); s <= band_.segment_of(end - 1); ++s)
      segments.push_back(&band_.segment(s));
    const Index panels = ceil_div(std::min(end, n_ - b) - column, b);
    if (panels > 0) t_.push_back(matrix(b, panels * b));
    panels_ += std::max<Index>(panels, 0);
    sequence_.insert(PanelSteps<T>{.a = a_.tile(0, 0),
                                   .vz = vz_,
                                   .segments = segments,
                                   .workspace = workspace_,
                                   .split = split_.operand(),
                                   .t = panels > 0 ? &t_.back() : nullptr,
                                   .panel = panel},
                     {.priority = ReductionPriority::panel});
  }

  void factor_panel(const PanelPosition&) override {}

  void update(Index row) override {
    sequence_.insert(Rank2kUpdate<T>{.vz_i = vz_,
                                     .a = a_.tile(0, 0),
                                     .workspace = update_workspace_,
                                     .split = split_.operand(),
                                     .part = {row, row, n_ - row, n_ - row},
                                     .done = kb_,
                                     .b = band_.bandwidth(),
                                     .both_triangles = both_triangles_},
                     {.priority = ReductionPriority::next_update});
  }

  void release_before(Index column) override {
    if (column == n_) a_.release_tile(0, 0);
  }

  BandReflectors<T> reflectors() override {
    return {std::move(a_), {}, std::move(t_), band_.bandwidth(), panels_, kb_ / band_.bandwidth()};
  }

 private:
  Data matrix(Index rows, Index cols) const {
    return Data::matrix(sequence_.runtime(), rows, cols, sizeof(T), a_.owner(0, 0));
  }

  Sequence& sequence_;
  TiledMatrix<T> a_;
  const BandMatrix<T>& band_;
  const Index n_, kb_;
  const bool both_triangles_;
  const SplitSpace split_;
  Data workspace_, update_workspace_;
  Data vz_;              ///< of the outer block
  std::vector<Data> t_;  ///< by outer block
  Index panels_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<TrailingMatrix<T>> trailing_one_tile(Sequence& sequence, TiledMatrix<T>&& a,
                                                     Index update_width, const BandMatrix<T>& band,
                                                     bool split_products) {
  return std::make_unique<TrailingOneTile<T>>(sequence, std::move(a), update_width, band, split_products);
}

#define TESSERA_INSTANTIATE(T)                                                                         \
  template std::unique_ptr<TrailingMatrix<T>> trailing_one_tile<T>(Sequence&, TiledMatrix<T>&&, Index, \
                                                                   const BandMatrix<T>&, bool);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
