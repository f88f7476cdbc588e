// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/dense_reference.hpp>

#include <tessera/block_pattern.hpp>
#include <tessera/runtime/matrix/panel_block.hpp>

namespace tessera::test {
using namespace detail;

/// All queries of a pattern that this rank knows as a whole must agree with the set of blocks that it should
/// have.
inline void check_known_pattern(const BlockPattern& pattern, const std::set<BlockCoordinate>& blocks) {
  const BlockLayout& layout = pattern.layout();
  Index elements = 0, count = 0;
  for (Index i = 0; i < layout.rows->blocks(); ++i) {
    Index in_row = 0;
    for (Index j = 0; j < layout.cols->blocks(); ++j) {
      const auto at = pattern.find(i, j);
      ASSERT_EQ(at.has_value(), blocks.contains({i, j})) << i << " " << j;
      if (!at) continue;
      ++in_row;
      elements += layout.rows->size(i) * layout.cols->size(j);
      EXPECT_EQ(pattern.panel_owner(at->panel), layout.owner(i, j));
      EXPECT_EQ(pattern.coordinates(at->panel)[static_cast<std::size_t>(at->block)], (BlockCoordinate{i, j}));
    }
    EXPECT_EQ(pattern.blocks_in_row(i), in_row);
  }
  Index on_diagonal = 0;
  for (const auto& [i, j] : blocks)
    if (i == j) on_diagonal += layout.rows->size(i) * layout.cols->size(j);
  EXPECT_EQ(pattern.diagonal_elements(), on_diagonal);
  EXPECT_EQ(pattern.elements(), elements);
  EXPECT_EQ(pattern.blocks(), static_cast<Index>(blocks.size()));
  for (Index p = 0; p < pattern.panels(); ++p) {
    const PanelIndex& index = pattern.index(p);
    EXPECT_EQ(p, pattern.panel(pattern.row_panel(p), pattern.col_panel(p)));
    count += index.blocks();
    ASSERT_EQ(static_cast<Index>(index.offset.size()), index.blocks() + 1);
    EXPECT_EQ(pattern.blocks_of(p).valid(), index.blocks() > 0);
    const auto coordinates = pattern.coordinates(p);
    ASSERT_EQ(static_cast<Index>(coordinates.size()), index.blocks());
    for (std::size_t b = 0; b < coordinates.size(); ++b)
      EXPECT_EQ(index.offset[b + 1] - index.offset[b],
                layout.rows->size(coordinates[b].row) * layout.cols->size(coordinates[b].col));
    EXPECT_TRUE(std::is_sorted(coordinates.begin(), coordinates.end()));
    if (!pattern.panel_local(p) || index.blocks() == 0) continue;
    const auto entries = download_values<PanelBlock>(pattern.blocks_of(p));
    ASSERT_EQ(entries.size(), coordinates.size());
    for (std::size_t b = 0; b < entries.size(); ++b) {
      EXPECT_EQ(entries[b].offset, index.offset[b]);
      EXPECT_EQ(entries[b].block_row, coordinates[b].row);
      EXPECT_EQ(entries[b].block_col, coordinates[b].col);
      EXPECT_EQ(entries[b].rows, layout.rows->size(coordinates[b].row));
      EXPECT_EQ(entries[b].cols, layout.cols->size(coordinates[b].col));
      EXPECT_EQ(entries[b].first_row, layout.rows->first(coordinates[b].row));
      EXPECT_EQ(entries[b].first_col, layout.cols->first(coordinates[b].col));
    }
  }
  EXPECT_EQ(count, pattern.blocks());
}

/// A rank knows the index of its panels, and says so where it is asked for that of another one.
inline void check_own_panels(const BlockPattern& pattern, const std::set<BlockCoordinate>& blocks) {
  const bool all = pattern.runtime().size() == 1;
  Index before = 0;
  for (Index p = 0; p < pattern.panels(); ++p) {
    EXPECT_EQ(pattern.knows(p), all || pattern.panel_local(p));
    EXPECT_EQ(pattern.blocks_before(p), before);
    if (!pattern.knows(p)) {
      EXPECT_THROW(pattern.index(p), InvalidArgument);
      continue;
    }
    EXPECT_EQ(pattern.index(p).blocks(), pattern.panel_blocks(p));
    EXPECT_EQ(pattern.index(p).elements(), pattern.panel_elements(p));
    before += pattern.panel_blocks(p);
  }
  for (const auto& [i, j] : blocks) {
    if (pattern.layout().owner(i, j) == pattern.runtime().rank())
      EXPECT_TRUE(pattern.find(i, j)) << i << ' ' << j;
    else
      EXPECT_THROW(pattern.find(i, j), InvalidArgument) << i << ' ' << j;
  }
}

/// One panel more is known where it was asked for, and no other.
inline void check_gathered_panel(const BlockPattern& pattern, const BlockPattern& whole) {
  if (pattern.panels() == 0) return;
  const Index wanted = (pattern.runtime().rank() + 1) % pattern.panels();
  const auto more = pattern.gathered(std::span(&wanted, 1));
  for (Index p = 0; p < pattern.panels(); ++p) {
    EXPECT_EQ(more->knows(p), pattern.knows(p) || p == wanted);
    if (!more->knows(p)) continue;
    EXPECT_TRUE(more->index(p).same_blocks(whole.index(p)));
    EXPECT_EQ(more->index(p).offset, whole.index(p).offset);
  }
  EXPECT_TRUE(*more == pattern);
  const Index outside = pattern.panels();
  EXPECT_THROW(pattern.gathered(std::span(&outside, 1)), InvalidArgument);
}

/// What each rank knows, and what all know together. Collective.
inline void check_pattern(const BlockPattern& pattern, const std::set<BlockCoordinate>& blocks) {
  const auto whole = pattern.gathered();
  check_known_pattern(*whole, blocks);
  check_own_panels(pattern, blocks);
  check_gathered_panel(pattern, *whole);
}

/// Makes a pattern of drawn blocks in all three ways. Some blocks are named repeatedly and by ranks
/// that do not own them. Collective.
inline void check_patterns(Runtime& runtime, const BlockLayout& layout, double occupation,
                           std::uint64_t seed) {
  std::set<BlockCoordinate> blocks;
  std::vector<BlockCoordinate> named, all;
  for (Index j = 0; j < layout.cols->blocks(); ++j)
    for (Index i = layout.rows->blocks() - 1; i >= 0; --i) {
      if (!layout.stores(i, j) || random_number(seed, i, j) >= occupation) continue;
      blocks.insert({i, j});
      all.push_back({i, j});
      if (i % 3 == 0) all.push_back({i, j});
      if ((i + 2 * j) % runtime.size() == runtime.rank() || (i + j) % 5 == 0) named.push_back({i, j});
    }
  const auto pattern = BlockPattern::make(runtime, layout, named);
  check_pattern(*pattern, blocks);
  const auto replicated = BlockPattern::make_replicated(runtime, layout, all);
  check_pattern(*replicated, blocks);
  EXPECT_TRUE(*pattern == *replicated);
  std::vector<PanelIndex> panels(static_cast<std::size_t>(pattern->panels()));
  for (Index p = 0; p < pattern->panels(); ++p) {
    if (!pattern->panel_local(p) || pattern->panel_blocks(p) == 0) continue;
    panels[static_cast<std::size_t>(p)] = pattern->index(p);
    panels[static_cast<std::size_t>(p)].offset.clear();
  }
  const auto again = BlockPattern::from_panels(runtime, layout, panels);
  check_pattern(*again, blocks);
  EXPECT_TRUE(*pattern == *again);
}

}  // namespace tessera::test
