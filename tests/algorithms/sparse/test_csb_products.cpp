// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include <tessera/algorithms/sparse/csb_products.hpp>

/// Which tasks make up a product on ranks and GPUs. The machine needs no GPU and only one rank.
namespace tessera::test {
using namespace detail;
namespace {

/// A partition in which each group is one segment of ten rows.
CsbPartition partition_of(int ranks, int gpus, const std::vector<int>& home) {
  CsbPartition partition;
  partition.ranks = ranks;
  partition.domains_per_rank = gpus;
  partition.gpus_per_rank = gpus;
  partition.home = home;
  std::vector<Index> begins{0};
  std::vector<int> owners, gpu_of_segments;
  for (std::size_t s = 0; s < home.size(); ++s) {
    partition.groups.push_back(static_cast<Index>(s));
    begins.push_back(begins.back() + 10);
    owners.push_back(0);  // the test runs on one rank
    gpu_of_segments.push_back(partition.gpu_of(home[s]));
  }
  partition.groups.push_back(static_cast<Index>(home.size()));
  partition.tiles = partition.bands = begins;
  partition.segments = std::make_shared<const RowSegments>(begins, owners, gpu_of_segments);
  return partition;
}

/// Two pieces for every pair of segments, and the diagonal tiles of each segment. All are assigned
/// to `domain`, except tiles, which are assigned to their home.
std::vector<CsbPieceContents> pieces_of(const CsbPartition& partition, int domain) {
  std::vector<CsbPieceContents> pieces;
  for (Index row = 0; row < partition.segments->count(); ++row)
    for (Index column = 0; column <= row; ++column) {
      CsbPieceContents piece{row, column, domain, false, {.cell_count = 1, .entry_count = 9}};
      piece.shape.on_diagonal = row == column;
      pieces.insert(pieces.end(), 2, piece);
      if (row != column) continue;
      piece.domain = partition.home[static_cast<std::size_t>(row)];
      piece.diagonal_tiles = true;
      pieces.push_back(piece);
    }
  return pieces;
}

class CsbProductsTest : public ::testing::Test {
 protected:
  Runtime runtime_{{.cores = 2, .gpus = 0}};
};

/// How often each side of each piece is multiplied.
std::map<std::pair<std::size_t, bool>, int> sides_of(const CsbProducts& products) {
  std::map<std::pair<std::size_t, bool>, int> times;
  for (const CsbProduct& product : products.all()) {
    times[{product.piece, false}] += product.contents.shape.adds_to_rows();
    times[{product.piece, true}] += product.contents.shape.adds_to_columns();
  }
  return times;
}

TEST_F(CsbProductsTest, EveryGpuOfARankWritesItsOwnRows) {
  const CsbPartition partition = partition_of(1, 3, {0, 1, 1, 2});
  ASSERT_TRUE(partition.gpus_multiply_rows());
  const std::vector<CsbPieceContents> pieces = pieces_of(partition, 0);
  CsbProducts products(runtime_, partition, pieces);
  products.plan();
  EXPECT_TRUE(products.make_partials<double>(1).empty());
  std::set<Index> written;
  std::size_t halves = 0;
  for (const CsbProduct& product : products.all()) {
    const CsbPieceContents& c = product.contents;
    const auto home = [&](Index segment) { return partition.home[static_cast<std::size_t>(segment)]; };
    EXPECT_EQ(std::tuple(c.row, c.column),
              std::tuple(pieces[product.piece].row, pieces[product.piece].column));
    EXPECT_EQ(product.row_partial, -1);
    EXPECT_EQ(product.column_partial, -1);
    halves += c.shape.sides != CsbSides::both;
    // Between segments on one GPU a single task multiplies both sides.
    EXPECT_EQ(c.shape.sides == CsbSides::both, home(c.row) == home(c.column));
    if (!product.has_task) continue;
    if (c.shape.adds_to_rows()) {
      EXPECT_EQ(home(c.row), c.domain);
      written.insert(c.row);
    }
    if (c.shape.adds_to_columns()) {
      EXPECT_EQ(home(c.column), c.domain);
      written.insert(c.column);
    }
  }
  // Diagonal tiles of each segment are merged into one product, where they count as an additional
  // piece.
  std::set<std::size_t> united;
  for (const CsbProduct& product : products.all())
    if (product.tiles) {
      EXPECT_TRUE(united.insert(*product.tiles).second);
      EXPECT_EQ(pieces[*product.tiles].row, product.contents.row);
      EXPECT_EQ(product.contents.row, product.contents.column);
      EXPECT_EQ(product.contents.shape.more_entries, 9);
    }
  for (const CsbProduct& product : products.all()) {
    EXPECT_EQ(product.contents.diagonal_tiles, united.contains(product.piece));
    EXPECT_EQ(product.has_task, !product.contents.diagonal_tiles);
  }
  EXPECT_EQ(united.size(), 4u);
  EXPECT_EQ(written.size(), 4u);
  EXPECT_EQ(halves, 2u * 2u * 5u);  // one of the six pairs of segments is on a single GPU
  for (const auto& [side, times] : sides_of(products))
    EXPECT_EQ(times, side.second && pieces[side.first].shape.on_diagonal ? 0 : 1);
}

/// Between ranks a piece is one task, with a partial sum for each of its segments whose home is
/// elsewhere.
TEST_F(CsbProductsTest, RanksMultiplyBothSides) {
  const CsbPartition partition = partition_of(3, 1, {0, 1, 2});
  const std::vector<CsbPieceContents> pieces = pieces_of(partition, 1);
  CsbProducts products(runtime_, partition, pieces);
  products.plan();
  ASSERT_EQ(products.all().size(), pieces.size());
  EXPECT_EQ(products.make_partials<double>(1).size(), 2u);
  for (const CsbProduct& product : products.all()) {
    const CsbPieceContents& c = product.contents;
    EXPECT_EQ(c.shape.sides, CsbSides::both);
    EXPECT_EQ(c.domain, pieces[product.piece].domain);
    EXPECT_EQ(product.row_partial < 0, c.domain == c.row);
    EXPECT_EQ(product.column_partial < 0, c.domain == c.column || c.row == c.column);
  }
}

}  // namespace
}  // namespace tessera::test
