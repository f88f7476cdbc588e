// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/block_sparse/copy_checks.hpp>
#include <tests/support/runtime_test.hpp>

namespace tessera::test {
namespace {

const std::vector<ElementWindow> windows{{}, {2, 21, 5, 14}, {9, 10, 0, 29}, {4, 4, 0, 9}, {-3, 100, 8, 100}};

template <class T>
using CopyBlocks = RuntimeTest<T>;
TYPED_TEST_SUITE(CopyBlocks, Scalars);

TYPED_TEST(CopyBlocks, EverySymmetryToEveryOther) {
  using T = TypeParam;
  std::uint64_t seed = 1;
  for (const Symmetry from : all_symmetries)
    for (const Symmetry to : all_symmetries) {
      const BlockLayout a_layout = random_layout(this->runtime(), square, square, from, ++seed);
      const BlockLayout b_layout = random_layout(this->runtime(), square, square, to, ++seed);
      const auto a = drawn_matrix<T>(this->runtime(), a_layout, 0.5, seed);
      auto b = drawn_matrix<T>(this->runtime(), b_layout, 0.6, seed + 1);
      check_copies(a, b, windows);
    }
}

TYPED_TEST(CopyBlocks, BetweenEqualPatterns) {
  using T = TypeParam;
  for (const Symmetry symmetry : all_symmetries) {
    const BlockLayout layout = random_layout(this->runtime(), square, square, symmetry, 4);
    const auto a = drawn_matrix(this->runtime(), layout, random_dense<T>(layout, 1), 0.5, 3);
    auto shared = BlockSparseMatrix<T>(a.pattern_pointer());
    {
      // A copy of all blocks must work for a target whose values were never written.
      Sequence sequence(this->runtime());
      copy_blocks(sequence, T(1), a, shared);
      ASSERT_TRUE(sequence.wait().ok());
    }
    EXPECT_EQ(difference(contents_of(shared).elements, contents_of(a).elements), 0);
    check_copies(a, shared, windows);
    auto equal = drawn_matrix(this->runtime(), layout, random_dense<T>(layout, 2), 0.5, 3);
    EXPECT_TRUE(a.pattern() == equal.pattern());
    check_copies(a, equal, windows);
    auto other = drawn_matrix(this->runtime(), layout, random_dense<T>(layout, 2), 0.5, 7);
    EXPECT_FALSE(a.pattern() == other.pattern());
    check_copies(a, other, windows);
  }
}

TYPED_TEST(CopyBlocks, RectangularOnes) {
  using T = TypeParam;
  const BlockLayout a_layout = random_layout(this->runtime(), square, wide, Symmetry::none, 5);
  const auto a = drawn_matrix<T>(this->runtime(), a_layout, 0.5, 1);
  const BlockLayout straight = random_layout(this->runtime(), square, wide, Symmetry::none, 6);
  auto b = drawn_matrix<T>(this->runtime(), straight, 0.7, 2);
  check_copies(a, b, windows);
  const BlockLayout turned = random_layout(this->runtime(), wide, square, Symmetry::none, 7);
  for (const Op op : {Op::transpose, Op::adjoint})
    for (const bool conjugated : {false, true})
      for (const ElementWindow& window : windows) check_image(a, turned, op, conjugated, window);
}

TYPED_TEST(CopyBlocks, Images) {
  using T = TypeParam;
  std::uint64_t seed = 30;
  for (const Symmetry from : all_symmetries)
    for (const Symmetry to : all_symmetries) {
      const BlockLayout layout = random_layout(this->runtime(), square, square, from, ++seed);
      const auto a = drawn_matrix<T>(this->runtime(), layout, 0.4, seed);
      const BlockLayout other = random_layout(this->runtime(), square, square, to, ++seed);
      for (const Op op : {Op::none, Op::transpose, Op::adjoint}) {
        check_image(a, other, op, from == to, {});
        check_image(a, other, op, false, {3, 17, 1, 22});
        check_image(a, layout, op, true, {});
      }
    }
}

TYPED_TEST(CopyBlocks, NothingAndEmptyDimensions) {
  using T = TypeParam;
  for (const auto& [rows, cols] : std::vector<std::pair<std::vector<Index>, std::vector<Index>>>{
           {{}, {}}, {{3, 4}, {}}, {{0, 0}, {0}}, {{3, 0, 2}, {4, 1}}}) {
    const BlockLayout layout = make_block_layout(this->runtime(), rows, cols),
                      turned = make_block_layout(this->runtime(), cols, rows);
    for (const double occupation : {0.0, 1.0}) {
      const auto a = drawn_matrix<T>(this->runtime(), layout, occupation, 1);
      auto b = drawn_matrix<T>(this->runtime(), layout, 0.5, 2);
      check_copies(a, b, {{}, {1, 4, 0, 3}});
      check_image(a, turned, Op::adjoint, false, {});
    }
  }
}

using CopyBlocksErrors = RuntimeTest<double>;

TEST_F(CopyBlocksErrors, AreNamed) {
  const BlockLayout layout = make_block_layout(runtime(), {2, 3}, {2, 3}),
                    other = make_block_layout(runtime(), {3, 2}, {2, 3}),
                    wide_layout = make_block_layout(runtime(), {2, 3}, {2, 3, 1});
  Sequence sequence(runtime());
  const auto matrix = [&](const BlockLayout& l) {
    return BlockSparseBuilder<double>(runtime(), l).finalize();
  };
  const auto a = matrix(layout), b = matrix(other), c = matrix(wide_layout);
  EXPECT_THROW(copy_blocks(sequence, 1.0, a, b), InvalidArgument);
  EXPECT_THROW(copy_blocks(sequence, 1.0, a, c), InvalidArgument);
  EXPECT_THROW(copy_blocks(sequence, 1.0, a, c, {.op = Op::transpose}), InvalidArgument);
  EXPECT_THROW(copy_blocks(sequence, 1.0, a, a), InvalidArgument);
  EXPECT_THROW(make_image(sequence, 1.0, a, other), InvalidArgument);
  EXPECT_THROW(make_image(sequence, 1.0, c, wide_layout, Op::adjoint), InvalidArgument);
  EXPECT_NO_THROW(make_image(sequence, 1.0, b, make_block_layout(runtime(), {2, 3}, {3, 2}), Op::transpose));
}

}  // namespace
}  // namespace tessera::test
