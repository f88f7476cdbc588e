// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fstream>
#include <tuple>

#include <tests/algorithms/block_sparse/product_checks.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

namespace tessera::test {
namespace {

template <class T>
class Multiply : public RuntimeTest<T> {};
TYPED_TEST_SUITE(Multiply, Scalars);
using MultiplyDouble = RuntimeTest<double>;

ProductCase square_case(const std::vector<Index>& sizes, std::uint64_t seed) {
  ProductCase p;
  p.rows = p.cols = p.inner = sizes;
  p.seed = seed;
  p.panel_elements = 12;
  return p;
}

TYPED_TEST(Multiply, IntegersAreExact) {
  for (const bool random_owners : {false, true})
    for (const double occupation : {0.05, 0.5, 1.0}) {
      ProductCase p = square_case(repeated({5, 2, 3}, 40), 3);
      p.integers = true;
      p.occupation = occupation;
      p.random_owners = random_owners;
      p.alpha = -2, p.beta = 3;
      p.options.result_on_host = random_owners;
      check_product<TypeParam>(TestFixture::runtime(), p);
    }
}

/// Applies the filter's rule by brute force: which products are skipped or computed, which blocks
/// are dropped.
template <class T>
void check_filter(Runtime& runtime, ProductCase p, double eps) {
  ProductMatrices<T> m = make_matrices<T>(runtime, p);
  const auto block = [](const DenseMatrix& d, const BlockDimension& rows, const BlockDimension& cols, Index i,
                        Index j) {
    return d.block(rows.first(i), cols.first(j), rows.size(i), cols.size(j));
  };
  const auto norm = [](const DenseMatrix& x) {
    double sum = 0;
    for (Index j = 0; j < x.cols(); ++j)
      for (Index i = 0; i < x.rows(); ++i) sum += std::norm(x(i, j));
    return std::sqrt(sum);
  };
  const DenseMatrix a = applied(p.op_a, dense(m.a)), b = applied(p.op_b, dense(m.b)), c = dense(m.c);
  BlockSet blocks_a, blocks_b;
  for (auto [i, k] : stored_blocks(m.a, true))
    blocks_a.insert(p.op_a == Op::none ? std::pair(i, k) : std::pair(k, i));
  for (auto [k, j] : stored_blocks(m.b, true))
    blocks_b.insert(p.op_b == Op::none ? std::pair(k, j) : std::pair(j, k));
  const BlockDimension &rows = *m.c.layout().rows, &cols = *m.c.layout().cols,
                       &inner = p.op_a == Op::none ? m.a.pattern().cols() : m.a.pattern().rows();
  const BlockSet old = stored_blocks(m.c);
  std::map<std::pair<Index, Index>, DenseMatrix> expected;
  for (const auto& [i, j] : old) expected.emplace(std::pair(i, j), block(c, rows, cols, i, j));
  Index products = 0, skipped = 0;
  for (Index i = 0; i < rows.blocks(); ++i) {
    Index in_row = 0;
    for (Index k = 0; k < inner.blocks(); ++k) in_row += blocks_a.contains({i, k});
    for (Index k = 0; k < inner.blocks(); ++k)
      for (Index j = 0; j < cols.blocks(); ++j) {
        if (!blocks_a.contains({i, k}) || !blocks_b.contains({k, j}) || !m.c.layout().stores(i, j)) continue;
        if (p.options.retain_sparsity && !old.contains({i, j})) continue;
        const DenseMatrix left = block(a, rows, inner, i, k), right = block(b, inner, cols, k, j);
        if (std::abs(p.alpha) * norm(left) * norm(right) < eps / static_cast<double>(in_row)) {
          ++skipped;
          continue;
        }
        ++products;
        DenseMatrix& sum = expected.try_emplace({i, j}, rows.size(i), cols.size(j)).first->second;
        const DenseMatrix product = gemm(left, right);
        for (Index q = 0; q < sum.cols(); ++q)
          for (Index r = 0; r < sum.rows(); ++r) sum(r, q) += p.alpha * product(r, q);
      }
  }
  Index dropped = 0;
  for (auto at = expected.begin(); at != expected.end();) {
    const bool drop = !p.options.retain_sparsity && norm(at->second) < eps;
    dropped += drop && norm(at->second) > 0;
    at = drop ? expected.erase(at) : std::next(at);
  }
  p.options.filter_eps = eps;
  const MultiplyResult result = tessera::multiply(
      {.alpha = narrow<T>(p.alpha), .a = {m.a, p.op_a}, .b = {m.b, p.op_b}, .beta = T(1), .c = m.c},
      p.options);
  EXPECT_EQ(result.products, products);
  EXPECT_EQ(result.filtered_products, skipped);
  EXPECT_EQ(result.filtered_blocks, dropped);
  EXPECT_GT(skipped, 0);
  BlockSet blocks;
  for (const auto& [at, values] : expected) blocks.insert(at);
  EXPECT_EQ(stored_blocks(m.c), blocks);
  const DenseMatrix computed = dense(m.c);
  for (const auto& [at, values] : expected)
    EXPECT_LE(difference(block(computed, rows, cols, at.first, at.second), values),
              1e3 * double(precision<T>));
}

TYPED_TEST(Multiply, FilterSkipsAndDropsByTheRule) {
  std::uint64_t seed = 40;
  for (const Symmetry s : {Symmetry::none, Symmetry::symmetric})
    for (const Op op : {Op::none, Op::adjoint})
      for (const bool retain : {false, true})
        for (const double eps : {5.0, 9.0}) {
          ProductCase p = square_case(repeated({1, 2, 1, 3}, 12), ++seed);
          if (seed % 4 > 1) p.options.dense = UseDense::always;
          p.a = s, p.op_a = op, p.c = seed % 3 == 0 ? Symmetry::symmetric : Symmetry::none;
          p.alpha = seed % 2 ? 1 : -0.5;
          p.options.retain_sparsity = retain;
          check_filter<TypeParam>(TestFixture::runtime(), p, eps);
        }
}

TYPED_TEST(Multiply, CountsWhatItDoes) {
  ProductCase p = square_case(repeated({2, 3}, 8), 8);
  p.occupation = 1;
  const MultiplyResult result = check_product<TypeParam>(TestFixture::runtime(), p);
  EXPECT_EQ(result.products, 8 * 8 * 8);
  EXPECT_EQ(result.flop, 2.0 * 20 * 20 * 20 * flop_factor<TypeParam>);
  ASSERT_EQ(result.shapes.size(), 8u);
  for (const ProductCount& shape : result.shapes) {
    EXPECT_EQ(shape.products, 64);
    EXPECT_EQ(shape.cpu_products + shape.gpu_products, 64);
  }
}

TYPED_TEST(Multiply, BetaZeroDoesNotReadC) {
  Runtime& runtime = TestFixture::runtime();
  for (const bool window : {false, true}) {
    const ProductCase p = square_case(repeated({2, 3}, 6), 4);
    ProductMatrices<TypeParam> m = make_matrices<TypeParam>(runtime, p);
    m.c.for_each_block_mutable([](Index, Index, MatrixView<TypeParam> block) {
      std::fill(block.data, block.data + block.rows * block.cols, not_a_number<TypeParam>());
    });
    MultiplyOptions options;
    if (window) options.limits = {0, 15, 0, 15, 3, 9};
    EXPECT_TRUE(tessera::multiply({.a = m.a, .b = m.b, .c = m.c}, options));
    const DenseMatrix c = dense(m.c);
    for (Index j = 0; j < c.cols(); ++j)
      for (Index i = 0; i < c.rows(); ++i) EXPECT_TRUE(std::isfinite(std::abs(c(i, j))));
  }
}

TEST_F(MultiplyDouble, ResultMayBeAnOperand) {
  const ProductCase p = square_case(repeated({2, 3}, 6), 5);
  for (int which = 0; which < 3; ++which) {
    ProductMatrices<double> m = make_matrices<double>(runtime(), p);
    const DenseMatrix a = dense(m.a), b = dense(m.b);
    const DenseMatrix expected = gemm(a, which == 2 ? a : b);
    BlockSparseMatrix<double>& c = which == 1 ? m.b : m.a;
    EXPECT_TRUE(
        tessera::multiply({.a = m.a, .b = which == 2 ? m.a : m.b, .beta = which == 0 ? 1.0 : 0.0, .c = c}));
    DenseMatrix error = dense(c);
    for (Index j = 0; j < error.cols(); ++j)
      for (Index i = 0; i < error.rows(); ++i)
        error(i, j) -= expected(i, j) + (which == 0 ? a(i, j) : Wide(0));
    EXPECT_LE(norm_inf(error), 1e-13);
  }
}

TEST_F(MultiplyDouble, NothingInCommon) {
  // Op(A) has columns only where op(B) has no rows, so C keeps its values.
  const BlockLayout layout = make_block_layout(runtime(), repeated({3}, 4), repeated({3}, 4));
  const auto with_block = [&](Index i, Index j) {
    BlockSparseBuilder<double> builder(runtime(), layout);
    const Matrix<double> block = random_matrix<double>(3, 3, 7);
    builder.put(i, j, block.view());
    return builder.finalize();
  };
  const auto a = with_block(0, 1), b = with_block(2, 3);
  auto c = with_block(1, 1);
  const MultiplyResult result = tessera::multiply({.a = a, .b = b, .beta = 1.0, .c = c});
  EXPECT_EQ(result.products, 0);
  EXPECT_EQ(result.flop, 0);
  EXPECT_TRUE(result.shapes.empty());
  EXPECT_EQ(stored_blocks(c), (BlockSet{{1, 1}}));
  const auto empty = BlockSparseBuilder<double>(runtime(), layout).finalize();
  EXPECT_EQ(tessera::multiply({.a = empty, .b = b, .beta = 0.5, .c = c}).products, 0);
  EXPECT_EQ(dense(c)(4, 4), 0.5 * Wide(random_matrix<double>(3, 3, 7)(1, 1)));
}

std::vector<double> bits_after(Runtime& runtime, const ProductCase& p) {
  ProductMatrices<double> m = make_matrices<double>(runtime, p);
  EXPECT_TRUE(tessera::multiply({.a = {m.a, p.op_a}, .b = {m.b, p.op_b}, .beta = 1.0, .c = m.c}, p.options));
  std::vector<double> bits;
  m.c.for_each_block([&](Index, Index, MatrixView<const double> block) {
    bits.insert(bits.end(), block.data, block.data + block.rows * block.cols);
  });
  return bits;
}

TEST(MultiplyDeterminism, AnyNumberOfWorkersGivesTheSameBits) {
  ProductCase p = square_case(repeated({13, 5, 5}, 30), 12);
  p.panel_elements = 60;
  p.options.filter_eps = 1;
  std::vector<double> first;
  for (const int cores : {1, 2, 2, 3}) {
    Runtime runtime({.cores = cores, .gpus = 0});
    const std::vector<double> bits = bits_after(runtime, p);
    if (first.empty()) first = bits;
    EXPECT_EQ(bits, first) << cores << " workers";
  }
}

/// Resident memory in MiB.
double resident() {
  std::ifstream statistics("/proc/self/statm");
  double total = 0, pages = 0;
  statistics >> total >> pages;
  return pages * 4096 / 1048576;
}

TEST_F(MultiplyDouble, MemoryComesBack) {
  ProductCase p = square_case(repeated({13, 5, 5}, 45), 21);
  p.panel_elements = 100;
  ProductMatrices<double> m = make_matrices<double>(runtime(), p);
  const auto once = [&] {
    std::ignore = tessera::multiply({.alpha = 0.5, .a = m.a, .b = {m.b, Op::transpose}, .c = m.c},
                                    {.filter_eps = 1e-3});
  };
  for (int i = 0; i < 10; ++i) once();
  const double before = resident();
  for (int i = 0; i < 100; ++i) once();
  EXPECT_LT(resident() - before, 20);
}

TEST_F(MultiplyDouble, RefusesBadArguments) {
  using Z = std::complex<double>;
  const ProductCase p = square_case(repeated({2, 3}, 6), 5);
  ProductMatrices<double> m = make_matrices<double>(runtime(), p);
  ProductCase other = p;
  other.rows = repeated({2, 4}, 6);
  ProductMatrices<double> o = make_matrices<double>(runtime(), other);
  const auto call = [&](const BlockSparseMatrix<double>& a, const BlockSparseMatrix<double>& b,
                        BlockSparseMatrix<double>& c, const MultiplyOptions& options = {}, double alpha = 1,
                        double beta = 0) {
    return [&a, &b, &c, options, alpha, beta] {
      std::ignore = tessera::multiply({.alpha = alpha, .a = a, .b = b, .beta = beta, .c = c}, options);
    };
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_refused("A", call(o.a, m.b, m.c));
  expect_refused("B", [&] {
    std::ignore = tessera::multiply({.a = {o.a, Op::transpose}, .b = m.b, .c = m.c});
  });
  expect_refused("filter_eps", call(m.a, m.b, m.c, {.filter_eps = -1}));
  expect_refused("filter_eps", call(m.a, m.b, m.c, {.filter_eps = nan}));
  expect_refused("alpha", call(m.a, m.b, m.c, {}, nan));
  expect_refused("beta", call(m.a, m.b, m.c, {}, 1, nan));
  MultiplyOptions options;
  options.limits = {.first_row = -1};
  expect_refused("limits of the rows", call(m.a, m.b, m.c, options));
  options.limits = {.first_row = 4, .end_row = 3};
  expect_refused("limits of the rows", call(m.a, m.b, m.c, options));
  options.limits = {.end_col = 16};
  expect_refused("limits of the columns", call(m.a, m.b, m.c, options));
  options.limits = {.end_inner = 16};
  expect_refused("limits of the inner dimension", call(m.a, m.b, m.c, options));
  BlockSparseMatrix<double> nothing;
  expect_refused("A", call(nothing, m.b, m.c));
  expect_refused("C", call(m.a, m.b, nothing));
  ProductCase hermitian = p;
  hermitian.c = Symmetry::hermitian;
  ProductMatrices<Z> h = make_matrices<Z>(runtime(), hermitian);
  expect_refused("beta",
                 [&] { std::ignore = tessera::multiply({.a = h.a, .b = h.b, .beta = Z(0, 1), .c = h.c}); });
}

}  // namespace
}  // namespace tessera::test
