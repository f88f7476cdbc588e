// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>

#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/block_operations.hpp>

/// Block-sparse matrices with known dense equivalents, for tests of operations on them.
namespace tessera::operations_test {

using namespace test;
using test::Matrix;

inline const std::vector<Symmetry> all_symmetries{Symmetry::none, Symmetry::symmetric,
                                                  Symmetry::antisymmetric, Symmetry::hermitian};

/// Mixed block sizes, including empty blocks, with 25 elements in total.
inline std::vector<Index> mixed_sizes() {
  return {3, 0, 5, 1, 4, 2, 0, 7, 3};
}

/// Block sizes of rows and of columns.
inline const std::vector<std::pair<std::vector<Index>, std::vector<Index>>> rectangles{
    {{4, 0, 2, 7, 1}, {3, 3, 5, 0, 1, 2, 6, 4}},  // 14 x 24
    {{5, 5, 5, 5, 5}, {2, 7, 1}},                 // 25 x 10
    {{3, 2}, {}},                                 // without columns
    {{}, {}},
    {{0, 0}, {0, 4}},  // blocks, but no elements
    {{1}, {1}},
};

/// A grid, owners and panels that depend only on the seed. Seed 0 gives the layout of
/// make_block_layout.
inline BlockLayout random_layout(Runtime& runtime, const std::vector<Index>& rows,
                                 const std::vector<Index>& cols, Symmetry symmetry, unsigned seed) {
  if (seed == 0) return make_block_layout(runtime, rows, cols, symmetry);
  std::mt19937 random(seed);
  const int ranks = runtime.size();
  const std::vector<ProcessGrid> grids{
      ProcessGrid::squarest(ranks), {1, ranks, false}, {ranks, 1, true}, {std::max(1, ranks / 2), 1, false}};
  ProcessGrid grid = grids[random() % grids.size()];
  grid.column_major = random() % 2 == 0;
  const auto dimension = [&](const std::vector<Index>& sizes, int count) {
    std::vector<int> owners;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      owners.push_back(static_cast<int>(random() % static_cast<unsigned>(count)));
    return BlockDimension::make(sizes, count, owners, 3 + Index(random() % 12));
  };
  return {dimension(rows, grid.rows), dimension(cols, grid.cols), grid, symmetry};
}

template <class T>
struct Problem {
  BlockSparseMatrix<T> matrix;
  Matrix<T> dense;
};

/// Whether block (i, j) is stored.
inline bool chosen(std::uint64_t seed, Symmetry symmetry, Index i, Index j, double occupation) {
  if (symmetry != Symmetry::none && i < j) std::swap(i, j);
  return 0.5 * (random_uniform(seed + 1000, 2, i, j) + 1) < occupation;
}

template <class T>
T element(std::uint64_t seed, Symmetry symmetry, Index i, Index j) {
  if (symmetry == Symmetry::none || i > j) return random_scalar<T>(seed, i, j);
  if (i < j) return mirrored(symmetry, random_scalar<T>(seed, j, i));
  const T x = random_scalar<T>(seed, i, i);
  return symmetry == Symmetry::antisymmetric ? T(0) : symmetry == Symmetry::hermitian ? T(real_part(x)) : x;
}

/// Random blocks with random elements, identical for every distribution.
template <class T>
Problem<T> make_problem(Runtime& runtime, const BlockLayout& layout, std::uint64_t seed,
                        double occupation = 0.5) {
  const BlockDimension &rows = *layout.rows, &cols = *layout.cols;
  Problem<T> problem;
  problem.dense = Matrix<T>(rows.elements(), cols.elements());
  BlockSparseBuilder<T> builder(runtime, layout);
  for (Index bj = 0; bj < cols.blocks(); ++bj)
    for (Index bi = 0; bi < rows.blocks(); ++bi) {
      if (!chosen(seed, layout.symmetry, bi, bj, occupation)) continue;
      Matrix<T> block(rows.size(bi), cols.size(bj));
      for (Index j = 0; j < block.cols(); ++j)
        for (Index i = 0; i < block.rows(); ++i)
          block(i, j) = element<T>(seed, layout.symmetry, rows.first(bi) + i, cols.first(bj) + j);
      problem.dense.set_block(rows.first(bi), cols.first(bj), block);
      if (layout.stores(bi, bj) && builder.owner(bi, bj) == runtime.rank())
        builder.put(bi, bj, std::as_const(block).view());
    }
  problem.matrix = builder.finalize();
  return problem;
}

/// The whole matrix on every rank.
template <class T>
Matrix<T> gathered(const BlockSparseMatrix<T>& a) {
  const Index rows = a.rows(), cols = a.cols();
  std::vector<double> parts(static_cast<std::size_t>(2 * rows * cols), 0.0);
  const auto set = [&](Index i, Index j, T x) {
    parts[static_cast<std::size_t>(2 * (i + j * rows))] = real_part(x);
    parts[static_cast<std::size_t>(2 * (i + j * rows) + 1)] = imag_part(x);
  };
  a.for_each_block([&](Index bi, Index bj, MatrixView<const T> values) {
    const Index first_row = a.pattern().rows().first(bi), first_col = a.pattern().cols().first(bj);
    for (Index j = 0; j < values.cols; ++j)
      for (Index i = 0; i < values.rows; ++i) {
        set(first_row + i, first_col + j, values(i, j));
        if (a.symmetry() != Symmetry::none && bi != bj)
          set(first_col + j, first_row + i, mirrored(a.symmetry(), values(i, j)));
      }
  });
  a.runtime().all_reduce_sum(parts.data(), static_cast<Index>(parts.size()));
  Matrix<T> dense(rows, cols);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) {
      const double* part = &parts[static_cast<std::size_t>(2 * (i + j * rows))];
      if constexpr (is_complex<T>)
        dense(i, j) = T(RealOf<T>(part[0]), RealOf<T>(part[1]));
      else
        dense(i, j) = T(part[0]);
    }
  return dense;
}

