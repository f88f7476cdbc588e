// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include <tessera/algorithms/block_sparse/chosen_pattern.hpp>
#include <tessera/codelets/block_sparse/symbolic/find_mirrored.hpp>
#include <tessera/runtime/sequence.hpp>

/// The pattern of mirror images, against one that the host makes.
namespace tessera::test {
using namespace detail;
namespace {

BlockPatternPointer mirrored_by_tasks(Runtime& runtime, const BlockPattern& of, const BlockLayout& layout,
                                      bool stored) {
  std::vector<std::int32_t> panels(static_cast<std::size_t>(of.panels()));
  std::iota(panels.begin(), panels.end(), 0);
  ChosenPattern images(BlockPattern::make(runtime, layout, {}), panels);
  Sequence counting(runtime), writing(runtime);
  images.count(
      counting,
      FindMirrored{
          .pattern = of.packed(), .panels = {}, .totals = {}, .row_counts = {}, .of = {}, .stored = stored});
  EXPECT_TRUE(counting.wait().ok());
  images.take();
  const auto pattern = images.write(writing, WriteMirrored{.pattern = of.packed(),
                                                           .panels = {},
                                                           .totals = {},
                                                           .row_counts = {},
                                                           .result = {},
                                                           .of = {},
                                                           .stored = stored});
  EXPECT_TRUE(writing.wait().ok());
  return pattern;
}

TEST(FindMirrored, MakesThePatternOfTheHost) {
  Runtime runtime(RuntimeOptions{.cores = 2});
  std::vector<Index> sizes;
  for (Index i = 0; i < 90; ++i) sizes.push_back(1 + i % 4);
  for (const bool half : {true, false})
    for (const Index panel : {85, 1000})
      for (const unsigned one_in : {1u, 3u, 40u}) {
        BlockLayout layout;
        layout.rows = layout.cols = BlockDimension::make(sizes, 1, {}, panel);
        const BlockLayout full = layout;
        if (half) layout.symmetry = Symmetry::symmetric;
        std::mt19937 random(one_in);
        std::vector<BlockCoordinate> blocks, images;
        for (Index i = 0; i < Index(sizes.size()); ++i)
          for (Index j = 0; j < Index(sizes.size()); ++j) {
            if (!layout.stores(i, j) || random() % one_in != 0) continue;
            blocks.push_back({i, j});
            images.push_back({j, i});
            if (half) images.push_back({i, j});
          }
        const auto of = BlockPattern::make(runtime, layout, blocks),
                   expected = BlockPattern::make(runtime, full, images);
        const auto found = mirrored_by_tasks(runtime, *of, full, half);
        EXPECT_TRUE(*found == *expected);
        for (Index p = 0; p < expected->panels(); ++p) {
          EXPECT_TRUE(found->index(p).same_blocks(expected->index(p))) << p;
          EXPECT_EQ(found->index(p).offset, expected->index(p).offset) << p;
        }
      }
}

}  // namespace
}  // namespace tessera::test
