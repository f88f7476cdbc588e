// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>
#include <random>

#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>

#include <tessera/block_pattern.hpp>
#include <tessera/codelets/block_sparse/symbolic/find_above.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>
#include <tessera/runtime/sequence.hpp>

/// The pattern of flagged blocks, against one that the host makes.
namespace tessera::test {
using namespace detail;
namespace {

/// The pattern of some flags, by the tasks.
BlockPatternPointer pattern_by_tasks(Runtime& runtime, const BlockLayout& layout,
                                     const std::vector<char>& flags) {
  const auto like = BlockPattern::make(runtime, layout, {});
  const Index count = like->panels();
  std::vector<std::int32_t> panels(static_cast<std::size_t>(count));
  std::iota(panels.begin(), panels.end(), 0);
  PanelsOfC of{word_of(count), 0, 0, 0, {}};
  for (Index p = 0; p < layout.rows->panels(); ++p)
    of.most_rows = std::max(of.most_rows, word_of(Index(layout.rows->panel(p).size())));
  for (Index p = 0; p < layout.cols->panels(); ++p)
    of.most_columns = std::max(of.most_columns, word_of(Index(layout.cols->panel(p).size())));
  const Data numbers = upload(runtime, panels), above = upload(runtime, flags);
  const Data totals = Data::bytes(runtime, panels.size() * ChosenLayout::size * sizeof(std::int64_t)),
             row_counts = Data::bytes(
                 runtime, panels.size() * 2 * static_cast<std::size_t>(of.most_rows) * sizeof(std::int32_t));
  Sequence sequence(runtime);
  sequence.insert(FindAbove{.pattern = like->packed(),
                            .panels = numbers,
                            .flags = above,
                            .totals = totals,
                            .row_counts = row_counts,
                            .of = of});
  std::vector<PanelCounts> counts(panels.size());
  BlockPattern::Identity identity{};
  Index words = PackedPattern::words_without_panels(layout.rows->panels(), layout.rows->blocks(),
                                                    layout.cols->panels(), layout.cols->blocks());
  {
    const HostAccess access(totals, HostAccess::Mode::read);
    for (std::size_t p = 0; p < panels.size(); ++p) {
      const auto mine = access.array<const std::int64_t>().subspan(p * ChosenLayout::size);
      counts[p] = {mine[TotalsLayout::blocks], mine[TotalsLayout::elements],
                   mine[TotalsLayout::diagonal_blocks], mine[TotalsLayout::diagonal_elements]};
      identity.first += static_cast<std::uint64_t>(mine[ChosenLayout::identity]);
      identity.second += static_cast<std::uint64_t>(mine[ChosenLayout::identity + 1]);
      const auto rows = layout.rows->panel(Index(p) % layout.rows->panels()).size();
      words += PackedPattern::panel_words(Index(rows), counts[p].blocks);
    }
  }
  Data result =
      Data::bytes(runtime, static_cast<std::size_t>(words) * sizeof(std::int32_t), Data::every_rank);
  sequence.insert(WriteAbove{.pattern = like->packed(),
                             .panels = numbers,
                             .flags = above,
                             .totals = totals,
                             .row_counts = row_counts,
                             .result = result,
                             .of = of});
  EXPECT_TRUE(sequence.wait().ok());
  return BlockPattern::from_packed(runtime, layout, std::move(result), counts, identity);
}

TEST(FindAbove, MakesThePatternOfTheHost) {
  Runtime runtime(RuntimeOptions{.cores = 2});
  std::vector<Index> sizes;
  for (Index i = 0; i < 90; ++i) sizes.push_back(1 + i % 4);
  for (const Symmetry symmetry : {Symmetry::none, Symmetry::symmetric})
    for (const unsigned one_in : {1u, 3u, 1000u}) {
      BlockLayout layout;
      layout.rows = layout.cols = BlockDimension::make(sizes, 1, {}, 85);
      layout.symmetry = symmetry;
      std::mt19937 random(one_in);
      // The pattern numbers blocks panel by panel, here as the matrix does.
      std::vector<char> flags(sizes.size() * sizes.size(), 0);
      std::vector<BlockCoordinate> blocks;
      for (Index i = 0; i < Index(sizes.size()); ++i)
        for (Index j = 0; j < Index(sizes.size()); ++j)
          if (layout.stores(i, j) && random() % one_in == 0) {
            flags[static_cast<std::size_t>(j + i * Index(sizes.size()))] = 1;
            blocks.push_back({i, j});
          }
      const auto expected = BlockPattern::make(runtime, layout, blocks);
      const auto found = pattern_by_tasks(runtime, layout, flags);
      EXPECT_TRUE(*found == *expected);
      for (Index p = 0; p < expected->panels(); ++p) {
        EXPECT_TRUE(found->index(p).same_blocks(expected->index(p))) << p;
        EXPECT_EQ(found->index(p).offset, expected->index(p).offset) << p;
      }
    }
}

}  // namespace
}  // namespace tessera::test
