// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/block_sparse/copy_checks.hpp>
#include <tests/algorithms/block_sparse/pattern_checks.hpp>

namespace tessera::test {
namespace {

TEST(BlockSparseMpi, PatternsOfRandomDistributions) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    check_patterns(runtime, random_layout(runtime, square, wide, Symmetry::none, seed), 0.4, seed);
    check_patterns(runtime, random_layout(runtime, square, square, Symmetry::symmetric, seed), 0.4, seed);
  }
  check_patterns(runtime, random_layout(runtime, square, square, Symmetry::none, 9), 0, 9);
  check_patterns(runtime, make_block_layout(runtime, {}, {}), 1, 9);
}

TEST(BlockSparseMpi, BlocksBelongToTheirRanks) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  for (const Symmetry symmetry : {Symmetry::none, Symmetry::hermitian}) {
    using T = std::complex<double>;
    const BlockLayout layout = random_layout(runtime, square, square, symmetry, 3);
    const Matrix<T> dense = random_dense<T>(layout, 1);
    auto a = drawn_matrix(runtime, layout, dense, 0.5, 2);
    EXPECT_EQ(difference(contents_of(a).elements, drawn_dense(layout, dense, 0.5, 2)), 0);
    BlockSparseBuilder<T> builder(runtime, layout);
    for (Index i = 0; i < layout.rows->blocks(); ++i)
      for (Index j = 0; j < layout.cols->blocks(); ++j) {
        if (builder.owner(i, j) == runtime.rank()) continue;
        EXPECT_THROW(builder.reserve(i, j), InvalidArgument);
        EXPECT_THROW(a.get_block(i, j), InvalidArgument);
        const MatrixView<const T> values{dense.data(), layout.rows->size(i), layout.cols->size(j),
                                         dense.ld()};
        EXPECT_THROW(builder.put(i, j, values), InvalidArgument);
        EXPECT_THROW(a.put_block(i, j, values), InvalidArgument);
      }
    const auto empty = builder.finalize();
    EXPECT_EQ(empty.pattern().blocks(), 0);
  }
}

template <class T>
void check_random_distributions(Runtime& runtime, std::uint64_t seed) {
  for (const Symmetry from : all_symmetries)
    for (const Symmetry to : {Symmetry::none, from}) {
      const BlockLayout a_layout = random_layout(runtime, square, square, from, ++seed);
      const BlockLayout b_layout = random_layout(runtime, square, square, to, ++seed);
      const auto a = drawn_matrix<T>(runtime, a_layout, 0.4, seed);
      auto b = drawn_matrix<T>(runtime, b_layout, 0.5, seed + 1);
      check_copies(a, b, {{}, {2, 21, 5, 14}}, seed, 7);
      check_image(a, b_layout, Op::adjoint, false, {});
    }
}

TEST(BlockSparseMpi, CopiesBetweenRandomDistributions) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  check_random_distributions<double>(runtime, 100);
  check_random_distributions<std::complex<float>>(runtime, 200);
}

TEST(BlockSparseMpi, RectangularImages) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    const BlockLayout layout = random_layout(runtime, square, wide, Symmetry::none, seed);
    const auto a = drawn_matrix<double>(runtime, layout, 0.6, 1);
    check_image(a, random_layout(runtime, wide, square, Symmetry::none, seed + 7), Op::transpose, false, {});
    check_image(a, random_layout(runtime, square, wide, Symmetry::none, seed + 9), Op::none, false,
                {1, 20, 3, 9});
  }
}

TEST(BlockSparseMpi, ValuesPutBetweenCopiesArriveEverywhere) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  const BlockLayout layout = random_layout(runtime, square, square, Symmetry::none, 1),
                    other = random_layout(runtime, square, square, Symmetry::none, 2);
  auto a = drawn_matrix<double>(runtime, layout, 1, 1);
  Sequence sequence(runtime);
  const auto b = zero_matrix<double>(sequence, image_pattern(a, other));
  for (std::uint64_t round = 2; round < 5; ++round) {
    const Matrix<double> dense = random_dense<double>(layout, round);
    assign(a, dense);
    copy_blocks(sequence, 1.0, a, b);
    EXPECT_EQ(difference(contents_of(b).elements, dense), 0);
  }
  EXPECT_TRUE(sequence.wait().ok());
}

}  // namespace
}  // namespace tessera::test
