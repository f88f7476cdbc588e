// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/block_sparse/pattern_checks.hpp>
#include <tests/support/runtime_test.hpp>

namespace tessera::test {
namespace {

using BlockPatternTest = RuntimeTest<double>;

TEST_F(BlockPatternTest, KnowsItsBlocks) {
  const std::vector<Index> sizes{3, 0, 5, 1, 2, 2, 4, 0, 6, 1, 1}, others{2, 7, 0, 1};
  for (const double occupation : {0.0, 0.1, 0.5, 1.0}) {
    for (const Symmetry symmetry : all_symmetries)
      check_patterns(runtime(), random_layout(runtime(), sizes, sizes, symmetry, 1), occupation, 5);
    check_patterns(runtime(), random_layout(runtime(), sizes, others, Symmetry::none, 2), occupation, 6);
    check_patterns(runtime(), random_layout(runtime(), others, {}, Symmetry::none, 2), occupation, 6);
    check_patterns(runtime(), random_layout(runtime(), {}, {}, Symmetry::symmetric, 2), occupation, 6);
  }
}

TEST_F(BlockPatternTest, RefusesBlocksWithoutAPlace) {
  const auto make = [&](Symmetry symmetry, BlockCoordinate block) {
    const auto layout = make_block_layout(runtime(), {2, 3, 1}, {2, 3, 1}, symmetry);
    const std::vector<BlockCoordinate> blocks{{1, 1}, block};
    const auto replicated = [&] { BlockPattern::make_replicated(runtime(), layout, blocks); };
    EXPECT_THROW(replicated(), InvalidArgument);
    BlockPattern::make(runtime(), layout, blocks);
  };
  EXPECT_THROW(make(Symmetry::none, {3, 0}), InvalidArgument);
  EXPECT_THROW(make(Symmetry::none, {0, 3}), InvalidArgument);
  EXPECT_THROW(make(Symmetry::none, {-1, 0}), InvalidArgument);
  EXPECT_THROW(make(Symmetry::none, {0, -1}), InvalidArgument);
  EXPECT_THROW(make(Symmetry::symmetric, {0, 2}), InvalidArgument);
  const auto layout = make_block_layout(runtime(), {2, 3, 1}, {2, 3, 1});
  EXPECT_THROW(BlockPattern::from_panels(runtime(), layout, {}), InvalidArgument);
}

TEST_F(BlockPatternTest, DiffersByLayoutOrBlocks) {
  const auto layout = make_block_layout(runtime(), {2, 3, 1}, {2, 3, 1}),
             symmetric = make_block_layout(runtime(), {2, 3, 1}, {2, 3, 1}, Symmetry::symmetric);
  const std::vector<BlockCoordinate> blocks{{0, 0}, {2, 1}}, others{{0, 0}, {2, 0}};
  const auto pattern = BlockPattern::make(runtime(), layout, blocks);
  EXPECT_TRUE(*pattern == *BlockPattern::make(runtime(), layout, blocks));
  EXPECT_FALSE(*pattern == *BlockPattern::make(runtime(), layout, others));
  EXPECT_FALSE(*pattern == *BlockPattern::make(runtime(), symmetric, blocks));
}

}  // namespace
}  // namespace tessera::test
