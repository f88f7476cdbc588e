// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/block_sparse/chosen_pattern.hpp>
#include <tessera/algorithms/block_sparse/task_list.hpp>

namespace tessera::detail {

ChosenPattern::ChosenPattern(BlockPatternPointer like, std::vector<std::int32_t> panels)
    : like_(std::move(like)), panels_(std::move(panels)) {
  Runtime& runtime = like_->runtime();
  for (const std::int32_t p : panels_) {
    const Index rows = like_->row_panel(p), cols = like_->col_panel(p);
    of_.most_rows = std::max(of_.most_rows, word_of(static_cast<Index>(like_->rows().panel(rows).size())));
    of_.most_columns =
        std::max(of_.most_columns, word_of(static_cast<Index>(like_->cols().panel(cols).size())));
  }
  of_.count = word_of(static_cast<Index>(panels_.size()));
  blocks_.assign(static_cast<std::size_t>(like_->panels()), 0);
  elements_ = blocks_;
  if (panels_.empty()) return;
  numbers_ = make_task_list(runtime, panels_);
  totals_ =
      Data::bytes(runtime, panels_.size() * ChosenLayout::size * sizeof(std::int64_t), Data::every_rank);
  row_counts_ = Data::bytes(
      runtime, panels_.size() * 2 * static_cast<std::size_t>(of_.most_rows) * sizeof(std::int32_t),
      Data::every_rank);
}

void ChosenPattern::take() {
  if (panels_.empty()) return;
  const HostAccess access(totals_, HostAccess::Mode::read);
  const auto totals = access.array<const std::int64_t>();
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    const auto mine = totals.subspan(i * ChosenLayout::size, ChosenLayout::size);
    const auto p = static_cast<std::size_t>(panels_[i]);
    blocks_[p] = mine[TotalsLayout::blocks];
    elements_[p] = mine[TotalsLayout::elements];
    identity_.first += static_cast<std::uint64_t>(mine[ChosenLayout::identity]);
    identity_.second += static_cast<std::uint64_t>(mine[ChosenLayout::identity + 1]);
    difference_ += blocks_[p] - like_->panel_blocks(panels_[i]);
    counted_ += mine[ChosenLayout::counted];
  }
}

Index ChosenPattern::words() const noexcept {
  Index words = PackedPattern::words_without_panels(like_->rows().panels(), like_->rows().blocks(),
                                                    like_->cols().panels(), like_->cols().blocks());
  for (const Index p : panels_)
    words += PackedPattern::panel_words(static_cast<Index>(like_->rows().panel(like_->row_panel(p)).size()),
                                        blocks_[static_cast<std::size_t>(p)]);
  return words;
}

Data ChosenPattern::make_packed() const {
  return Data::bytes(like_->runtime(), static_cast<std::size_t>(words()) * sizeof(std::int32_t),
                     Data::every_rank);
}

BlockPatternPointer ChosenPattern::pattern_of(Data packed) const {
  Runtime& runtime = like_->runtime();
  const auto found =
      BlockPattern::from_packed(runtime, like_->layout(), std::move(packed), blocks_, elements_, identity_);
  if (runtime.size() == 1) return found;
  std::vector<PanelIndex> index(static_cast<std::size_t>(like_->panels()));
  for (const Index p : panels_) index[static_cast<std::size_t>(p)] = found->index(p);
  return BlockPattern::from_panels(runtime, like_->layout(), std::move(index));
}

}  // namespace tessera::detail
