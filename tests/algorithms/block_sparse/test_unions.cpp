// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/multiply.hpp>

#include "union_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace operations_test;

template <class T>
class BlockSparseUnions : public test::RuntimeTest<T> {};
TYPED_TEST_SUITE(BlockSparseUnions, test::Scalars);

TYPED_TEST(BlockSparseUnions, SumsOfFilteredMatrices) {
  check_all_sums<TypeParam>(this->runtime(), 5, all_symmetries);
  for (const auto& [rows, cols] : rectangles)
    for_rectangle<TypeParam>(this->runtime(), rows, cols, 3,
                             [&](const BlockLayout& layout, const BlockLayout&) {
                               check_filtered_sums<TypeParam>(this->runtime(), layout);
                             });
}

class PatternUnions : public test::RuntimeTest<double> {};

TEST_F(PatternUnions, ByTasksAsOnTheHost) {
  for (const unsigned seed : {0u, 7u, 9u}) check_all_unions(runtime(), seed);
  for (const auto& [rows, cols] : rectangles)
    check_unions(runtime(), random_layout(runtime(), rows, cols, Symmetry::none, 3));
}

/// Rows of more words of bits than one, and more rows than a panel's kernels take at a time.
TEST_F(PatternUnions, OfWidePanels) {
  std::vector<Index> rows(150, 2), cols(333, 1);
  rows[7] = 0;
  cols[64] = 3;
  const BlockLayout whole = make_block_layout(runtime(), rows, cols);
  BlockLayout wide = whole;
  wide.rows = BlockDimension::make(rows, 1, {}, 1 << 20);
  wide.cols = BlockDimension::make(cols, 1, {}, 1 << 20);
  for (const BlockLayout& layout : {whole, wide})
    for (const double of_b : {0.02, 0.7})
      check_union(runtime(), drawn_pattern(runtime(), layout, 47, 0.1),
                  drawn_pattern(runtime(), layout, 48, of_b));
}

TEST_F(PatternUnions, WaitForTheirSizeAlone) {
  const std::vector<Index> sizes = mixed_sizes();
  check_union_waits(runtime(), make_block_layout(runtime(), sizes, sizes));
}

/// A sequence in which something has failed does nothing more; the pattern of a sum is whole nevertheless.
TEST_F(PatternUnions, AreWholeAfterAFailure) {
  const std::vector<Index> sizes = mixed_sizes();
  const BlockLayout layout = make_block_layout(runtime(), sizes, sizes);
  auto a = filtered_problem<double>(runtime(), layout, 45);
  const auto b = filtered_problem<double>(runtime(), layout, 46);
  const auto expected = unite_on_host(a.pattern_pointer(), b.pattern());
  {
    Sequence sequence(runtime());
    sequence.fail(StatusCode::task_failed, 0, 0);
    add(sequence, 1.0, a, 1.0, b);
    EXPECT_FALSE(sequence.wait().ok());
  }
  expect_same_pattern(a.pattern(), *expected);
}

/// The same of what the filter of a product leaves.
TEST_F(PatternUnions, OfFilteredProductsAreWholeAfterAFailure) {
  const std::vector<Index> sizes = mixed_sizes();
  const BlockLayout layout = make_block_layout(runtime(), sizes, sizes);
  const auto a = filtered_problem<double>(runtime(), layout, 45),
             b = filtered_problem<double>(runtime(), layout, 46);
  const auto product = [&](Sequence& sequence) {
    BlockSparseMatrix<double> c(empty_pattern(runtime(), layout));
    const MultiplyResult r =
        multiply<double>(runtime(), {.a = a, .b = b, .c = c}, {.filter_eps = 2, .sequence = &sequence});
    EXPECT_TRUE(r);
    EXPECT_GT(r.filtered_blocks, 0);
    return c.pattern_pointer();
  };
  Sequence good(runtime()), failed(runtime());
  failed.fail(StatusCode::task_failed, 0, 0);
  const BlockPatternPointer expected = product(good), found = product(failed);
  EXPECT_FALSE(failed.wait().ok());
  EXPECT_TRUE(good.wait().ok());
  EXPECT_GT(expected->blocks(), 0);
  expect_same_pattern(*found, *expected);
}

}  // namespace
}  // namespace tessera
