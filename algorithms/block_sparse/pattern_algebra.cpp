// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <limits>

#include <tessera/algorithms/block_sparse/chosen_pattern.hpp>
#include <tessera/algorithms/block_sparse/exchanged_lists.hpp>
#include <tessera/algorithms/block_sparse/pattern_algebra.hpp>
#include <tessera/codelets/block_sparse/symbolic/find_united.hpp>
#include <tessera/runtime/kept.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

namespace {

/// Calls visit(row, number in a, number in b) for the blocks in panel p that a or b stores, in order; -1
/// where one does not.
template <class Visit>
void merge(const PanelIndex& a, const PanelIndex& b, const Visit& visit) {
  for (std::size_t row = 0; row + 1 < a.row_begin.size(); ++row) {
    auto i = a.row_begin[row], j = b.row_begin[row];
    const auto a_end = a.row_begin[row + 1], b_end = b.row_begin[row + 1];
    while (i < a_end || j < b_end) {
      const auto last = std::numeric_limits<std::int32_t>::max();
      const auto a_col = i < a_end ? a.column[static_cast<std::size_t>(i)] : last,
                 b_col = j < b_end ? b.column[static_cast<std::size_t>(j)] : last;
      visit(row, a_col <= b_col ? i++ : -1, b_col <= a_col ? j++ : -1);
    }
  }
}

/// The blocks in merge's order that `wanted(number in a, number in b)`.
template <class Wanted>
PanelIndex merged(const PanelIndex& a, const PanelIndex& b, const Wanted& wanted) {
  PanelIndex index;
  index.row_begin.assign(a.row_begin.size(), 0);
  merge(a, b, [&](std::size_t row, std::int32_t i, std::int32_t j) {
    if (!wanted(i, j)) return;
    index.column.push_back(i >= 0 ? a.column[static_cast<std::size_t>(i)]
                                  : b.column[static_cast<std::size_t>(j)]);
    ++index.row_begin[row + 1];
  });
  for (std::size_t row = 1; row < index.row_begin.size(); ++row)
    index.row_begin[row] += index.row_begin[row - 1];
  return index;
}

}  // namespace

BlockPatternPointer empty_pattern(Runtime& runtime, const BlockLayout& layout) {
  using Patterns = std::vector<BlockPatternPointer>;
  constexpr std::size_t most = 8;
  const auto lock = lock_kept(runtime);
  std::shared_ptr<void>& kept = kept_with(runtime, "empty patterns");
  if (!kept) kept = std::make_shared<Patterns>();
  auto& patterns = *static_cast<Patterns*>(kept.get());
  const auto known = std::find_if(patterns.begin(), patterns.end(), [&](const BlockPatternPointer& pattern) {
    return pattern->layout() == layout;
  });
  if (known != patterns.end()) {
    std::rotate(patterns.begin(), known, known + 1);
  } else {
    patterns.insert(patterns.begin(), BlockPattern::make(runtime, layout, {}));
    if (patterns.size() > most) patterns.pop_back();
  }
  return patterns.front();
}

BlockPatternPointer unite(Sequence& sequence, const BlockPatternPointer& a, const BlockPattern& b) {
  if (a.get() == &b) return a;
  // Where the host has both indices, the result is there at once; a task would have to wait for a worker. With
  // several ranks the host always has those of its panels, and needs that of the result.
  return a->found_by_task() || b.found_by_task() ? unite_by_tasks(sequence, a, b) : unite_on_host(a, b);
}

BlockPatternPointer unite_by_tasks(Sequence& sequence, const BlockPatternPointer& a, const BlockPattern& b) {
  if (a->identity() == b.identity()) return a;
  Runtime& runtime = a->runtime();
  std::vector<std::int32_t> panels;
  for (Index p = 0; p < a->panels(); ++p)
    if (a->panel_local(p) && (a->panel_blocks(p) > 0 || b.panel_blocks(p) > 0)) panels.push_back(word_of(p));
  ChosenPattern both(a, std::move(panels));
  Sequence counting(runtime);
  both.count(
      counting,
      FindUnited{.a = a->packed(), .b = b.packed(), .panels = {}, .totals = {}, .row_counts = {}, .of = {}});
  // The values cannot be allocated before their number is known.
  finish(counting);
  both.take();
  const bool too_large = both.words() > std::numeric_limits<std::int32_t>::max();
  double new_blocks[2] = {static_cast<double>(both.difference()), too_large ? 1.0 : 0.0};
  runtime.all_reduce_sum(new_blocks, 2);
  if (new_blocks[0] == 0) return a;
  if (new_blocks[1] > 0)
    throw_on_all_ranks(runtime, InvalidArgument("b", "with blocks that make a pattern of 2^31 words or more",
                                                "a pattern of fewer than 2^31"));
  return both.write_apart(sequence, WriteUnited{.a = a->packed(),
                                                .b = b.packed(),
                                                .panels = {},
                                                .totals = {},
                                                .row_counts = {},
                                                .result = {},
                                                .of = {}});
}