/// The dense matrix whose elements are f(element, row, column).
template <class T, class F>
Matrix<T> mapped(const Matrix<T>& a, const F& f) {
  Matrix<T> result(a.rows(), a.cols());
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) result(i, j) = f(a(i, j), i, j);
  return result;
}

/// The matrix that half storage with this symmetry implies for the lower half of `a`.
template <class T>
Matrix<T> from_lower_half(const Matrix<T>& a, Symmetry symmetry) {
  return mapped(a, [&](T x, Index i, Index j) {
    if (symmetry == Symmetry::none || i > j) return x;
    if (i < j) return mirrored(symmetry, a(j, i));
    return symmetry == Symmetry::antisymmetric ? T(0) : symmetry == Symmetry::hermitian ? T(real_part(x)) : x;
  });
}

/// The matrix with zeros in all blocks for which `kept(block row, block column)` is false.
template <class T, class Kept>
Matrix<T> blocks_kept(const Matrix<T>& a, const BlockLayout& layout, const Kept& kept) {
  return mapped(a, [&](T x, Index i, Index j) {
    return kept(layout.rows->block_of(i), layout.cols->block_of(j)) ? x : T(0);
  });
}

/// Tolerates a few rounding errors of numbers of order one.
template <class T>
void expect_matrix(const BlockSparseMatrix<T>& a, const Matrix<T>& expected, double roundings = 0) {
  ASSERT_TRUE(a.valid());
  EXPECT_LE(difference(gathered(a), expected), roundings * double(precision<T>));
}

/// The matrix must store exactly the blocks with `stored(row, column)` that its layout can store.
template <class T, class Stored>
void expect_blocks(const BlockSparseMatrix<T>& a, const Stored& stored) {
  const auto pattern = a.pattern().gathered();
  for (Index i = 0; i < a.block_rows(); ++i)
    for (Index j = 0; j < a.block_cols(); ++j)
      EXPECT_EQ(pattern->find(i, j).has_value(), a.layout().stores(i, j) && stored(i, j)) << i << ' ' << j;
}

/// Calls check(symmetry, first, second) for each symmetry with two distributions of square matrices
/// of mixed block sizes.
template <class T, class Check>
void for_each_symmetry(Runtime& runtime, unsigned seed, const std::vector<Symmetry>& symmetries,
                       const Check& check) {
  const std::vector<Index> sizes = mixed_sizes();
  for (const Symmetry symmetry : symmetries) {
    SCOPED_TRACE(::testing::Message() << type_letter<T> << " symmetry " << static_cast<char>(symmetry)
                                      << " seed " << seed << " rank " << runtime.rank());
    check(symmetry, random_layout(runtime, sizes, sizes, symmetry, seed),
          random_layout(runtime, sizes, sizes, symmetry, seed + 1));
  }
}

/// Calls check(first, second) with two distributions of matrices with these block sizes.
template <class T, class Check>
void for_rectangle(Runtime& runtime, const std::vector<Index>& rows, const std::vector<Index>& cols,
                   unsigned seed, const Check& check) {
  SCOPED_TRACE(::testing::Message() << type_letter<T> << " seed " << seed << " rank " << runtime.rank());
  check(random_layout(runtime, rows, cols, Symmetry::none, seed),
        random_layout(runtime, rows, cols, Symmetry::none, seed + 1));
}

template <class Insert>
void run_sequence(Runtime& runtime, const Insert& insert) {
  Sequence sequence(runtime);
  insert(sequence);
  EXPECT_TRUE(sequence.wait().ok());
}

template <class T>
T some_factor(Symmetry symmetry, double re, double im) {
  if constexpr (is_complex<T>)
    return T(RealOf<T>(re), RealOf<T>(symmetry == Symmetry::hermitian ? 0 : im));
  else
    return T(re);
}

}  // namespace tessera::operations_test
