// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/dense_reference.hpp>

#include <tessera/block_operations.hpp>

/// Block-sparse matrices into tiles and back, compared with dense ones. All collective.
namespace tessera::test {

/// visit(row, column, element) for the elements of this rank's tiles, that count.
template <class T, class Visit>
void each_tile_element(const TiledMatrix<T>& tiled, HostAccess::Mode mode, const Visit& visit) {
  const TileLayout& layout = tiled.layout();
  for (Index q = 0; q < tiled.col_tiles(); ++q)
    for (Index p = 0; p < tiled.row_tiles(); ++p) {
      if (!layout.exists(p, q) || !tiled.tile(p, q).local()) continue;
      const HostAccess access(tiled.tile(p, q), mode);
      const MatrixView<T> tile = access.matrix<T>();
      for (Index j = 0; j < tile.cols; ++j)
        for (Index i = 0; i < tile.rows; ++i)
          visit(p * layout.tile_rows + i, q * layout.tile_cols + j, tile(i, j));
    }
}

inline bool counts(Uplo uplo, Index i, Index j) {
  return uplo == Uplo::general || (uplo == Uplo::lower ? i >= j : i <= j);
}

template <class T>
void check_to_tiled(const BlockSparseMatrix<T>& a, const TileLayout& layout) {
  const Matrix<T> dense = contents_of(a).elements;
  Sequence sequence(a.runtime());
  const TiledMatrix<T> tiled = to_tiled(sequence, a, layout);
  ASSERT_TRUE(sequence.wait().ok());
  each_tile_element(tiled, HostAccess::Mode::read, [&](Index i, Index j, T x) {
    if (counts(layout.uplo, i, j)) EXPECT_EQ(x, dense(i, j)) << i << ' ' << j;
  });
  // Once more, over what is there.
  Sequence again(a.runtime());
  copy_to_tiled(again, a, tiled);
  ASSERT_TRUE(again.wait().ok());
  each_tile_element(tiled, HostAccess::Mode::read, [&](Index i, Index j, T x) {
    if (counts(layout.uplo, i, j)) EXPECT_EQ(x, dense(i, j)) << i << ' ' << j;
  });
}

/// Tiles of a dense matrix, NaN in the triangle that does not count.
template <class T>
TiledMatrix<T> tiled_of(Runtime& runtime, const Matrix<T>& dense, const TileLayout& layout) {
  TiledMatrix<T> tiled(runtime, layout);
  each_tile_element(tiled, HostAccess::Mode::write, [&](Index i, Index j, T& x) {
    x = counts(layout.uplo, i, j) ? dense(i, j) : not_a_number<T>();
  });
  return tiled;
}

/// What a layout makes of a matrix: the lower half if it is half-stored.
template <class T>
T stored_element(const Matrix<T>& dense, Symmetry symmetry, Index i, Index j) {
  if (symmetry == Symmetry::none || i > j) return dense(i, j);
  if (i < j) return mirror_image(symmetry, dense(j, i));
  return symmetry == Symmetry::antisymmetric ? T(0)
         : symmetry == Symmetry::hermitian   ? T(real_part(dense(i, i)))
                                             : dense(i, i);
}

/// Every element of the stored blocks is that of the dense matrix.
template <class T>
void expect_elements(const BlockSparseMatrix<T>& b, const Matrix<T>& dense) {
  const Contents<T> found = contents_of(b, false);
  const BlockLayout& layout = b.layout();
  for (Index j = 0; j < b.cols(); ++j)
    for (Index i = 0; i < b.rows(); ++i) {
      const bool there = found.blocks.contains({layout.rows->block_of(i), layout.cols->block_of(j)});
      EXPECT_EQ(found.elements(i, j), there ? stored_element(dense, b.symmetry(), i, j) : T(0))
          << i << ' ' << j;
    }
}

/// Into drawn blocks, into all, and into those above a threshold.
template <class T>
void check_from_tiled(Runtime& runtime, const Matrix<T>& dense, const TileLayout& tiles,
                      const BlockLayout& layout, std::uint64_t seed) {
  const TiledMatrix<T> tiled = tiled_of(runtime, dense, tiles);
  const auto pattern = drawn_matrix<T>(runtime, layout, 0.5, seed).pattern_pointer();
  Sequence sequence(runtime);
  const auto part = from_tiled(sequence, tiled, pattern);
  const auto whole = from_tiled(sequence, tiled, layout, -1);
  ASSERT_TRUE(sequence.wait().ok());
  EXPECT_EQ(part.pattern_pointer(), pattern);
  expect_elements(part, dense);
  expect_elements(whole, dense);
  for (const double threshold : {0.0, 0.9, 100.0}) {
    Sequence other(runtime);
    const auto above = from_tiled(other, tiled, layout, threshold);
    ASSERT_TRUE(other.wait().ok());
    expect_elements(above, dense);
    const auto all_blocks = whole.pattern().gathered(), large_blocks = above.pattern().gathered();
    for (Index bj = 0; bj < layout.cols->blocks(); ++bj)
      for (Index bi = 0; bi < layout.rows->blocks(); ++bi) {
        EXPECT_EQ(all_blocks->find(bi, bj).has_value(), layout.stores(bi, bj));
        bool expected = false;
        for (Index j = layout.cols->first(bj); j < layout.cols->first(bj + 1); ++j)
          for (Index i = layout.rows->first(bi); i < layout.rows->first(bi + 1); ++i)
            expected = expected || (std::abs(dense(i, j)) > threshold && layout.stores(bi, bj));
        EXPECT_EQ(large_blocks->find(bi, bj).has_value(), expected) << bi << ' ' << bj << ' ' << threshold;
      }
  }
}

/// Tiles of these sizes for a matrix, on a grid of some ranks.
inline TileLayout tiles_of(const Runtime& runtime, const BlockLayout& layout, Index tile_rows,
                           Index tile_cols, Uplo uplo) {
  return {layout.rows->elements(),
          layout.cols->elements(),
          tile_rows,
          tile_cols,
          ProcessGrid::squarest(runtime.size()),
          uplo};
}

template <class T>
void check_rectangular_tiles(Runtime& runtime, const std::vector<Index>& rows, const std::vector<Index>& cols,
                             std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << type_letter<T> << " seed " << seed);
  const BlockLayout layout = random_layout(runtime, rows, cols, Symmetry::none, seed);
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 2}, {5, 3}, {8, 8}, {100, 4}}) {
    const TileLayout tiles = tiles_of(runtime, layout, m, n, Uplo::general);
    check_to_tiled(drawn_matrix<T>(runtime, layout, 0.5, seed), tiles);
    const Matrix<T> dense = drawn_dense(layout, random_dense<T>(layout, seed), 0.4, seed);
    check_from_tiled(runtime, dense, tiles, layout, seed + 1);
  }
}