BlockPatternPointer unite_on_host(const BlockPatternPointer& a, const BlockPattern& b) {
  std::vector<PanelIndex> panels(static_cast<std::size_t>(a->panels()));
  double new_blocks = 0;
  for (Index p = 0; p < a->panels(); ++p) {
    if (!a->panel_local(p)) continue;
    PanelIndex& both = panels[static_cast<std::size_t>(p)];
    both = merged(a->index(p), b.index(p), [](std::int32_t, std::int32_t) { return true; });
    new_blocks += static_cast<double>(both.blocks() - a->panel_blocks(p));
  }
  a->runtime().all_reduce_sum(&new_blocks, 1);
  if (new_blocks == 0) return a;
  return BlockPattern::from_panels(a->runtime(), a->layout(), std::move(panels));
}

BlockPatternPointer with_blocks(Sequence& sequence, const BlockPatternPointer& a,
                                std::span<const BlockCoordinate> blocks) {
  return unite(sequence, a,
               *BlockPattern::make(a->runtime(), a->layout(), own_blocks(a->runtime(), a->layout(), blocks)));
}

BlockPatternPointer intersect(const BlockPattern& a, const BlockPattern& b, const BlockLayout& layout) {
  std::vector<PanelIndex> panels(static_cast<std::size_t>(a.panels()));
  for (Index p = 0; p < a.panels(); ++p)
    if (a.panel_local(p))
      panels[static_cast<std::size_t>(p)] =
          merged(a.index(p), b.index(p), [](std::int32_t i, std::int32_t j) { return i >= 0 && j >= 0; });
  return BlockPattern::from_panels(a.runtime(), layout, std::move(panels));
}

BlockPatternPointer select(const BlockPattern& a, const BlockPredicate& wanted) {
  std::vector<PanelIndex> panels(static_cast<std::size_t>(a.panels()));
  for (Index p = 0; p < a.panels(); ++p) {
    if (!a.panel_local(p)) continue;
    const auto coordinates = a.coordinates(p);
    panels[static_cast<std::size_t>(p)] = merged(a.index(p), a.index(p), [&](std::int32_t b, std::int32_t) {
      return wanted(p, b, coordinates[static_cast<std::size_t>(b)]);
    });
  }
  return BlockPattern::from_panels(a.runtime(), a.layout(), std::move(panels));
}

std::vector<BlockCoordinate> own_blocks(const Runtime& runtime, const BlockLayout& layout,
                                        std::span<const BlockCoordinate> blocks) {
  std::vector<BlockCoordinate> own;
  std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(own), [&](const BlockCoordinate& block) {
    return layout.owner(block.row, block.col) == runtime.rank();
  });
  return own;
}

std::vector<BlockCoordinate> blocks_on_diagonal(const BlockLayout& layout) {
  std::vector<BlockCoordinate> result;
  const BlockDimension &rows = *layout.rows, &cols = *layout.cols;
  for (Index i = 0, j = 0; i < rows.blocks() && j < cols.blocks();) {
    if (std::max(rows.first(i), cols.first(j)) < std::min(rows.first(i + 1), cols.first(j + 1)))
      result.push_back({i, j});
    const Index row_end = rows.first(i + 1), col_end = cols.first(j + 1);
    if (row_end <= col_end) ++i;
    if (col_end <= row_end) ++j;
  }
  return result;
}

std::vector<Index> panels_on_diagonal(const BlockPattern& pattern) {
  std::vector<Index> panels;
  for (const auto& [row, col] : blocks_on_diagonal(pattern.layout())) {
    const Index p = pattern.panel(pattern.rows().panel_of(row), pattern.cols().panel_of(col));
    if (pattern.panel_local(p) && pattern.find(row, col)) panels.push_back(p);
  }
  return values_of_all(pattern.runtime(), std::move(panels));
}

}  // namespace tessera::detail
