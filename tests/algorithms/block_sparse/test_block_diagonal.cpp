// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include "block_diagonal_checks.hpp"

namespace tessera::test {
namespace {

template <class T>
using BlockDiagonal = RuntimeTest<T>;
TYPED_TEST_SUITE(BlockDiagonal, Scalars);

TYPED_TEST(BlockDiagonal, FactorsGiveTheBlocksBack) {
  using T = TypeParam;
  for (const Symmetry symmetry : {Symmetry::none, Symmetry::hermitian})
    for (std::uint64_t seed = 1; seed < 4; ++seed)
      check_factors<T>(this->runtime(), random_layout(this->runtime(), square, square, symmetry, seed));
}

TYPED_TEST(BlockDiagonal, InversesOfEverySymmetry) {
  using T = TypeParam;
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    check_inverse<T>(this->runtime(), random_layout(this->runtime(), square, square, Symmetry::none, seed));
    check_inverse<T>(this->runtime(),
                     random_layout(this->runtime(), square, square, Symmetry::symmetric, seed));
    check_inverse<T>(this->runtime(),
                     random_layout(this->runtime(), square, square, Symmetry::hermitian, seed));
    // Of odd order they are singular.
    check_inverse<T>(this->runtime(), random_layout(this->runtime(), {2, 6, 0, 4, 8}, {2, 6, 0, 4, 8},
                                                    Symmetry::antisymmetric, seed));
  }
}

/// Blocks that do not fit into a GPU's shared memory, beside small ones.
TYPED_TEST(BlockDiagonal, LargeBlocks) {
  using T = TypeParam;
  const std::vector<Index> sizes{4, 300, 0, 33, 1, 120};
  for (const Symmetry symmetry : {Symmetry::none, Symmetry::hermitian}) {
    const BlockLayout layout = random_layout(this->runtime(), sizes, sizes, symmetry, 3);
    check_factors<T>(this->runtime(), layout);
    check_inverse<T>(this->runtime(), layout);
  }
}

TYPED_TEST(BlockDiagonal, NothingAndEmptyBlocks) {
  using T = TypeParam;
  for (const std::vector<Index>& sizes : {std::vector<Index>{}, std::vector<Index>{0, 0}}) {
    const BlockLayout layout = make_block_layout(this->runtime(), sizes, sizes);
    check_factors<T>(this->runtime(), layout);
    check_inverse<T>(this->runtime(), layout);
  }
}

/// Block 3 of four, 2 from above, is made bad.
template <class T, class Change>
Status status_of(Runtime& runtime, DiagonalFactor factor, Symmetry symmetry, const Change& change) {
  const BlockLayout layout = random_layout(runtime, {3, 2, 0, 4, 2}, {3, 2, 0, 4, 2}, symmetry, 2);
  const Matrix<T> dense = diagonal_dominant<T>(layout, 1);
  auto a = drawn_matrix(runtime, layout, dense, 1, 1);
  a.for_each_block_mutable([&](Index row, Index col, MatrixView<T> values) {
    if (row == 3 && col == 3) change(values);
  });
  Sequence sequence(runtime);
  sequence.begin_stage("factors");
  const auto result = factored(sequence, a, factor);
  return sequence.wait();
}

TYPED_TEST(BlockDiagonal, BadBlocksAreNamed) {
  using T = TypeParam;
  const auto indefinite = [](MatrixView<T> a) { a(3, 3) = T(-1); };
  const auto undefined = [](MatrixView<T> a) { a(2, 1) = not_a_number<T>(); };
  const auto singular = [](MatrixView<T> a) {
    for (Index j = 0; j < a.cols; ++j)
      for (Index i = 0; i < a.rows; ++i) a(i, j) = T(i == j && i != 1 ? 1 : 0);
  };
  for (const Symmetry symmetry : {Symmetry::none, Symmetry::hermitian}) {
    for (const DiagonalFactor factor : {DiagonalFactor::cholesky, DiagonalFactor::inverse_cholesky}) {
      const auto expect = [&](const Status& status) {
        EXPECT_EQ(status.code, StatusCode::block_not_positive_definite);
        EXPECT_EQ(status.index, 4);
        EXPECT_EQ(status.message(), "factors: diagonal block 4 is not positive definite");
      };
      expect(status_of<T>(this->runtime(), factor, symmetry, indefinite));
      expect(status_of<T>(this->runtime(), factor, symmetry, undefined));
      expect(status_of<T>(this->runtime(), factor, symmetry, singular));
    }
    const auto expect = [&](const Status& status) {
      EXPECT_EQ(status.code, StatusCode::block_singular);
      EXPECT_EQ(status.index, 4);
      EXPECT_EQ(status.message(), "factors: diagonal block 4 is singular");
    };
    expect(status_of<T>(this->runtime(), DiagonalFactor::inverse, symmetry, singular));
    expect(status_of<T>(this->runtime(), DiagonalFactor::inverse, symmetry, undefined));
    EXPECT_TRUE(status_of<T>(this->runtime(), DiagonalFactor::inverse, symmetry, indefinite).ok());
  }
}

/// Whatever the size of the elements: pivots are compared, never squared.
TYPED_TEST(BlockDiagonal, InversesNearOverflowAndUnderflow) {
  using T = TypeParam;
  using R = RealOf<T>;
  const BlockLayout layout = make_block_layout(this->runtime(), {3, 5}, {3, 5});
  const Matrix<T> dense = diagonal_dominant<T>(layout, 4);
  for (const int exponent : {-30, 30}) {
    const R factor = std::pow(R(10), R(exponent));
    const auto a = drawn_matrix(this->runtime(), layout, dense, 1, 1);
    Sequence sequence(this->runtime());
    scale(sequence, T(factor), a);
    const auto x = block_diagonal_inverse(sequence, a);
    scale(sequence, T(factor), x);
    ASSERT_TRUE(sequence.wait().ok());
    expect_inverse(dense, contents_of(x).elements, layout);
  }
}

TYPED_TEST(BlockDiagonal, ABlockThatIsNotThereIsZero) {
  using T = TypeParam;
  const BlockLayout layout = make_block_layout(this->runtime(), {2, 0, 3}, {2, 0, 3});
  BlockSparseBuilder<T> builder(this->runtime(), layout);
  const Matrix<T> block = identity<T>(2);
  builder.put(0, 0, block.view());
  const auto a = builder.finalize();
  Sequence first(this->runtime());
  const auto l = block_diagonal_cholesky(first, a);
  Status status = first.wait();
  EXPECT_EQ(status.code, StatusCode::block_not_positive_definite);
  EXPECT_EQ(status.index, 3);
  Sequence second(this->runtime());
  const auto x = block_diagonal_inverse(second, a);
  status = second.wait();
  EXPECT_EQ(status.code, StatusCode::block_singular);
  EXPECT_EQ(status.index, 3);
}

TYPED_TEST(BlockDiagonal, RefusesWhatHasNoFactor) {
  using T = TypeParam;
  Sequence sequence(this->runtime());
  const auto matrix = [&](const std::vector<Index>& rows, const std::vector<Index>& cols, Symmetry symmetry) {
    return BlockSparseBuilder<T>(this->runtime(), make_block_layout(this->runtime(), rows, cols, symmetry))
        .finalize();
  };
  expect_refused("a", [&] { block_diagonal_inverse(sequence, BlockSparseMatrix<T>()); });
  const auto wide_one = matrix({2, 3}, {3, 2}, Symmetry::none);
  expect_refused("a", [&] { block_diagonal_inverse(sequence, wide_one); });
  expect_refused("a", [&] { block_diagonal_cholesky(sequence, wide_one); });
  expect_refused("a", [&] {
    block_diagonal_cholesky(sequence, matrix({2, 3}, {2, 3}, Symmetry::antisymmetric));
  });
  if (is_complex<T>)
    expect_refused("a", [&] {
      block_diagonal_inverse_cholesky(sequence, matrix({2, 3}, {2, 3}, Symmetry::symmetric));
    });
}

}  // namespace
}  // namespace tessera::test
