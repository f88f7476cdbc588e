// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>

#include <tests/algorithms/block_sparse/permutation_checks.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/matgen.hpp>
#include <tessera/multiply.hpp>

namespace tessera::test {
namespace {

BlockLayout plain_layout(const std::vector<Index>& rows, const std::vector<Index>& cols, ProcessGrid grid,
                         Index panel_elements) {
  return {BlockDimension::make(rows, grid.rows, {}, panel_elements),
          BlockDimension::make(cols, grid.cols, {}, panel_elements), grid, Symmetry::none};
}

std::vector<Index> mixed_sizes(Index blocks) {
  std::vector<Index> sizes;
  for (Index i = 0; i < blocks; ++i) sizes.push_back(std::vector<Index>{13, 5, 5, 0, 1}[std::size_t(i % 5)]);
  return sizes;
}

/// Largest / mean of the elements of each owner.
double imbalance(const BlockDimension& d) {
  std::vector<Index> of_owner(static_cast<std::size_t>(d.owner_count()), 0);
  for (Index block = 0; block < d.blocks(); ++block)
    of_owner[static_cast<std::size_t>(d.owner(block))] += d.size(block);
  return double(*std::max_element(of_owner.begin(), of_owner.end())) * d.owner_count() / double(d.elements());
}

TEST(BlockPermutation, HasEachNumberOnce) {
  for (const Index blocks : {0, 1, 2, 17, 1000}) {
    const auto order = random_block_permutation(blocks, 3);
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (Index i = 0; i < blocks; ++i) ASSERT_EQ(sorted[std::size_t(i)], i);
    const auto inverse = inverse_permutation(order);
    for (Index i = 0; i < blocks; ++i) ASSERT_EQ(inverse[std::size_t(order[std::size_t(i)])], i);
    EXPECT_EQ(order, random_block_permutation(blocks, 3));
  }
  EXPECT_NE(random_block_permutation(100, 1), random_block_permutation(100, 2));
  // Each number comes to each place about as often: 600 of 6000.
  std::vector<int> first(10, 0);
  for (std::uint64_t seed = 0; seed < 6000; ++seed)
    ++first[std::size_t(random_block_permutation(10, seed)[0])];
  for (const int times : first) EXPECT_NEAR(times, 600, 120);
  EXPECT_THROW(random_block_permutation(-1), InvalidArgument);
  for (const std::vector<Index>& bad : {std::vector<Index>{0, 0}, {1, 2}, {-1, 0}})
    EXPECT_THROW(inverse_permutation(bad), InvalidArgument);
}

TEST(HomogenizedLayout, DealsAllBlocksEvenly) {
  for (const auto& [rows, cols] : {std::pair(1, 1), {2, 2}, {2, 3}, {3, 2}, {1, 5}, {4, 4}}) {
    const auto sizes = mixed_sizes(3000);
    const BlockLayout plain = plain_layout(sizes, sizes, {.rows = rows, .cols = cols}, 400),
                      even = homogenized_layout(plain, 5);
    for (const BlockDimension* d : {even.rows.get(), even.cols.get()}) {
      EXPECT_TRUE(d->same_sizes(*plain.rows));
      EXPECT_LT(imbalance(*d), 1.02) << rows << " x " << cols;
      EXPECT_EQ(d->panels() % (rows * cols), 0);
      for (Index p = 0; p < d->panels(); ++p) {
        Index elements = 0;
        for (const Index block : d->panel(p)) {
          EXPECT_EQ(d->panel_of(block), p);
          elements += d->size(block);
        }
        EXPECT_TRUE(std::is_sorted(d->panel(p).begin(), d->panel(p).end()));
        EXPECT_NEAR(double(elements), 400, 130);
      }
    }
    // A product of such matrices needs no images, and every rank has its share of the diagonal.
    EXPECT_TRUE(even.rows->same_panels(*even.cols));
    std::vector<Index> diagonal(std::size_t(rows * cols), 0);
    for (Index block = 0; block < 3000; ++block) ++diagonal[std::size_t(even.owner(block, block))];
    for (const Index blocks : diagonal) EXPECT_NEAR(double(blocks) * rows * cols / 3000, 1, 0.15);
    EXPECT_TRUE(homogenized_layout(plain, 5) == even);
    if (rows * cols > 1) {
      EXPECT_FALSE(homogenized_layout(plain, 6) == even);
    }
  }
}

/// Every part of the matrix is dealt to all owners.
TEST(HomogenizedLayout, DealsEveryPart) {
  const std::vector<Index> sizes(4000, 5);
  const auto d = homogenized_layout(plain_layout(sizes, sizes, {.rows = 2, .cols = 2}, 500)).rows;
  for (Index first = 0; first < 4000; first += 400) {
    Index of_first_owner = 0;
    for (Index block = first; block < first + 400; ++block) of_first_owner += d->owner(block) == 0;
    EXPECT_NEAR(double(of_first_owner), 200, 40);
  }
}

TEST(HomogenizedLayout, OfNothingOfGhostsAndOfFewBlocks) {
  const ProcessGrid grid{.rows = 2, .cols = 3};
  for (const std::vector<Index>& sizes :
       {std::vector<Index>{}, {0, 0, 0}, {7}, {3, 0, 5}, std::vector<Index>(100000, 0)}) {
    const BlockLayout even = homogenized_layout(plain_layout(sizes, sizes, grid, 0));
    EXPECT_EQ(even.rows->blocks(), Index(sizes.size()));
    for (Index p = 0; p < even.rows->panels(); ++p) EXPECT_FALSE(even.rows->panel(p).empty());
  }
  // More blocks than one panel may have, of one rank.
  std::vector<Index> sizes(200000, 0);
  sizes.front() = 3;
  EXPECT_EQ(homogenized_layout(plain_layout(sizes, sizes, {}, 0)).rows->blocks(), 200000);
  EXPECT_THROW(homogenized_layout({}), InvalidArgument);
  BlockLayout bad = plain_layout({1}, {1}, {}, 0);
  bad.grid.rows = 0;
  EXPECT_THROW(homogenized_layout(bad), InvalidArgument);
}

template <class T>
using PermuteBlocks = RuntimeTest<T>;
TYPED_TEST_SUITE(PermuteBlocks, Scalars);

TYPED_TEST(PermuteBlocks, EverySymmetry) {
  for (std::uint64_t seed = 1; seed < 4; ++seed) check_permutations<TypeParam>(this->runtime(), 10 * seed);
}

TYPED_TEST(PermuteBlocks, NothingAndEmptyDimensions) {
  using T = TypeParam;
  for (const auto& [rows, cols] : std::vector<std::pair<std::vector<Index>, std::vector<Index>>>{
           {{}, {}}, {{3, 4}, {}}, {{0, 0}, {0}}, {{3, 0, 2}, {4, 1}}})
    for (const double occupation : {0.0, 1.0})
      check_permuted(
          drawn_matrix<T>(this->runtime(), make_block_layout(this->runtime(), rows, cols), occupation, 1),
          random_block_permutation(Index(rows.size()), 1), random_block_permutation(Index(cols.size()), 2));
}

/// P A Q^T Q B P^T = P (A B) P^T.
TYPED_TEST(PermuteBlocks, AProductOfPermutedMatrices) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const BlockLayout layout = random_layout(runtime, square, square, Symmetry::none, 4);
  const auto a = drawn_matrix<T>(runtime, layout, 0.5, 1), b = drawn_matrix<T>(runtime, layout, 0.5, 2);
  const auto p = random_block_permutation(a.block_rows(), 1), q = random_block_permutation(a.block_rows(), 2);
  BlockSparseMatrix<T> c, pa, pb, pc, back;
  const auto submitted = [&](const auto& submit) {
    Sequence sequence(runtime);
    submit(sequence);
    ASSERT_TRUE(sequence.wait().ok());
  };
  submitted([&](Sequence& sequence) {
    c = zero_matrix<T>(sequence, a.pattern_pointer());
    pa = permute_blocks<T>(sequence, a, p, q);
    pb = permute_blocks<T>(sequence, b, q, p);
    pc = permute_blocks<T>(sequence, c, p, p);
  });
  ASSERT_TRUE(tessera::multiply({.a = a, .b = b, .c = c}));
  ASSERT_TRUE(tessera::multiply({.a = pa, .b = pb, .c = pc}));
  submitted([&](Sequence& sequence) {
    back = permute_blocks<T>(sequence, pc, inverse_permutation(p), inverse_permutation(p));
  });
  EXPECT_LE(difference(contents_of(back).elements, contents_of(c).elements), 100 * double(precision<T>));
}

using PermuteBlocksErrors = RuntimeTest<double>;

TEST_F(PermuteBlocksErrors, BadPermutations) {
  Sequence sequence(runtime());
  const BlockLayout layout = make_block_layout(runtime(), {2, 3}, {1, 4, 2});
  const auto a = drawn_matrix<double>(runtime(), layout, 1, 1);
  const std::vector<Index> two{1, 0}, three{2, 0, 1}, twice{1, 1}, outside{0, 2};
  EXPECT_NO_THROW(permute_blocks<double>(sequence, a, two, three));
  EXPECT_THROW(permute_blocks<double>(sequence, a, three, three), InvalidArgument);
  EXPECT_THROW(permute_blocks<double>(sequence, a, two, two), InvalidArgument);
  EXPECT_THROW(permute_blocks<double>(sequence, a, twice, three), InvalidArgument);
  EXPECT_THROW(permute_blocks<double>(sequence, a, outside, three), InvalidArgument);
  EXPECT_THROW(permute_blocks<double>(sequence, BlockSparseMatrix<double>(), two, three), InvalidArgument);
  const auto half = drawn_matrix<double>(
      runtime(), make_block_layout(runtime(), {2, 3}, {2, 3}, Symmetry::symmetric), 1, 1);
  const std::vector<Index> same{0, 1};
  EXPECT_THROW(permute_blocks<double>(sequence, half, two, same), InvalidArgument);
  EXPECT_NO_THROW(permute_blocks<double>(sequence, half, two, two));
  sequence.wait();
}

}  // namespace
}  // namespace tessera::test
