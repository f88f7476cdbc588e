// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <set>

#include <tests/support/matrix.hpp>

#include <tessera/block_sparse_matrix.hpp>

/// Block-sparse matrices beside their dense equivalents, built from put and iteration only.
namespace tessera::test {

inline constexpr Symmetry all_symmetries[] = {Symmetry::none, Symmetry::symmetric, Symmetry::antisymmetric,
                                              Symmetry::hermitian};

/// Block sizes, including empty blocks, for both sides of a square matrix and for a shorter side.
inline const std::vector<Index> square{3, 1, 0, 5, 2, 7, 4, 1, 0, 6}, wide{2, 0, 6, 1, 1, 3};

/// A reproducible number in [0, 1) for the given integers.
inline double random_number(std::uint64_t seed, Index i, Index j = 0) {
  return (random_uniform(seed, 2, i, j) + 1) / 2.0000001;
}

/// Value of the mirror image of element x under the symmetry.
template <class T>
T mirror_image(Symmetry symmetry, T x) {
  return symmetry == Symmetry::antisymmetric ? -x : symmetry == Symmetry::hermitian ? conjugate(x) : x;
}

/// A layout on a grid of some of the ranks, with random owners and a few blocks per panel.
inline BlockLayout random_layout(const Runtime& runtime, const std::vector<Index>& row_sizes,
                                 const std::vector<Index>& col_sizes, Symmetry symmetry, std::uint64_t seed) {
  BlockLayout layout;
  layout.grid.rows = 1 + static_cast<int>(random_number(seed, 1) * runtime.size());
  layout.grid.cols = runtime.size() / layout.grid.rows;
  layout.grid.column_major = random_number(seed, 2) < 0.5;
  layout.symmetry = symmetry;
  const auto dimension = [&](const std::vector<Index>& sizes, int count, std::uint64_t part) {
    std::vector<int> owners;
    for (std::size_t b = 0; b < sizes.size(); ++b)
      owners.push_back(static_cast<int>(random_number(seed + part, static_cast<Index>(b)) * count));
    return BlockDimension::make(sizes, count, owners, 3 + static_cast<Index>(random_number(seed, 3) * 15));
  };
  layout.rows = dimension(row_sizes, layout.grid.rows, 10);
  layout.cols = dimension(col_sizes, layout.grid.cols, 20);
  return layout;
}

/// Random elements with the symmetry of the layout.
template <class T>
Matrix<T> random_dense(const BlockLayout& layout, std::uint64_t seed) {
  Matrix<T> a(layout.rows->elements(), layout.cols->elements());
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) {
      const bool below = layout.symmetry == Symmetry::none || i >= j;
      const T x = random_scalar<T>(seed, below ? i : j, below ? j : i);
      a(i, j) = below ? x : mirror_image(layout.symmetry, x);
      if (i == j && layout.symmetry == Symmetry::antisymmetric) a(i, j) = T(0);
      if (i == j && layout.symmetry == Symmetry::hermitian) a(i, j) = T(real_part(x));
    }
  return a;
}

/// Whether block (i, j) is drawn. In a half-stored layout a block and its mirror image are drawn
/// together.
inline bool drawn(const BlockLayout& layout, double occupation, std::uint64_t seed, Index i, Index j) {
  if (layout.symmetry != Symmetry::none && i < j) std::swap(i, j);
  return random_number(seed + 99, i, j) < occupation;
}

/// A matrix of drawn blocks of a dense matrix. Half-stored blocks are put from either side of the
/// diagonal.
template <class T>
BlockSparseMatrix<T> drawn_matrix(Runtime& runtime, const BlockLayout& layout, const Matrix<T>& dense,
                                  double occupation, std::uint64_t seed) {
  BlockSparseBuilder<T> builder(runtime, layout);
  for (Index i = 0; i < layout.rows->blocks(); ++i)
    for (Index j = 0; j < layout.cols->blocks(); ++j) {
      if (!layout.stores(i, j) || !drawn(layout, occupation, seed, i, j)) continue;
      if (builder.owner(i, j) != runtime.rank()) continue;
      const bool other_side = layout.symmetry != Symmetry::none && (i + j) % 3 == 0;
      const Index row = other_side ? j : i, col = other_side ? i : j;
      builder.put(row, col,
                  dense.view().block(layout.rows->first(row), layout.cols->first(col), layout.rows->size(row),
                                     layout.cols->size(col)));
    }
  return builder.finalize();
}

/// Random elements in random blocks.
template <class T>
BlockSparseMatrix<T> drawn_matrix(Runtime& runtime, const BlockLayout& layout, double occupation,
                                  std::uint64_t seed) {
  return drawn_matrix(runtime, layout, random_dense<T>(layout, seed), occupation, seed);
}

/// Contents of a matrix, known on every rank: its blocks, and its elements with zeros elsewhere.
template <class T>
struct Contents {
  std::set<BlockCoordinate> blocks;
  Matrix<T> elements;
};

/// Collective. `mirrored` adds the mirror images of the blocks of a half-stored matrix.
template <class T>
Contents<T> contents_of(const BlockSparseMatrix<T>& a, bool mirrored = true) {
  std::vector<std::byte> mine;
  const auto append = [&](const void* bytes, std::size_t count) {
    mine.resize(mine.size() + count);
    std::memcpy(mine.data() + mine.size() - count, bytes, count);
  };
  a.for_each_block([&](Index row, Index col, MatrixView<const T> values) {
    const BlockCoordinate at{row, col};
    append(&at, sizeof at);
    for (Index j = 0; j < values.cols; ++j)
      for (Index i = 0; i < values.rows; ++i) append(&values(i, j), sizeof(T));
  });
  Contents<T> contents{{}, Matrix<T>(a.rows(), a.cols())};
  const BlockDimension &rows = a.pattern().rows(), &cols = a.pattern().cols();
  for (const auto& piece : a.runtime().all_gather(mine))
    for (std::size_t p = 0; p < piece.size();) {
      const auto take = [&](void* to, std::size_t count) {
        std::memcpy(to, piece.data() + p, count);
        p += count;
      };
      BlockCoordinate at;
      take(&at, sizeof at);
      contents.blocks.insert(at);
      const bool mirror = mirrored && a.symmetry() != Symmetry::none && at.row != at.col;
      if (mirror) contents.blocks.insert({at.col, at.row});
      for (Index j = cols.first(at.col); j < cols.first(at.col + 1); ++j)
        for (Index i = rows.first(at.row); i < rows.first(at.row + 1); ++i) {
          T x;
          take(&x, sizeof x);
          contents.elements(i, j) = x;
          if (mirror) contents.elements(j, i) = mirror_image(a.symmetry(), x);
        }
    }
  return contents;
}

/// The dense matrix, set to zero outside the blocks that drawn_matrix draws.
template <class T>
Matrix<T> drawn_dense(const BlockLayout& layout, const Matrix<T>& dense, double occupation,
                      std::uint64_t seed) {
  Matrix<T> part(dense.rows(), dense.cols());
  for (Index j = 0; j < dense.cols(); ++j)
    for (Index i = 0; i < dense.rows(); ++i)
      if (drawn(layout, occupation, seed, layout.rows->block_of(i), layout.cols->block_of(j)))
        part(i, j) = dense(i, j);
  return part;
}

}  // namespace tessera::test
