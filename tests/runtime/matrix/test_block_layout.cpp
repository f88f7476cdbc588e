// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>

#include <tests/support/runtime_test.hpp>

#include <tessera/block_layout.hpp>

namespace tessera::test {
namespace {

/// All queries of a dimension must be consistent.
void check_dimension(const BlockDimension& d, const std::vector<Index>& sizes) {
  ASSERT_EQ(d.blocks(), static_cast<Index>(sizes.size()));
  EXPECT_EQ(d.elements(), std::accumulate(sizes.begin(), sizes.end(), Index(0)));
  const std::vector<int> owners = d.owners();
  Index first = 0, counted = 0;
  for (Index b = 0; b < d.blocks(); ++b) {
    EXPECT_EQ(d.size(b), sizes[static_cast<std::size_t>(b)]);
    EXPECT_EQ(d.first(b), first);
    for (Index e = first; e < first + d.size(b); ++e) EXPECT_EQ(d.block_of(e), b);
    first += d.size(b);
    EXPECT_EQ(d.panel(d.panel_of(b))[static_cast<std::size_t>(d.position(b))], b);
    EXPECT_EQ(d.owner(b), d.panel_owner(d.panel_of(b)));
    EXPECT_EQ(owners[static_cast<std::size_t>(b)], d.owner(b));
  }
  EXPECT_EQ(d.first(d.blocks()), d.elements());
  for (Index p = 0; p < d.panels(); ++p) {
    const auto panel = d.panel(p);
    ASSERT_FALSE(panel.empty());
    EXPECT_TRUE(std::is_sorted(panel.begin(), panel.end()));
    Index before_last = 0;
    for (const Index b : panel) before_last += b == panel.back() ? 0 : d.size(b);
    EXPECT_LT(before_last, d.panel_elements());
    EXPECT_EQ(d.extent(p), before_last + d.size(panel.back()));
    counted += static_cast<Index>(panel.size());
  }
  EXPECT_EQ(counted, d.blocks());
}

TEST(BlockDimension, DealsOutRunsOfOnePanel) {
  const std::vector<Index> sizes{4, 0, 6, 10, 3, 3, 3, 3, 0, 20, 1};
  const auto d = BlockDimension::make(sizes, 2, {}, 10);
  check_dimension(*d, sizes);
  EXPECT_EQ(d->owners(), (std::vector<int>{0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(d->panels(), 5);
}

TEST(BlockDimension, PanelsOfEmptyBlocksEnd) {
  std::vector<Index> sizes(100000, 0);
  sizes.back() = 3;
  const auto d = BlockDimension::make(sizes);
  check_dimension(*d, sizes);
  EXPECT_EQ(d->panels(), 4);
  for (Index p = 0; p < 3; ++p) EXPECT_EQ(d->panel(p).size(), 32768u);
}

TEST(BlockDimension, TakesAnyOwners) {
  const std::vector<Index> sizes{4, 0, 6, 10, 3, 3, 3, 3, 0, 20, 1};
  const std::vector<int> owners{2, 2, 0, 2, 0, 0, 2, 2, 2, 0, 2};
  const auto d = BlockDimension::make(sizes, 4, owners, 7);
  check_dimension(*d, sizes);
  EXPECT_EQ(d->owners(), owners);
  EXPECT_EQ(d->owner_count(), 4);
}

TEST(BlockDimension, ChoosesThePanelsByTheExtent) {
  for (const Index blocks : {0, 1, 7, 1000, 30000}) {
    const std::vector<Index> sizes(static_cast<std::size_t>(blocks), 5);
    for (const int owners : {1, 3}) {
      const auto d = BlockDimension::make(sizes, owners);
      EXPECT_GE(d->panel_elements(), 256);
      EXPECT_LE(d->panel_elements(), 8192);
      EXPECT_LE(d->panels(), std::max<Index>(8 * owners, ceil_div(5 * blocks, 8192)));
      if (blocks <= 1000) check_dimension(*d, sizes);
    }
  }
}

TEST(BlockDimension, OfNothingOrOfGhosts) {
  EXPECT_EQ(BlockDimension::make({})->panels(), 0);
  EXPECT_EQ(BlockDimension::make({})->elements(), 0);
  check_dimension(*BlockDimension::make({0, 0, 0}, 2), {0, 0, 0});
  check_dimension(*BlockDimension::make({0, 4, 0, 0, 2, 0}, 1, {}, 2), {0, 4, 0, 0, 2, 0});
}

TEST(BlockDimension, IsEqualWithEqualSizesOwnersAndPanels) {
  const auto make = [](std::vector<Index> sizes, std::vector<int> owners, Index panel) {
    return BlockDimension::make(std::move(sizes), 2, std::move(owners), panel);
  };
  const auto d = make({2, 3, 4}, {0, 1, 0}, 4);
  EXPECT_TRUE(*d == *make({2, 3, 4}, {0, 1, 0}, 4));
  EXPECT_FALSE(*d == *make({2, 3, 5}, {0, 1, 0}, 4));
  EXPECT_FALSE(*d == *make({2, 3, 4}, {0, 1, 1}, 4));
  EXPECT_FALSE(*d == *make({2, 3, 4}, {0, 1, 0}, 2));
  EXPECT_TRUE(d->same_sizes(*make({2, 3, 4}, {1, 1, 1}, 9)));
  EXPECT_FALSE(d->same_sizes(*make({2, 3}, {1, 1}, 9)));
}

TEST(BlockDimension, TakesAnyPanels) {
  const std::vector<Index> sizes{4, 0, 6, 10, 3};
  const auto d = BlockDimension::with_panels(sizes, {2, 0, 2, 1, 0}, {1, 0, 1}, 3);
  check_dimension(*d, sizes);
  EXPECT_EQ(d->owners(), (std::vector<int>{1, 1, 1, 0, 1}));
  EXPECT_EQ(d->owner_count(), 3);
  EXPECT_EQ(d->panels(), 3);
  EXPECT_TRUE(*d == *BlockDimension::with_panels(sizes, {2, 0, 2, 1, 0}, {1, 0, 1}, 3));
  EXPECT_FALSE(*d == *BlockDimension::with_panels(sizes, {2, 0, 2, 1, 0}, {1, 0, 2}, 3));
  EXPECT_TRUE(d->same_panels(*BlockDimension::with_panels(sizes, {2, 0, 2, 1, 0}, {1, 0, 2}, 3)));
  EXPECT_EQ(BlockDimension::with_panels({}, {}, {}, 2)->panels(), 0);
  EXPECT_THROW(BlockDimension::with_panels({1, 2}, {0}, {0}, 1), InvalidArgument);
  EXPECT_THROW(BlockDimension::with_panels({1, 2}, {0, 1}, {0}, 1), InvalidArgument);
  EXPECT_THROW(BlockDimension::with_panels({1, 2}, {0, -1}, {0}, 1), InvalidArgument);
  EXPECT_THROW(BlockDimension::with_panels({1, 2}, {0, 0}, {0, 0}, 1), InvalidArgument);
  EXPECT_THROW(BlockDimension::with_panels({1, 2}, {0, 0}, {1}, 1), InvalidArgument);
  EXPECT_THROW(BlockDimension::with_panels({1, 2}, {0, 0}, {0}, 0), InvalidArgument);
  const std::vector<Index> many(40000, 1), one_panel(40000, 0);
  EXPECT_THROW(BlockDimension::with_panels(many, one_panel, {0}, 1), InvalidArgument);
}

TEST(BlockDimension, RefusesWhatDoesNotFit) {
  EXPECT_THROW(BlockDimension::make({1, -1}), InvalidArgument);
  EXPECT_THROW(BlockDimension::make({Index(1) << 31}), InvalidArgument);
  EXPECT_THROW(BlockDimension::make({1, 2}, 0), InvalidArgument);
  EXPECT_THROW(BlockDimension::make({1, 2}, 2, {0}), InvalidArgument);
  EXPECT_THROW(BlockDimension::make({1, 2}, 2, {0, 2}), InvalidArgument);
  EXPECT_THROW(BlockDimension::make({1, 2}, 2, {0, -1}), InvalidArgument);
  EXPECT_THROW(BlockDimension::make({1, 2}, 2, {}, -1), InvalidArgument);
}

using BlockLayoutTest = RuntimeTest<double>;

TEST_F(BlockLayoutTest, MustFitTheRanks) {
  const auto d = BlockDimension::make({2, 3}), two = BlockDimension::make({2, 3}, 2);
  EXPECT_NO_THROW((BlockLayout{d, d, {}}.require_valid(runtime())));
  EXPECT_THROW((BlockLayout{d, nullptr, {}}.require_valid(runtime())), InvalidArgument);
  EXPECT_THROW((BlockLayout{d, d, {.rows = 2}}.require_valid(runtime())), InvalidArgument);
  EXPECT_THROW((BlockLayout{d, d, {.rows = 0}}.require_valid(runtime())), InvalidArgument);
  EXPECT_THROW((BlockLayout{two, d, {}}.require_valid(runtime())), InvalidArgument);
  EXPECT_THROW((BlockLayout{d, two, {}}.require_valid(runtime())), InvalidArgument);
  const auto other = BlockDimension::make({3, 2});
  for (const Symmetry s : {Symmetry::symmetric, Symmetry::antisymmetric, Symmetry::hermitian})
    EXPECT_THROW((BlockLayout{d, other, {}, s}.require_valid(runtime())), InvalidArgument);
  EXPECT_NO_THROW((BlockLayout{d, other, {}}.require_valid(runtime())));
}

TEST_F(BlockLayoutTest, StoresTheLowerHalf) {
  const auto layout = make_block_layout(runtime(), {2, 3, 1}, {2, 3, 1}, Symmetry::antisymmetric);
  EXPECT_TRUE(layout.stores(1, 1));
  EXPECT_TRUE(layout.stores(2, 0));
  EXPECT_FALSE(layout.stores(0, 1));
  EXPECT_TRUE(layout == make_block_layout(runtime(), {2, 3, 1}, {2, 3, 1}, Symmetry::antisymmetric));
  EXPECT_FALSE(layout == make_block_layout(runtime(), {2, 3, 1}, {2, 3, 1}, Symmetry::symmetric));
  EXPECT_FALSE(layout == make_block_layout(runtime(), {2, 3}, {2, 3}, Symmetry::antisymmetric));
}

}  // namespace
/// At least sixteen panels of C for every worker, and at least eight panels per dimension.
TEST(BlockLayout, PanelsFollowTheWorkers) {
  for (const auto& [cores, panel] : {std::pair(1, 1438), {4, 1438}, {8, 959}, {16, 719}, {64, 360}}) {
    Runtime runtime({.cores = cores, .gpus = 0});
    EXPECT_EQ(suitable_panel_elements(runtime, 11500, 1), panel) << cores;
    EXPECT_EQ(suitable_panel_elements(runtime, 2 * 11500, 2), panel) << cores;
    EXPECT_EQ(suitable_panel_elements(runtime, 100, 1), 256);
  }
}

/// The GPU of a process that has one takes large panels, and few.
TEST(BlockLayout, OneGpuTakesThreePanels) {
  Runtime runtime({.cores = 1});
  if (runtime.gpus() != 1) GTEST_SKIP() << runtime.gpus() << " GPUs";
  for (const auto& [elements, panel] : {std::pair(100, 3000), {6000, 3000}, {11500, 3834}, {96000, 16384}})
    EXPECT_EQ(suitable_panel_elements(runtime, elements, 1), panel) << elements;
}

}  // namespace tessera::test
