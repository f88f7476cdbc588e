// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/block_sparse/block_diagonal_checks.hpp>
#include <tests/algorithms/block_sparse/submatrix_checks.hpp>
#include <tests/algorithms/block_sparse/tiled_checks.hpp>
#include <tests/support/mpi_test.hpp>

namespace tessera::test {
namespace {

using DensePartsMpi = MpiTest;

TEST_F(DensePartsMpi, Submatrices) {
  std::uint64_t seed = 10;
  for (const Symmetry symmetry : all_symmetries) {
    check_submatrices<double>(runtime(), square, symmetry, ++seed);
    check_submatrices<std::complex<float>>(runtime(), square, symmetry, ++seed);
  }
}

TEST_F(DensePartsMpi, Tiles) {
  std::uint64_t seed = 30;
  for (const Symmetry symmetry : all_symmetries) {
    check_square_tiles<float>(runtime(), symmetry, ++seed);
    check_square_tiles<std::complex<double>>(runtime(), symmetry, ++seed);
  }
  check_rectangular_tiles<double>(runtime(), square, wide, 5);
  check_rectangular_tiles<double>(runtime(), {}, wide, 5);
}

TEST_F(DensePartsMpi, BlockDiagonalFactors) {
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    check_factors<double>(runtime(), random_layout(runtime(), square, square, Symmetry::hermitian, seed));
    check_inverse<std::complex<double>>(runtime(),
                                        random_layout(runtime(), square, square, Symmetry::none, seed));
  }
}

/// One bad block on one rank: every rank hears of it.
TEST_F(DensePartsMpi, ABadBlockIsNamedOnAllRanks) {
  const std::vector<Index> sizes{3, 2, 4, 2, 5, 1};
  const BlockLayout layout = random_layout(runtime(), sizes, sizes, Symmetry::symmetric, 4);
  Matrix<double> dense = diagonal_dominant<double>(layout, 1);
  dense(15, 15) = -1;  // in block 4
  const auto a = drawn_matrix(runtime(), layout, dense, 1, 1);
  Sequence sequence(runtime());
  const auto l = block_diagonal_cholesky(sequence, a);
  const Status status = sequence.wait();
  EXPECT_EQ(status.code, StatusCode::block_not_positive_definite);
  EXPECT_EQ(status.index, 5);
}

/// Arguments that differ are refused on all ranks, and the runtime goes on.
TEST_F(DensePartsMpi, DifferentSubmatricesAreRefused) {
  if (runtime().size() == 1) GTEST_SKIP() << "one rank";
  const BlockLayout layout = random_layout(runtime(), square, square, Symmetry::none, 4);
  const auto a = drawn_matrix<double>(runtime(), layout, 1, 1);
  Sequence sequence(runtime());
  const Index mine = runtime().rank() == 0 ? 1 : 2;
  EXPECT_THROW(principal_submatrix(sequence, a, {.blocks = {0, mine}}), InvalidArgument);
  EXPECT_THROW(principal_submatrix(sequence, a, {.blocks = {0, 1}, .owner = int(mine - 1)}), InvalidArgument);
  EXPECT_TRUE(sequence.wait().ok());
}

}  // namespace
}  // namespace tessera::test
