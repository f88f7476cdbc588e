// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <tessera/algorithms/block_sparse/chosen_pattern.hpp>
#include <tessera/algorithms/block_sparse/image_plans.hpp>
#include <tessera/algorithms/block_sparse/pattern_algebra.hpp>
#include <tessera/algorithms/block_sparse/task_list.hpp>
#include <tessera/codelets/block_sparse/symbolic/find_mirrored.hpp>
#include <tessera/runtime/kept.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

namespace {

/// Elements of the sources of one task together, unless it has one alone: GPUs must have room for them.
constexpr Index most_source_elements = Index(1) << 22;

/// Whether the blocks of a panel of a dimension lie in [first, end).
bool covers(const BlockDimension& dimension, Index panel, Index first, Index end) {
  const auto blocks = dimension.panel(panel);
  return blocks.empty() ||
         (first <= dimension.first(blocks.front()) && dimension.first(blocks.back() + 1) <= end);
}

bool covers(const ElementWindow& window, const BlockPattern& pattern, Index panel) {
  return covers(pattern.rows(), pattern.row_panel(panel), window.first_row, window.end_row) &&
         covers(pattern.cols(), pattern.col_panel(panel), window.first_col, window.end_col);
}

/// Of the mirror images of the blocks of a pattern: equal for equal patterns, and for no others. It is not what
/// their own numbers would give, which only tasks know.
BlockPattern::Identity identity_of_images(BlockPattern::Identity blocks, bool both_halves) {
  const auto image = [&](std::uint64_t number, std::uint64_t seed) {
    return block_identity(0, 0, static_cast<std::int64_t>(number), seed + (both_halves ? 1 : 0));
  };
  return {image(blocks.first, first_identity_seed), image(blocks.second, second_identity_seed)};
}

/// What one task is to move.
struct OpenGather {
  std::vector<Index> sources;
  std::vector<ImageMove> moves;
  Index elements = 0;  ///< of the sources

  /// Makes the panel the last source, unless it is, or there is no room for it.
  bool take(const BlockPattern& from, Index source) {
    if (!sources.empty() && sources.back() == source) return true;
    elements += from.panel_elements(source);
    const bool room = sources.empty() || (elements <= most_source_elements &&
                                          sources.size() < MakeImagePanel<double>::most_sources);
    if (room) sources.push_back(source);
    return room;
  }
};

}  // namespace

bool ImageShape::operator==(const ImageShape& other) const {
  return way == other.way && window == other.window && layout == other.layout && *source == *other.source;
}

ImagePlan::ImagePlan(const ImageShape& shape)
    : shape_(shape),
      mirrored_(mirrors(shape)),
      pattern_(mirrored_ ? mirror_images()
                         : image_pattern(shape.source, shape.layout, shape.way.transposed, shape.window)),
      panels_(static_cast<std::size_t>(pattern_->panels())) {
  find_stored();
  find_gathers();
  double moved = 0;
  for (Index p = 0; p < pattern_->panels(); ++p)
    if (!mirrored_ && !panel(p).stored) moved += static_cast<double>(pattern_->panel_blocks(p));
  constexpr double of_block_in_pattern = sizeof(std::int32_t) + sizeof(Index);
  bytes_ = moved * sizeof(ImageMove) / pattern_->runtime().size();
  if (pattern_ != shape_.source) bytes_ += of_block_in_pattern * static_cast<double>(pattern_->blocks());
}

bool mirrors(const ImageShape& shape) noexcept {
  const Runtime& runtime = shape.source->runtime();
  const BlockLayout& from = shape.source->layout();
  if (runtime.gpus() == 0 || runtime.size() > 1 || shape.source->blocks() == 0 ||
      !from.rows->same_panels(*from.cols))
    return false;
  // A half-stored matrix is not transposed: its mirror images are.
  const bool half = from.symmetry != Symmetry::none;
  BlockLayout places = from;
  places.symmetry = Symmetry::none;
  return half != shape.way.transposed && shape.window == ElementWindow{} && places.same_places(shape.layout);
}

