// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <span>

#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/error.hpp>
#include <tessera/multiply.hpp>

/// Checks of block-sparse products against dense products.
namespace tessera::test {
using namespace detail;

using Wide = std::complex<double>;
using DenseMatrix = Matrix<Wide>;

/// Kind of a random matrix. Its blocks and elements depend only on the seed, not on the
/// distribution.
struct RandomBlocks {
  std::uint64_t seed = 1;
  double occupation = 0.4;
  bool integers = false;  ///< integers from -3 to 3
};

/// Element (i, j) of a stored block; above the diagonal it follows from the lower half by symmetry.
template <class T>
T random_element(const RandomBlocks& kind, Symmetry symmetry, Index i, Index j) {
  const bool mirror = symmetry != Symmetry::none && i < j;
  if (mirror) std::swap(i, j);
  T x = random_scalar<T>(kind.seed, i, j);
  if (kind.integers) {
    if constexpr (is_complex<T>)
      x = T(std::round(3 * x.real()), std::round(3 * x.imag()));
    else
      x = std::round(3 * x);
  }
  if (symmetry == Symmetry::antisymmetric) return i == j ? T(0) : mirror ? -x : x;
  if (symmetry == Symmetry::hermitian) return i == j ? T(real_part(x)) : mirror ? conjugate(x) : x;
  return x;
}

template <class T>
BlockSparseMatrix<T> random_blocks(Runtime& runtime, const BlockLayout& layout, const RandomBlocks& kind) {
  BlockSparseBuilder<T> builder(runtime, layout);
  for (Index i = 0; i < layout.rows->blocks(); ++i)
    for (Index j = 0; j < layout.cols->blocks(); ++j) {
      if (!layout.stores(i, j) || layout.owner(i, j) != runtime.rank()) continue;
      if (random_uniform(kind.seed + 77, 5, i, j) >= 2 * kind.occupation - 1) continue;
      Matrix<T> block(layout.rows->size(i), layout.cols->size(j));
      for (Index q = 0; q < block.cols(); ++q)
        for (Index p = 0; p < block.rows(); ++p)
          block(p, q) =
              random_element<T>(kind, layout.symmetry, layout.rows->first(i) + p, layout.cols->first(j) + q);
      builder.put(i, j, std::as_const(block).view());
    }
  return builder.finalize();
}

/// The whole matrix, on every rank.
template <class T>
DenseMatrix dense(const BlockSparseMatrix<T>& a) {
  DenseMatrix d(a.rows(), a.cols());
  const Symmetry s = a.symmetry();
  a.for_each_block([&](Index i, Index j, MatrixView<const T> block) {
    for (Index q = 0; q < block.cols; ++q)
      for (Index p = 0; p < block.rows; ++p) {
        const Index row = a.layout().rows->first(i) + p, col = a.layout().cols->first(j) + q;
        const Wide x(block(p, q));
        d(row, col) = x;
        if (s != Symmetry::none && i != j)
          d(col, row) = s == Symmetry::antisymmetric ? -x : s == Symmetry::hermitian ? std::conj(x) : x;
      }
  });
  if (a.rows() * a.cols() > 0)
    a.runtime().all_reduce_sum(reinterpret_cast<double*>(d.data()), 2 * a.rows() * a.cols());
  return d;
}

using BlockSet = std::set<std::pair<Index, Index>>;

/// Coordinates of the stored blocks of all ranks; `full` adds the mirror images that symmetry implies.
template <class T>
BlockSet stored_blocks(const BlockSparseMatrix<T>& a, bool full = false) {
  BlockSet blocks;
  const auto pattern = a.pattern().gathered();
  for (Index p = 0; p < pattern->panels(); ++p)
    for (const auto& [row, col] : pattern->coordinates(p)) {
      blocks.insert({row, col});
      if (full && a.symmetry() != Symmetry::none) blocks.insert({col, row});
    }
  return blocks;
}

inline DenseMatrix applied(Op op, const DenseMatrix& a) {
  if (op == Op::none) return a;
  DenseMatrix b(a.cols(), a.rows());
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) b(j, i) = op == Op::adjoint ? std::conj(a(i, j)) : a(i, j);
  return b;
}

