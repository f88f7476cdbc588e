// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tests/algorithms/block_sparse/dense_reference.hpp>

#include <tessera/block_permutation.hpp>

/// Permuted block-sparse matrices, compared with their elements one by one.
namespace tessera::test {

/// Block (i, j) of the matrix is block (rows[i], cols[j]) of the permuted one, and no other is stored; the way
/// back gives the matrix. Collective.
template <class T>
void check_permuted(const BlockSparseMatrix<T>& a, const std::vector<Index>& rows,
                    const std::vector<Index>& cols) {
  Sequence sequence(a.runtime());
  const auto permuted = permute_blocks<T>(sequence, a, rows, cols);
  const auto back =
      permute_blocks<T>(sequence, permuted, inverse_permutation(rows), inverse_permutation(cols));
  ASSERT_TRUE(sequence.wait().ok());
  EXPECT_EQ(permuted.symmetry(), a.symmetry());
  const Contents<T> before = contents_of(a), after = contents_of(permuted), again = contents_of(back);
  EXPECT_EQ(again.blocks, before.blocks);
  EXPECT_EQ(difference(again.elements, before.elements), 0);
  EXPECT_EQ(after.blocks.size(), before.blocks.size());
  const BlockLayout &from = a.layout(), &to = permuted.layout();
  for (const auto& [i, j] : before.blocks) {
    const Index row = rows[static_cast<std::size_t>(i)], col = cols[static_cast<std::size_t>(j)];
    EXPECT_TRUE(after.blocks.contains({row, col})) << row << " " << col;
    ASSERT_EQ(to.rows->size(row), from.rows->size(i));
    ASSERT_EQ(to.cols->size(col), from.cols->size(j));
    for (Index y = 0; y < from.cols->size(j); ++y)
      for (Index x = 0; x < from.rows->size(i); ++x)
        ASSERT_EQ(after.elements(to.rows->first(row) + x, to.cols->first(col) + y),
                  before.elements(from.rows->first(i) + x, from.cols->first(j) + y));
  }
}

/// Matrices of every symmetry in layouts of their own. Collective.
template <class T>
void check_permutations(Runtime& runtime, std::uint64_t seed) {
  for (const Symmetry symmetry : all_symmetries) {
    ++seed;
    const BlockLayout layout = random_layout(runtime, square, square, symmetry, seed);
    const auto a = drawn_matrix<T>(runtime, layout, 0.5, seed);
    const auto rows = random_block_permutation(a.block_rows(), seed);
    check_permuted(a, rows,
                   symmetry == Symmetry::none ? random_block_permutation(a.block_cols(), seed + 1) : rows);
  }
  const auto a = drawn_matrix<T>(runtime, random_layout(runtime, square, wide, Symmetry::none, seed), 0.5, 3);
  check_permuted(a, random_block_permutation(a.block_rows(), 4), random_block_permutation(a.block_cols(), 5));
}

}  // namespace tessera::test