/// The pattern of the mirror images, for both halves also of the stored blocks: found and written by tasks, where A's
/// is. What the host must know of it follows from A's, so that nothing waits.
BlockPatternPointer ImagePlan::mirror_images() {
  const BlockPattern& half = *shape_.source;
  const bool stored = half.layout().symmetry != Symmetry::none;
  Runtime& runtime = half.runtime();
  std::vector<std::int32_t> panels;
  std::vector<PanelCounts> counts;
  for (Index p = 0; p < half.panels(); ++p) {
    PanelCounts& all = counts.emplace_back(half.counts_of(half.panel(half.col_panel(p), half.row_panel(p))));
    if (stored) {
      // A block on the diagonal is its own mirror image.
      const PanelCounts here = half.counts_of(p);
      all.blocks += here.blocks - here.diagonal_blocks;
      all.elements += here.elements - here.diagonal_elements;
    }
    if (all.blocks > 0) panels.push_back(word_of(p));
  }
  ChosenPattern both(empty_pattern(runtime, shape_.layout), std::move(panels));
  both.expect(std::move(counts), identity_of_images(half.identity(), stored));
  if (both.words() > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument("A", "a half-stored matrix whose halves make a pattern of 2^31 words or more",
                          "a pattern of fewer than 2^31");
  writing_ = std::make_shared<Sequence>(runtime);
  both.count(*writing_, FindMirrored{.pattern = half.packed(),
                                     .panels = {},
                                     .totals = {},
                                     .row_counts = {},
                                     .of = {},
                                     .stored = stored});
  return both.write(*writing_, WriteMirrored{.pattern = half.packed(),
                                             .panels = {},
                                             .totals = {},
                                             .row_counts = {},
                                             .result = {},
                                             .of = {},
                                             .stored = stored});
}

/// With the layouts' dimensions equal, a panel of the image has the blocks of A's at their places, and no
/// others if it has no more blocks and elements: neither the symmetry nor the window has changed it. (A window
/// drops blocks without elements, so that the number of blocks alone does not tell.)
void ImagePlan::find_stored() {
  const BlockPattern &from = *shape_.source, &to = *pattern_;
  BlockLayout places = from.layout();
  places.symmetry = to.layout().symmetry;
  const bool same_places = !shape_.way.transposed && places.same_places(to.layout());
  for (Index p = 0; p < to.panels(); ++p) {
    Panel& panel = panels_[static_cast<std::size_t>(p)];
    panel.complete = covers(shape_.window, to, p);
    panel.stored = same_places && panel.complete && from.panel_blocks(p) == to.panel_blocks(p) &&
                   from.panel_elements(p) == to.panel_elements(p);
  }
}

/// The owner of a panel makes the lists for it; all ranks know the sources.
void ImagePlan::find_gathers() {
  const BlockPattern &from = *shape_.source, &to = *pattern_;
  if (mirrored_ ||
      std::all_of(panels_.begin(), panels_.end(), [](const Panel& panel) { return panel.stored; }))
    return;
  std::vector<std::vector<OpenGather>> open(panels_.size());
  for_each_image_move(from, to, shape_.way, shape_.window, [&](const ImageMovesOfPanels& found) {
    const auto at = static_cast<std::size_t>(found.destination);
    if (panels_[at].stored) return;
    if (open[at].empty() || !open[at].back().take(from, found.source))
      open[at].emplace_back().take(from, found.source);
    OpenGather& gather = open[at].back();
    const auto number = static_cast<std::int32_t>(gather.sources.size() - 1);
    for (const BlockMove& move : found.moves) gather.moves.push_back({move, number, found.way});
  });
  for (Index p = 0; p < to.panels(); ++p)
    for (OpenGather& gather : open[static_cast<std::size_t>(p)]) {
      // Lists are of every rank for itself: no other must know them. Without moves it is a stand-in.
      Data list = make_task_list(to.runtime(), gather.moves);
      if (to.panel_local(p)) list_bytes_ += static_cast<double>(gather.moves.size() * sizeof(ImageMove));
      panels_[static_cast<std::size_t>(p)].gathers.push_back({std::move(gather.sources), std::move(list)});
      gather = {};
    }
}

ImagePlans& ImagePlans::of(Runtime& runtime) {
  std::shared_ptr<void>& kept = kept_with(runtime, "image plans");
  if (!kept) kept = std::make_shared<ImagePlans>();
  return *static_cast<ImagePlans*>(kept.get());
}

double ImagePlans::bytes() const noexcept {
  double sum = 0;
  for (const auto& plan : plans_) sum += plan->bytes();
  return sum;
}

ImagePlans::Found ImagePlans::find(const ImageShape& shape, bool reuse) {
  if (!reuse) return {std::make_shared<const ImagePlan>(shape), false};
  const auto found =
      std::find_if(plans_.begin(), plans_.end(), [&](const auto& plan) { return plan->shape() == shape; });
  if (found != plans_.end()) {
    std::rotate(plans_.begin(), found, found + 1);
    return {plans_.front(), true};
  }
  plans_.insert(plans_.begin(), std::make_shared<const ImagePlan>(shape));
  const auto plan = plans_.front();
  // All ranks drop the same ones.
  while (plans_.size() > most_plans || (plans_.size() > 2 && bytes() > most_bytes)) plans_.pop_back();
  return {plan, false};
}

}  // namespace tessera::detail