/// The matrix with zeros outside a window.
inline DenseMatrix window_of(DenseMatrix a, Index first_row, Index end_row, Index first_col, Index end_col) {
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i)
      if (i < first_row || i >= end_row || j < first_col || j >= end_col) a(i, j) = 0;
  return a;
}

/// Maximum row sum.
inline double norm_inf(const DenseMatrix& a) {
  return norm_1(applied(Op::transpose, a));
}

inline DenseMatrix gemm(const DenseMatrix& a, const DenseMatrix& b) {
  DenseMatrix c(a.rows(), b.cols());
  if (a.rows() > 0 && b.cols() > 0 && a.cols() > 0)
    blas::gemm<Wide>(Op::none, Op::none, a.rows(), b.cols(), a.cols(), 1, a.data(), a.ld(), b.data(), b.ld(),
                     0, c.data(), c.ld());
  return c;
}

inline constexpr Op all_ops[] = {Op::none, Op::transpose, Op::adjoint};

struct ProductCase {
  Op op_a = Op::none, op_b = Op::none;
  Symmetry a = Symmetry::none, b = Symmetry::none, c = Symmetry::none;
  std::vector<Index> rows, cols, inner;  ///< block sizes
  std::uint64_t seed = 1;
  double occupation = 0.4;
  bool integers = false;
  bool random_owners = false;  ///< also gives each matrix a different grid
  Wide alpha = 1, beta = 0;
  MultiplyOptions options{};
  Index panel_elements = 0;
};

/// One of the grids that this number of ranks can form.
inline ProcessGrid some_grid(int ranks, std::uint64_t choice) {
  std::vector<ProcessGrid> grids;
  for (int rows = 1; rows <= ranks; ++rows)
    if (ranks % rows == 0) {
      ProcessGrid grid = ProcessGrid::squarest(ranks);
      grid.rows = rows;
      grid.cols = ranks / rows;
      grids.push_back(grid);
    }
  return grids[choice % grids.size()];
}

inline BlockDimensionPointer some_dimension(const std::vector<Index>& sizes, int owners, std::uint64_t seed,
                                            bool random_owners, Index panel_elements) {
  std::vector<int> owner;
  for (std::size_t i = 0; random_owners && i < sizes.size(); ++i)
    owner.push_back(
        std::min(owners - 1, static_cast<int>((random_uniform(seed, 9, Index(i), 3) + 1) / 2 * owners)));
  return BlockDimension::make(sizes, owners, owner, panel_elements);
}

inline BlockLayout some_layout(Runtime& runtime, const ProductCase& c, const std::vector<Index>& rows,
                               const std::vector<Index>& cols, Symmetry symmetry, std::uint64_t seed) {
  const ProcessGrid grid =
      c.random_owners ? some_grid(runtime.size(), seed) : ProcessGrid::squarest(runtime.size());
  return {some_dimension(rows, grid.rows, seed + 1, c.random_owners, c.panel_elements),
          some_dimension(cols, grid.cols, seed + 2, c.random_owners, c.panel_elements), grid, symmetry};
}

template <class T>
struct ProductMatrices {
  BlockSparseMatrix<T> a, b, c;
};

template <class T>
ProductMatrices<T> make_matrices(Runtime& runtime, const ProductCase& p) {
  const auto make = [&](bool transposed, const auto& rows, const auto& cols, Symmetry symmetry,
                        std::uint64_t seed) {
    const BlockLayout layout = transposed ? some_layout(runtime, p, cols, rows, symmetry, seed)
                                          : some_layout(runtime, p, rows, cols, symmetry, seed);
    return random_blocks<T>(runtime, layout, {seed, p.occupation, p.integers});
  };
  return {make(p.op_a != Op::none, p.rows, p.inner, p.a, 10 * p.seed),
          make(p.op_b != Op::none, p.inner, p.cols, p.b, 10 * p.seed + 3),
          make(false, p.rows, p.cols, p.c, 10 * p.seed + 6)};
}

template <class T>
T narrow(Wide x) {
  if constexpr (is_complex<T>)
    return T(x);
  else
    return T(x.real());
}

