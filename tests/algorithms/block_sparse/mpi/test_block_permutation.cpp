// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/block_sparse/permutation_checks.hpp>

#include <tessera/block_operations.hpp>
#include <tessera/multiply.hpp>

namespace tessera::test {
namespace {

TEST(BlockPermutationMpi, PermutedMatrices) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  check_permutations<double>(runtime, 1);
  check_permutations<std::complex<float>>(runtime, 20);
}

/// The blocks next to the diagonal, random elements.
BlockSparseMatrix<double> banded(Runtime& runtime, const BlockLayout& layout, Index width) {
  BlockSparseBuilder<double> builder(runtime, layout);
  for (Index i = 0; i < layout.rows->blocks(); ++i)
    for (Index j = std::max<Index>(0, i - width); j <= std::min(i + width, layout.cols->blocks() - 1); ++j) {
      if (!layout.stores(i, j) || builder.owner(i, j) != runtime.rank()) continue;
      Matrix<double> block(layout.rows->size(i), layout.cols->size(j));
      for (Index y = 0; y < block.cols(); ++y)
        for (Index x = 0; x < block.rows(); ++x)
          block(x, y) =
              random_uniform(i >= j ? 1 : 2, 0, layout.rows->first(i) + x, layout.cols->first(j) + y);
      builder.put(i, j, block.view());
    }
  return builder.finalize();
}

struct Outcome {
  MultiplyResult result;
  double products = 0, flop = 0, elements = 0;  ///< the largest rank's / the mean
  double checksum = 0, by_position = 0;
};

double max_over_mean(const std::vector<double>& of_ranks) {
  double sum = 0, most = 0;
  for (const double x : of_ranks) sum += x, most = std::max(most, x);
  return most * double(of_ranks.size()) / sum;
}

Outcome square_of(Runtime& runtime, const BlockLayout& layout, Index width) {
  const auto a = banded(runtime, layout, width);
  Sequence sequence(runtime);
  auto c = zero_matrix<double>(sequence, a.pattern_pointer());
  EXPECT_TRUE(sequence.wait().ok());
  Outcome outcome{tessera::multiply({.a = a, .b = a, .c = c})};
  EXPECT_TRUE(outcome.result);
  std::vector<double> products, flop, elements(std::size_t(runtime.size()), 0);
  for (const RankCount& rank : outcome.result.ranks) {
    products.push_back(double(rank.products));
    flop.push_back(rank.flop);
  }
  for (const auto* pattern : {&a.pattern(), &c.pattern()})
    for (Index p = 0; p < pattern->panels(); ++p)
      elements[std::size_t(pattern->panel_owner(p))] += double(pattern->panel_elements(p));
  outcome.products = max_over_mean(products);
  outcome.flop = max_over_mean(flop);
  outcome.elements = max_over_mean(elements);
  outcome.checksum = checksum(c);
  outcome.by_position = checksum(c, true);
  return outcome;
}

/// The counts of the ranks are there, everywhere the same, and add up.
void check_ranks(const Runtime& runtime, const MultiplyResult& result) {
  ASSERT_EQ(result.ranks.size(), std::size_t(runtime.size()));
  Index products = 0;
  double flop = 0;
  std::vector<double> mine;
  for (const RankCount& rank : result.ranks) {
    products += rank.products, flop += rank.flop;
    mine.insert(mine.end(), {double(rank.products), rank.flop});
  }
  EXPECT_EQ(products, result.products);
  EXPECT_DOUBLE_EQ(flop, result.flop);
  auto root = mine;
  runtime.broadcast(root.data(), Index(root.size() * sizeof(double)), 0);
  EXPECT_EQ(mine, root);
}

/// Blocks near the diagonal: with panels in runs, ranks off the diagonal of the grid have little to do.
TEST(BlockPermutationMpi, EvensOutABandedMatrix) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  std::vector<Index> sizes;
  for (int i = 0; i < 400; ++i) sizes.insert(sizes.end(), {5, 2, 3});
  const ProcessGrid grid = ProcessGrid::squarest(runtime.size());
  const BlockLayout runs{BlockDimension::make(sizes, grid.rows, {}, 200),
                         BlockDimension::make(sizes, grid.cols, {}, 200), grid, Symmetry::none};
  for (const Symmetry symmetry : {Symmetry::none, Symmetry::symmetric}) {
    SCOPED_TRACE(static_cast<char>(symmetry));
    BlockLayout layout = runs;
    layout.symmetry = symmetry;
    const Outcome plain = square_of(runtime, layout, 8),
                  even = square_of(runtime, homogenized_layout(layout, 3), 8);
    check_ranks(runtime, plain.result);
    check_ranks(runtime, even.result);
    EXPECT_EQ(even.result.products, plain.result.products);
    EXPECT_NEAR(even.checksum, plain.checksum, 1e-13 * plain.checksum);
    EXPECT_NEAR(even.by_position, plain.by_position, 1e-12 * plain.checksum);
    for (const double share : {even.products, even.flop, even.elements}) EXPECT_LT(share, 1.15);
    if (runtime.size() == 4) {
      EXPECT_GT(plain.products, 1.5);
      EXPECT_LT(even.products, plain.products);
      EXPECT_LT(even.flop, plain.flop);
      EXPECT_LT(even.elements, plain.elements);
      EXPECT_LT(even.products, 1.1);
    }
  }
}

/// A matrix that there is gets the layout later; its transposed has a product with it, too.
TEST(BlockPermutationMpi, RedistributedMatrices) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  for (const Symmetry symmetry : all_symmetries) {
    const BlockLayout layout = random_layout(runtime, square, square, symmetry, 7);
    const auto a = drawn_matrix<std::complex<double>>(runtime, layout, 0.5, 3);
    Sequence sequence(runtime);
    const auto even = redistribute(sequence, a, homogenized_layout(layout, 2));
    auto c = zero_matrix<std::complex<double>>(sequence, a.pattern_pointer());
    c = desymmetrize(sequence, c);
    auto d = redistribute(sequence, c, homogenized_layout(c.layout(), 2));
    ASSERT_TRUE(sequence.wait().ok());
    EXPECT_EQ(difference(contents_of(even).elements, contents_of(a).elements), 0);
    ASSERT_TRUE(tessera::multiply({.a = a, .b = {a, Op::adjoint}, .c = c}));
    ASSERT_TRUE(tessera::multiply({.a = even, .b = {even, Op::adjoint}, .c = d}));
    EXPECT_LE(difference(contents_of(d).elements, contents_of(c).elements), 1e-13);
  }
}

/// What differs between ranks is thrown by all.
TEST(BlockPermutationMpi, DifferentPermutations) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  if (runtime.size() == 1) GTEST_SKIP() << "one rank";
  const auto a =
      drawn_matrix<double>(runtime, random_layout(runtime, square, square, Symmetry::none, 1), 0.5, 1);
  const auto order = random_block_permutation(a.block_rows(), std::uint64_t(runtime.rank()));
  Sequence sequence(runtime);
  EXPECT_THROW(permute_blocks<double>(sequence, a, order, order), InvalidArgument);
}

}  // namespace
}  // namespace tessera::test
