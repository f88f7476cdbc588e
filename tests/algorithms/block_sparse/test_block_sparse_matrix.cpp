// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/block_sparse/dense_reference.hpp>
#include <tests/support/runtime_test.hpp>

namespace tessera::test {
namespace {

template <class T>
using BlockSparseMatrixTest = RuntimeTest<T>;
TYPED_TEST_SUITE(BlockSparseMatrixTest, Scalars);

const std::vector<Index> sizes{3, 0, 5, 1, 2, 0, 4}, others{2, 7, 0, 1};

/// Column-major values of a block of a dense matrix.
template <class T>
std::vector<T> block_of(const Matrix<T>& dense, const BlockLayout& layout, Index row, Index col) {
  std::vector<T> values;
  for (Index j = layout.cols->first(col); j < layout.cols->first(col + 1); ++j)
    for (Index i = layout.rows->first(row); i < layout.rows->first(row + 1); ++i)
      values.push_back(dense(i, j));
  return values;
}

TYPED_TEST(BlockSparseMatrixTest, HoldsWhatIsPut) {
  using T = TypeParam;
  for (const Symmetry symmetry : all_symmetries)
    for (const double occupation : {0.0, 0.4, 1.0}) {
      const BlockLayout layout = random_layout(this->runtime(), sizes, sizes, symmetry, 3);
      const Matrix<T> dense = random_dense<T>(layout, 1);
      const auto a = drawn_matrix(this->runtime(), layout, dense, occupation, 2);
      EXPECT_EQ(difference(contents_of(a).elements, drawn_dense(layout, dense, occupation, 2)), 0);
      for (Index i = 0; i < a.block_rows(); ++i)
        for (Index j = 0; j < a.block_cols(); ++j) {
          const auto values = a.get_block(i, j);
          ASSERT_EQ(values.has_value(), drawn(layout, occupation, 2, i, j));
          if (values) {
            EXPECT_EQ(*values, block_of(dense, layout, i, j));
          }
        }
    }
  const BlockLayout layout = random_layout(this->runtime(), sizes, others, Symmetry::none, 4);
  const Matrix<T> dense = random_dense<T>(layout, 1);
  const auto a = drawn_matrix(this->runtime(), layout, dense, 0.5, 2);
  EXPECT_EQ(difference(contents_of(a).elements, drawn_dense(layout, dense, 0.5, 2)), 0);
}

TYPED_TEST(BlockSparseMatrixTest, ReplacesBlocks) {
  using T = TypeParam;
  for (const Symmetry symmetry : all_symmetries) {
    const BlockLayout layout = random_layout(this->runtime(), sizes, sizes, symmetry, 3);
    const Matrix<T> dense = random_dense<T>(layout, 1), other = random_dense<T>(layout, 7);
    auto a = drawn_matrix(this->runtime(), layout, dense, 1, 2);
    // Blocks below, above and on the diagonal; the columns of the source have gaps (ld > rows).
    for (const auto& [row, col] : std::vector<std::pair<Index, Index>>{{2, 0}, {3, 6}, {4, 4}, {1, 2}}) {
      a.put_block(row, col,
                  other.view().block(layout.rows->first(row), layout.cols->first(col), layout.rows->size(row),
                                     layout.cols->size(col)));
      EXPECT_EQ(*a.get_block(row, col), block_of(other, layout, row, col));
      if (symmetry != Symmetry::none) {
        EXPECT_EQ(*a.get_block(col, row), block_of(other, layout, col, row));
      }
    }
    EXPECT_EQ(*a.get_block(6, 2), block_of(dense, layout, 6, 2));
    const std::vector<T> wrong(15);
    EXPECT_THROW(a.put_block(2, 0, {wrong.data(), 3, 5, 3}), InvalidArgument);
    EXPECT_THROW(a.put_block(7, 0, {wrong.data(), 3, 5, 3}), InvalidArgument);
    EXPECT_THROW(a.put_block(0, -1, {wrong.data(), 3, 5, 3}), InvalidArgument);
    EXPECT_THROW(a.get_block(0, 7), InvalidArgument);
  }
  const BlockLayout layout = random_layout(this->runtime(), sizes, sizes, Symmetry::none, 3);
  auto empty = drawn_matrix(this->runtime(), layout, random_dense<T>(layout, 1), 0, 2);
  const std::vector<T> values(9);
  EXPECT_THROW(empty.put_block(0, 0, {values.data(), 3, 3, 3}), InvalidArgument);
  EXPECT_FALSE(empty.get_block(0, 0).has_value());
}

TYPED_TEST(BlockSparseMatrixTest, VisitsItsBlocksInOrderOfStorage) {
  using T = TypeParam;
  const BlockLayout layout = random_layout(this->runtime(), sizes, others, Symmetry::none, 5);
  auto a = drawn_matrix(this->runtime(), layout, random_dense<T>(layout, 1), 0.7, 2);
  std::vector<BlockCoordinate> expected, visited;
  for (Index p = 0; p < a.pattern().panels(); ++p)
    for (const BlockCoordinate& at : a.pattern().coordinates(p)) expected.push_back(at);
  a.for_each_block_mutable([&](Index row, Index col, MatrixView<T> values) {
    EXPECT_EQ(values.rows, layout.rows->size(row));
    EXPECT_EQ(values.cols, layout.cols->size(col));
    for (Index j = 0; j < values.cols; ++j)
      for (Index i = 0; i < values.rows; ++i) values(i, j) = T(RealOf<T>(100 * row + col));
  });
  a.for_each_block([&](Index row, Index col, MatrixView<const T> values) {
    visited.push_back({row, col});
    for (Index j = 0; j < values.cols; ++j)
      for (Index i = 0; i < values.rows; ++i) EXPECT_EQ(values(i, j), T(RealOf<T>(100 * row + col)));
  });
  EXPECT_EQ(visited, expected);
}

TYPED_TEST(BlockSparseMatrixTest, BuilderAddsReservesAndRefuses) {
  using T = TypeParam;
  const BlockLayout layout = make_block_layout(this->runtime(), {2, 0, 3}, {2, 0, 3}, Symmetry::hermitian);
  BlockSparseBuilder<T> builder(this->runtime(), layout);
  const Matrix<T> low = random_matrix<T>(3, 2, 1), high = random_matrix<T>(2, 3, 2, 4),
                  first = random_matrix<T>(3, 3, 3), second = random_matrix<T>(3, 3, 4);
  builder.reserve(2, 2);
  builder.reserve(0, 2);  // means block (2, 0)
  builder.put(2, 0, low.view());
  builder.add(0, 2, high.view());
  builder.add(2, 2, first.view());
  builder.add(2, 2, second.view());
  builder.put(1, 1, {low.data(), 0, 0, 0});
  builder.put(1, 0, {low.data(), 0, 2, 0});
  const auto refuse = [&](Index row, Index col, Index rows, Index cols) {
    EXPECT_THROW(builder.put(row, col, {low.data(), rows, cols, 3}), InvalidArgument);
  };
  refuse(2, 0, 3, 2);  // was put before
  refuse(0, 2, 2, 3);  // its mirror image was put before
  refuse(2, 2, 3, 3);  // was added before
  refuse(1, 1, 0, 0);  // was put before, though of size zero
  refuse(0, 0, 3, 2);
  refuse(0, 2, 3, 2);
  refuse(3, 0, 3, 2);
  refuse(0, -1, 3, 2);
  EXPECT_THROW(builder.add(0, 0, {low.data(), 2, 3, 2}), InvalidArgument);
  EXPECT_THROW(builder.reserve(0, 3), InvalidArgument);
  const auto a = builder.finalize();
  EXPECT_EQ(a.pattern().blocks(), 4);
  const auto sum = *a.get_block(2, 0);
  for (Index j = 0; j < 2; ++j)
    for (Index i = 0; i < 3; ++i)
      EXPECT_EQ(sum[static_cast<std::size_t>(i + 3 * j)], low(i, j) + conjugate(high(j, i)));
  const auto square = *a.get_block(2, 2);
  EXPECT_EQ(square[5], random_scalar<T>(3, 2, 1) + random_scalar<T>(4, 2, 1));
  EXPECT_FALSE(a.get_block(0, 0).has_value());
  EXPECT_EQ(builder.finalize().pattern().blocks(), 0);
}

TYPED_TEST(BlockSparseMatrixTest, BuilderReservesBlocksOfZeros) {
  using T = TypeParam;
  for (const Symmetry symmetry : all_symmetries) {
    const BlockLayout layout = random_layout(this->runtime(), sizes, sizes, symmetry, 3);
    BlockSparseBuilder<T> builder(this->runtime(), layout);
    builder.reserve_diagonal();
    const auto diagonal = builder.finalize();
    EXPECT_EQ(diagonal.pattern().blocks(), 7);
    builder.reserve_all();
    const auto all = builder.finalize();
    EXPECT_EQ(all.pattern().blocks(), symmetry == Symmetry::none ? 49 : 28);
    EXPECT_EQ(difference(contents_of(all).elements, Matrix<T>(15, 15)), 0);
    Sequence sequence(this->runtime());
    const auto zero = zero_matrix<T>(sequence, all.pattern_pointer());
    ASSERT_TRUE(sequence.wait().ok());
    EXPECT_EQ(contents_of(zero).blocks, contents_of(all).blocks);
    EXPECT_EQ(difference(contents_of(zero).elements, Matrix<T>(15, 15)), 0);
  }
}

TYPED_TEST(BlockSparseMatrixTest, BuilderKeepsManyBlocks) {
  using T = TypeParam;
  const std::vector<Index> many(300, 2);
  const BlockLayout layout = make_block_layout(this->runtime(), many, many);
  BlockSparseBuilder<T> builder(this->runtime(), layout);
  Index put = 0;
  for (Index j = 0; j < 300; ++j)
    for (Index i = 0; i < 300; i += 1 + (i + j) % 2, ++put) {
      const std::vector<T> values(4, T(RealOf<T>(i + 300 * j)));
      builder.put(i, j, {values.data(), 2, 2, 2});
    }
  const auto a = builder.finalize();
  EXPECT_EQ(a.pattern().blocks(), put);
  a.for_each_block([&](Index i, Index j, MatrixView<const T> values) {
    EXPECT_EQ(values(1, 1), T(RealOf<T>(i + 300 * j)));
  });
}

}  // namespace
}  // namespace tessera::test
