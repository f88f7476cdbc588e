// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/dense_reference.hpp>

#include <tessera/block_operations.hpp>
#include <tessera/submatrices.hpp>

/// Principal submatrices, compared with the dense matrix element by element. All collective.
namespace tessera::test {

/// Rows and columns of elements that a submatrix has.
inline std::vector<Index> elements_of(const PrincipalSubmatrix& s, const BlockDimension& dimension) {
  std::vector<Index> elements;
  for (const Index block : s.blocks)
    for (Index i = dimension.first(block); i < dimension.first(block + 1); ++i) elements.push_back(i);
  return elements;
}

/// Blocks and columns drawn at random, on owners in turn; the whole matrix and nothing among them.
inline std::vector<PrincipalSubmatrix> drawn_submatrices(const BlockDimension& dimension, int ranks,
                                                         std::uint64_t seed) {
  std::vector<PrincipalSubmatrix> result(6);
  for (std::size_t s = 0; s < result.size(); ++s) {
    result[s].owner = static_cast<int>((seed + s) % static_cast<std::size_t>(ranks));
    for (Index b = 0; b < dimension.blocks(); ++b) {
      if (s == 0 || (s > 1 && random_number(seed + s, b) < 0.5)) result[s].blocks.push_back(b);
      if (!result[s].blocks.empty() && result[s].blocks.back() == b && random_number(seed + s + 50, b) < 0.5)
        result[s].columns.push_back(b);
    }
  }
  return result;
}

template <class T>
void check_extraction(Runtime& runtime, const BlockLayout& layout, std::uint64_t seed) {
  const auto a = drawn_matrix<T>(runtime, layout, 0.5, seed);
  const Matrix<T> dense = contents_of(a).elements;
  const auto submatrices = drawn_submatrices(*layout.rows, runtime.size(), seed);
  Sequence sequence(runtime);
  const auto pieces = principal_submatrices(sequence, a, submatrices);
  ASSERT_TRUE(sequence.wait().ok());
  ASSERT_EQ(pieces.size(), submatrices.size());
  for (std::size_t s = 0; s < pieces.size(); ++s) {
    EXPECT_EQ(pieces[s].owner(), submatrices[s].owner);
    const auto elements = elements_of(submatrices[s], *layout.rows);
    const auto order = static_cast<Index>(elements.size());
    EXPECT_EQ(submatrices[s].begins(*layout.rows).back(), order);
    if (!pieces[s].local() || order == 0) continue;
    const HostAccess access(pieces[s], HostAccess::Mode::read);
    const MatrixView<const T> found = access.matrix<const T>();
    ASSERT_EQ(found.rows, order);
    ASSERT_EQ(found.cols, order);
    for (Index j = 0; j < order; ++j)
      for (Index i = 0; i < order; ++i)
        EXPECT_EQ(found(i, j),
                  dense(elements[static_cast<std::size_t>(i)], elements[static_cast<std::size_t>(j)]))
            << s << ' ' << i << ' ' << j;
  }
}

/// Fills the pieces with random numbers and writes them back: the stored blocks of the columns change, no
/// others. Of several submatrices that have a block the last one counts.
template <class T>
void check_scatter(Runtime& runtime, const BlockLayout& layout, std::uint64_t seed) {
  const auto b = drawn_matrix<T>(runtime, layout, 0.6, seed);
  const Contents<T> before = contents_of(b, false);
  const auto submatrices = drawn_submatrices(*layout.rows, runtime.size(), seed + 1);
  Matrix<T> expected = before.elements;
  std::vector<Data> pieces;
  for (std::size_t s = 0; s < submatrices.size(); ++s) {
    const auto elements = elements_of(submatrices[s], *layout.rows);
    const auto order = static_cast<Index>(elements.size());
    pieces.push_back(Data::matrix(runtime, std::max<Index>(order, 1), std::max<Index>(order, 1), sizeof(T),
                                  submatrices[s].owner));
    if (pieces[s].local()) {
      const HostAccess access(pieces[s], HostAccess::Mode::write);
      const MatrixView<T> values = access.matrix<T>();
      for (Index j = 0; j < order; ++j)
        for (Index i = 0; i < order; ++i) values(i, j) = random_scalar<T>(seed + s, i, j);
    }
    for (Index j = 0; j < order; ++j)
      for (Index i = 0; i < order; ++i) {
        const Index row = elements[static_cast<std::size_t>(i)], col = elements[static_cast<std::size_t>(j)];
        const BlockCoordinate at{layout.rows->block_of(row), layout.cols->block_of(col)};
        if (before.blocks.contains(at) &&
            std::binary_search(submatrices[s].columns.begin(), submatrices[s].columns.end(), at.col))
          expected(row, col) = random_scalar<T>(seed + s, i, j);
      }
  }
  // In diagonal blocks of half-stored matrices the lower triangle counts.
  for (Index block = 0; block < layout.rows->blocks() && layout.symmetry != Symmetry::none; ++block)
    for (Index j = layout.cols->first(block); j < layout.cols->first(block + 1); ++j)
      for (Index i = layout.rows->first(block); i <= j; ++i) {
        const T x = expected(j, i);
        expected(i, j) = mirror_image(layout.symmetry, x);
        if (i != j) continue;
        if (layout.symmetry == Symmetry::hermitian) expected(i, i) = T(real_part(x));
        if (layout.symmetry == Symmetry::antisymmetric) expected(i, i) = T(0);
      }
  Sequence sequence(runtime);
  scatter_submatrices(sequence, submatrices, std::span<const Data>(pieces), b);
  ASSERT_TRUE(sequence.wait().ok());
  const Contents<T> after = contents_of(b, false);
  EXPECT_EQ(after.blocks, before.blocks);
  EXPECT_EQ(difference(after.elements, expected), 0);
}

/// The rows stored in some columns, and the columns, by a walk over all blocks.
inline void check_blocks_of_columns(const BlockPattern& pattern, std::uint64_t seed) {
  const Index n = pattern.cols().blocks();
  std::vector<std::vector<Index>> groups(4);
  for (std::size_t g = 1; g < groups.size(); ++g)
    for (Index j = n - 1; j >= 0; --j)
      if (random_number(seed + g, j) < 0.3) groups[g].push_back(j);
  const auto submatrices = submatrices_for(pattern, groups);
  ASSERT_EQ(submatrices.size(), groups.size());
  const bool half = pattern.layout().symmetry != Symmetry::none;
  const auto whole = pattern.gathered();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::set<Index> expected(groups[g].begin(), groups[g].end());
    for (const Index j : groups[g])
      for (Index i = 0; i < n; ++i)
        if (whole->find(i, j) || (half && whole->find(j, i))) expected.insert(i);
    EXPECT_EQ(submatrices[g].blocks, std::vector<Index>(expected.begin(), expected.end()));
    EXPECT_EQ(submatrix_blocks(pattern, groups[g]), submatrices[g].blocks);
    EXPECT_EQ(submatrices[g].columns, std::vector<Index>(groups[g].rbegin(), groups[g].rend()));
    EXPECT_TRUE(submatrices[g].owner >= 0 && submatrices[g].owner < pattern.runtime().size());
  }
}

