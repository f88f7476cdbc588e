// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/generated.hpp>

#include <tessera/algorithms/block_sparse/product_plan.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/multiply.hpp>
#include <tessera/runtime/matrix/panel_block.hpp>

namespace tessera::test {
namespace {

BlockLayout many_panels(const Runtime& runtime, Symmetry symmetry, ProcessGrid grid, Index panel_elements) {
  std::vector<Index> sizes(400, 2);
  for (std::size_t block = 0; block < sizes.size(); block += 3) sizes[block] = 3;
  EXPECT_EQ(grid.rows * grid.cols, runtime.size());
  return square_layout(sizes, symmetry, grid, panel_elements);
}

std::vector<BlockCoordinate> own_coordinates(const BlockPattern& pattern) {
  std::vector<BlockCoordinate> blocks;
  for (Index p = 0; p < pattern.panels(); ++p) {
    if (!pattern.panel_local(p)) continue;
    const auto of_panel = pattern.coordinates(p);
    blocks.insert(blocks.end(), of_panel.begin(), of_panel.end());
  }
  return blocks;
}

/// What a rank may keep: of its panels the index, the blocks as tasks see them and both packed; the numbers of
/// all panels; the packed dimensions. `even`: the panels are dealt to the ranks evenly.
void expect_own_index(const BlockPattern& pattern, const char* what, bool even = true) {
  SCOPED_TRACE(what);
  constexpr double of_block = 2 * (sizeof(std::int32_t) + sizeof(Index)) + sizeof(PanelBlock), of_row = 8,
                   of_panel = 200, of_line = 24;
  double bound = of_line * double(pattern.rows().blocks() + pattern.cols().blocks());
  Index own = 0;
  for (Index p = 0; p < pattern.panels(); ++p) {
    bound += of_panel;
    if (!pattern.panel_local(p)) continue;
    own += pattern.panel_blocks(p);
    bound += of_row * double(pattern.rows().panel(pattern.row_panel(p)).size() + 1);
  }
  bound += of_block * double(own);
  EXPECT_LE(double(pattern.index_bytes()), bound);
  // Without the other forms: well below all of it.
  const auto whole = pattern.gathered();
  whole->index(0);  // In one process it may have only its packed form until now.
  const double ranks = pattern.runtime().size();
  const double everything = 12 * double(pattern.blocks());
  EXPECT_GE(double(whole->index_bytes()), everything);
  Index known = 0;
  for (Index p = 0; p < pattern.panels(); ++p)
    if (pattern.knows(p)) known += pattern.panel_blocks(p);
  EXPECT_EQ(known, own);
  if (pattern.runtime().size() < 4 || !even) return;
  EXPECT_LE(12 * double(own), (1 / ranks + 0.1) * everything);
  const auto fresh = BlockPattern::make(pattern.runtime(), pattern.layout(), own_coordinates(pattern));
  EXPECT_TRUE(*fresh == pattern);
  EXPECT_LE(double(fresh->index_bytes()), 0.5 * double(whole->index_bytes()));
}

class IndexMpi : public ::testing::Test {
 public:
  IndexMpi() : runtime_({.cores = 1, .bind = false}, Communicator::world()) {}
  BlockSparseMatrix<double> random(Symmetry symmetry, std::uint64_t seed) {
    return random_block_sparse<double>(
        runtime_, many_panels(runtime_, symmetry, ProcessGrid::squarest(runtime_.size()), 60), 0.2, seed);
  }
  Runtime runtime_;
};

TEST_F(IndexMpi, EachRankKeepsThatOfItsPanels) {
  for (const Symmetry symmetry : {Symmetry::none, Symmetry::symmetric}) {
    const auto a = random(symmetry, 1);
    expect_own_index(a.pattern(), "random");
    Sequence sequence(runtime_);
    const BlockLayout row_by_row =
        many_panels(runtime_, Symmetry::none, {.rows = runtime_.size(), .cols = 1}, 100);
    const auto moved = redistribute(sequence, a, row_by_row);
    expect_own_index(moved.pattern(), "redistributed");
    expect_own_index(transpose(sequence, moved).pattern(), "transposed", false);
    auto sum = copy(sequence, a);
    add(sequence, 1.0, sum, 1.0, random(symmetry, 2));
    add_on_diagonal(sequence, 1.0, sum);
    expect_own_index(sum.pattern(), "sum");
    ASSERT_TRUE(sequence.wait().ok());
  }
}

TEST_F(IndexMpi, EachRankKeepsThatOfItsPanelsOfAProduct) {
  const auto a = random(Symmetry::none, 3), b = random(Symmetry::symmetric, 4);
  for (const double filter : {0.0, 2.0}) {
    SCOPED_TRACE(filter);
    BlockSparseMatrix<double> c(BlockPattern::make(runtime_, a.layout(), {}));
    ASSERT_TRUE(multiply({.a = a, .b = b, .c = c}, {.filter_eps = filter}).status().ok());
    EXPECT_GT(c.pattern().blocks(), 0);
    expect_own_index(c.pattern(), "C");
    expect_own_index(a.pattern(), "A");
    expect_own_index(b.pattern(), "B");
  }
}

/// Block rows of A and block columns of B in which the rank has a panel of C.
TEST_F(IndexMpi, APlanHasTheIndexOfWhatIsMultiplied) {
  const auto a = random(Symmetry::none, 5), b = random(Symmetry::none, 6);
  const auto c = BlockPattern::make(runtime_, a.layout(), {});
  const ProductPlan plan({.a = a.pattern_pointer(), .b = b.pattern_pointer(), .c = c});
  expect_own_index(*plan.pattern(), "C");
  for (Index p = 0; p < c->panels(); ++p) {
    bool row = false, column = false;
    for (Index q = 0; q < c->panels(); ++q) {
      row = row || (c->panel_local(q) && c->row_panel(q) == c->row_panel(p));
      column = column || (c->panel_local(q) && c->col_panel(q) == c->col_panel(p));
    }
    EXPECT_EQ(plan.a().knows(p), row || runtime_.size() == 1);
    EXPECT_EQ(plan.b().knows(p), column || runtime_.size() == 1);
  }
}

}  // namespace
}  // namespace tessera::test