/// Half-stored matrices, and those without symmetry, through whole matrices and triangles of tiles.
template <class T>
void check_square_tiles(Runtime& runtime, Symmetry symmetry, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << type_letter<T> << " symmetry " << static_cast<char>(symmetry)
                                    << " seed " << seed);
  const bool mirrors = symmetry == Symmetry::none || symmetry == Symmetry::hermitian ||
                       (symmetry == Symmetry::symmetric && !is_complex<T>);
  const BlockLayout layout = random_layout(runtime, square, square, symmetry, seed);
  BlockLayout of_elements = layout;
  if (symmetry == Symmetry::none) of_elements.symmetry = Symmetry::hermitian;
  const Matrix<T> dense = drawn_dense(of_elements, random_dense<T>(of_elements, seed), 0.4, seed);
  for (const Uplo uplo : {Uplo::general, Uplo::lower, Uplo::upper}) {
    if (uplo != Uplo::general && !mirrors) continue;
    for (const Index tile : {3, 10, 64}) {
      const TileLayout tiles = tiles_of(runtime, layout, tile, tile, uplo);
      check_to_tiled(drawn_matrix<T>(runtime, layout, 0.5, seed), tiles);
      check_from_tiled(runtime, dense, tiles, layout, seed + 1);
    }
  }
}

}  // namespace tessera::test