/// Blocks that C must have after an unfiltered product: those of C, and those with a product of
/// blocks that have elements within the limits.
template <class T>
BlockSet expected_blocks(const ProductCase& p, const ProductMatrices<T>& m) {
  BlockSet expected = stored_blocks(m.c);
  if (p.options.retain_sparsity) return expected;
  const BlockDimension& inner = p.op_a == Op::none ? m.a.pattern().cols() : m.a.pattern().rows();
  const auto inside = [](const BlockDimension& d, Index block, Index first, Index end) {
    return std::max(d.first(block), first) < std::min(d.first(block + 1), end);
  };
  const MultiplyLimits& l = p.options.limits;
  const BlockSet b = stored_blocks(m.b, true);
  for (auto [i, k] : stored_blocks(m.a, true)) {
    if (p.op_a != Op::none) std::swap(i, k);
    if (!inside(*m.c.layout().rows, i, l.first_row, l.end_row) ||
        !inside(inner, k, l.first_inner, l.end_inner))
      continue;
    for (Index j = 0; j < m.c.block_cols(); ++j)
      if (m.c.layout().stores(i, j) && inside(*m.c.layout().cols, j, l.first_col, l.end_col) &&
          b.contains(p.op_b == Op::none ? std::pair(k, j) : std::pair(j, k)))
        expected.insert({i, j});
  }
  return expected;
}

/// Expected elements of C, and the scale of the tolerated error.
template <class T>
DenseMatrix expected_values(const ProductCase& p, const ProductMatrices<T>& m, double& scale) {
  const MultiplyLimits& l = p.options.limits;
  const DenseMatrix a = applied(p.op_a, dense(m.a)), b = applied(p.op_b, dense(m.b)), c = dense(m.c);
  scale = norm_inf(a) + norm_inf(b) + norm_inf(c);
  const DenseMatrix product = gemm(window_of(a, l.first_row, l.end_row, l.first_inner, l.end_inner),
                                   window_of(b, l.first_inner, l.end_inner, l.first_col, l.end_col));
  DenseMatrix expected = c;
  const Wide alpha(narrow<T>(p.alpha)), beta(narrow<T>(p.beta));
  for (Index j = 0; j < c.cols(); ++j)
    for (Index i = 0; i < c.rows(); ++i)
      if (i >= l.first_row && i < l.end_row && j >= l.first_col && j < l.end_col)
        expected(i, j) = alpha * product(i, j) + beta * c(i, j);
  return expected;
}

/// Sets elements to zero where C's layout stores no block, or where C must not get new blocks.
template <class T>
void keep_blocks(DenseMatrix& d, const BlockSparseMatrix<T>& c, const BlockSet* blocks) {
  for (Index j = 0; j < c.block_cols(); ++j)
    for (Index i = 0; i < c.block_rows(); ++i)
      if (!c.layout().stores(i, j) || (blocks && !blocks->contains({i, j})))
        for (Index q = c.layout().cols->first(j); q < c.layout().cols->first(j + 1); ++q)
          for (Index r = c.layout().rows->first(i); r < c.layout().rows->first(i + 1); ++r) d(r, q) = 0;
}

/// Multiplies and checks the blocks and values of the result.
template <class T>
MultiplyResult check_product(Runtime& runtime, const ProductCase& p) {
  ProductMatrices<T> m = make_matrices<T>(runtime, p);
  const DenseMatrix a_before = dense(m.a), b_before = dense(m.b);
  const BlockSet blocks = expected_blocks(p, m);
  double scale = 0;
  DenseMatrix expected = expected_values(p, m, scale);
  const MultiplyResult result = tessera::multiply({.alpha = narrow<T>(p.alpha),
                                                   .a = {m.a, p.op_a},
                                                   .b = {m.b, p.op_b},
                                                   .beta = narrow<T>(p.beta),
                                                   .c = m.c},
                                                  p.options);
  EXPECT_TRUE(result) << result.status().message();
  EXPECT_EQ(stored_blocks(m.c), blocks);
  DenseMatrix computed = dense(m.c);
  keep_blocks<T>(expected, m.c, p.options.retain_sparsity ? &blocks : nullptr);
  keep_blocks<T>(computed, m.c, nullptr);
  if (p.integers) {
    EXPECT_EQ(difference(computed, expected), 0);
  } else {
    DenseMatrix error = computed;
    for (Index j = 0; j < error.cols(); ++j)
      for (Index i = 0; i < error.rows(); ++i) error(i, j) -= expected(i, j);
    const double n = static_cast<double>(std::max<Index>({m.c.rows(), m.c.cols(), m.a.cols(), 1}));
    EXPECT_LE(norm_inf(error), 10 * scale * n * double(precision<T>));
  }
  EXPECT_TRUE(identical(dense(m.a), a_before));
  EXPECT_TRUE(identical(dense(m.b), b_before));
  return result;
}