/// One submatrix for each block column: extracted and written back they leave the matrix as it is.
template <class T>
void check_round_trip(Runtime& runtime, const BlockLayout& layout, std::uint64_t seed) {
  const auto a = drawn_matrix<T>(runtime, layout, 0.4, seed);
  check_blocks_of_columns(a.pattern(), seed);
  std::vector<std::vector<Index>> groups;
  for (Index j = 0; j < a.block_cols(); ++j) groups.push_back({j});
  const auto submatrices = submatrices_for(a.pattern(), groups);
  Sequence sequence(runtime);
  const auto pieces = principal_submatrices(sequence, a, submatrices);
  const auto b = zero_matrix<T>(sequence, a.pattern_pointer());
  scatter_submatrices(sequence, submatrices, std::span<const Data>(pieces), b);
  ASSERT_TRUE(sequence.wait().ok());
  EXPECT_EQ(difference(contents_of(b).elements, contents_of(a).elements), 0);
}

template <class T>
void check_submatrices(Runtime& runtime, const std::vector<Index>& sizes, Symmetry symmetry,
                       std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << type_letter<T> << " symmetry " << static_cast<char>(symmetry)
                                    << " seed " << seed);
  const BlockLayout layout = random_layout(runtime, sizes, sizes, symmetry, seed);
  check_extraction<T>(runtime, layout, seed);
  check_scatter<T>(runtime, layout, seed);
  check_round_trip<T>(runtime, layout, seed);
}

}  // namespace tessera::test
