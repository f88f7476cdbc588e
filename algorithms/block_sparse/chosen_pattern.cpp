// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/block_sparse/chosen_pattern.hpp>
#include <tessera/algorithms/block_sparse/task_list.hpp>

namespace tessera::detail {

PanelsOfC panels_of(const BlockPattern& pattern, std::span<const std::int32_t> panels) {
  PanelsOfC of{word_of(static_cast<Index>(panels.size())), 0, 0, 0, {}};
  for (const Index p : panels) {
    const auto blocks = [](const BlockDimension& dimension, Index panel) {
      return word_of(static_cast<Index>(dimension.panel(panel).size()));
    };
    of.most_rows = std::max(of.most_rows, blocks(pattern.rows(), pattern.row_panel(p)));
    of.most_columns = std::max(of.most_columns, blocks(pattern.cols(), pattern.col_panel(p)));
  }
  return of;
}

Index packed_words(const BlockPattern& pattern, std::span<const std::int32_t> panels,
                   std::span<const PanelCounts> counts) noexcept {
  Index words = PackedPattern::words_without_panels(pattern.rows().panels(), pattern.rows().blocks(),
                                                    pattern.cols().panels(), pattern.cols().blocks());
  for (const Index p : panels)
    words += PackedPattern::panel_words(static_cast<Index>(pattern.rows().panel(pattern.row_panel(p)).size()),
                                        counts[static_cast<std::size_t>(p)].blocks);
  return words;
}

PanelCounts counts_of(std::span<const std::int64_t> totals) noexcept {
  return {totals[TotalsLayout::blocks], totals[TotalsLayout::elements], totals[TotalsLayout::diagonal_blocks],
          totals[TotalsLayout::diagonal_elements]};
}

ChosenPattern::ChosenPattern(BlockPatternPointer like, std::vector<std::int32_t> panels)
    : like_(std::move(like)), panels_(std::move(panels)), of_(panels_of(*like_, panels_)) {
  Runtime& runtime = like_->runtime();
  counts_.assign(static_cast<std::size_t>(like_->panels()), {});
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
    counts_[p] = counts_of(mine);
    identity_.first += static_cast<std::uint64_t>(mine[ChosenLayout::identity]);
    identity_.second += static_cast<std::uint64_t>(mine[ChosenLayout::identity + 1]);
    difference_ += counts_[p].blocks - like_->panel_blocks(panels_[i]);
    counted_ += mine[ChosenLayout::counted];
  }
}

void ChosenPattern::expect(std::vector<PanelCounts> counts, BlockPattern::Identity identity) {
  counts_ = std::move(counts);
  identity_ = identity;
  expected_ = true;
}

Data ChosenPattern::make_packed() const {
  return Data::bytes(like_->runtime(), static_cast<std::size_t>(words()) * sizeof(std::int32_t),
                     Data::every_rank);
}

BlockPatternPointer ChosenPattern::pattern_of(Data packed) const {
  Runtime& runtime = like_->runtime();
  const auto found =
      BlockPattern::from_packed(runtime, like_->layout(), std::move(packed), counts_, identity_);
  if (runtime.size() == 1) return found;
  std::vector<PanelIndex> index(static_cast<std::size_t>(like_->panels()));
  for (const Index p : panels_) index[static_cast<std::size_t>(p)] = found->index(p);
  return BlockPattern::from_panels(runtime, like_->layout(), std::move(index));
}

}  // namespace tessera::detail