/// Repeats the sizes until there are `count` blocks.
inline std::vector<Index> repeated(std::initializer_list<Index> pattern, Index count) {
  std::vector<Index> sizes;
  for (Index i = 0; i < count; ++i)
    sizes.push_back(pattern.begin()[static_cast<std::size_t>(i) % pattern.size()]);
  return sizes;
}

struct Symmetries {
  Symmetry a, b, c;
};

/// Calls `test` with a case for each symmetry, each op(A), each op(B), and with C keeping its
/// blocks or not.
template <class Test>
void for_each_symmetry(std::span<const Symmetries> symmetries, const std::vector<Index>& sizes,
                       const Test& test) {
  std::uint64_t seed = 0;
  for (const auto& [a, b, c] : symmetries)
    for (const Op op_a : all_ops)
      for (const Op op_b : all_ops)
        for (const bool retain : {false, true}) {
          SCOPED_TRACE(::testing::Message()
                       << char(a) << char(b) << char(c) << char(op_a) << char(op_b) << retain);
          ProductCase p;
          p.rows = p.cols = p.inner = sizes;
          p.a = a, p.b = b, p.c = c, p.op_a = op_a, p.op_b = op_b, p.seed = ++seed;
          p.panel_elements = 9;
          p.random_owners = seed % 2 == 0;
          p.alpha = Wide(0.7, seed % 3 == 0 ? -0.3 : 0);
          p.options.retain_sparsity = retain;
          test(p);
        }
}

/// Calls `test` with cases of equal, mixed and empty blocks, of a single block, and without blocks.
template <class Test>
void for_each_shape(const Test& test) {
  struct Shape {
    std::vector<Index> rows, cols, inner;
  };
  const Shape shapes[] = {{repeated({5}, 5), repeated({5}, 10), repeated({5}, 15)},
                          {repeated({4, 0}, 9), repeated({4, 0}, 9), repeated({4, 0}, 9)},
                          {repeated({0, 3, 1}, 12), repeated({2, 0}, 7), repeated({0, 0, 5}, 9)},
                          {repeated({13, 5, 5}, 9), repeated({23}, 3), repeated({13, 5, 5}, 6)},
                          {repeated({33, 7}, 3), repeated({1, 40}, 4), repeated({6, 29}, 4)},
                          {{70}, {66}, {90}},
                          {{1}, {1}, {1}},
                          {repeated({1}, 40), repeated({1}, 3), repeated({1}, 70)},
                          {{2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {11, 12, 13, 1}, {1, 2, 3, 4, 5, 6, 17, 8}},
                          {repeated({3}, 4), {}, repeated({3}, 4)},
                          {{}, repeated({3}, 4), repeated({3}, 4)},
                          {repeated({3}, 4), repeated({3}, 4), {}},
                          {{}, {}, {}},
                          {repeated({0}, 4), repeated({0}, 4), repeated({0}, 4)}};
  std::uint64_t seed = 1000;
  for (const Shape& shape : shapes)
    for (const Index panel_elements : {0, 1, 20})
      for (const Op op_a : all_ops) {
        ProductCase p;
        p.rows = shape.rows, p.cols = shape.cols, p.inner = shape.inner;
        p.op_a = op_a, p.seed = ++seed, p.panel_elements = panel_elements;
        // Over the shapes, all pairs of op(A) and op(B) occur.
        p.op_b = all_ops[(seed + seed / 9) % 3];
        p.occupation = seed % 2 ? 0.5 : 1.5;
        p.alpha = -1, p.beta = 2;
        p.integers = seed % 4 < 2;
        SCOPED_TRACE(::testing::Message() << seed);
        test(p);
      }
}

}  // namespace tessera::test
