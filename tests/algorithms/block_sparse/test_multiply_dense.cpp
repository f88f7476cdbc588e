// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <tuple>

#include <tests/algorithms/block_sparse/generated.hpp>
#include <tests/algorithms/block_sparse/product_checks.hpp>
#include <tests/support/runtime_test.hpp>

/// Products computed with dense panels must equal the products of blocks.
namespace tessera::test {
namespace {

template <class T>
class MultiplyDense : public RuntimeTest<T> {};
TYPED_TEST_SUITE(MultiplyDense, Scalars);
template <class T>
class MultiplyDenseOnCpu : public RuntimeTest<T, true> {};
TYPED_TEST_SUITE(MultiplyDenseOnCpu, Scalars);
using MultiplyDenseDouble = RuntimeTest<double>;

constexpr Symmetry none = Symmetry::none, symmetric = Symmetry::symmetric,
                   antisymmetric = Symmetry::antisymmetric, hermitian = Symmetry::hermitian;

ProductCase dense_case(const std::vector<Index>& sizes, std::uint64_t seed) {
  ProductCase p;
  p.rows = p.cols = p.inner = sizes;
  p.seed = seed;
  p.panel_elements = 9;
  p.options.dense = UseDense::always;
  return p;
}

/// The product must be right, and every panel product must have been dense.
template <class T>
void check_all_dense(Runtime& runtime, const ProductCase& p) {
  const MultiplyResult result = check_product<T>(runtime, p);
  EXPECT_EQ(result.dense_panel_products, result.panel_products);
  EXPECT_EQ(result.panel_products > 0, result.products > 0);
}

TYPED_TEST(MultiplyDense, SymmetriesAndTransposes) {
  constexpr Symmetries triples[] = {{none, none, none},
                                    {none, symmetric, none},
                                    {symmetric, none, none},
                                    {symmetric, symmetric, symmetric},
                                    {none, antisymmetric, none},
                                    {antisymmetric, symmetric, antisymmetric},
                                    {antisymmetric, antisymmetric, symmetric},
                                    {hermitian, hermitian, none},
                                    {hermitian, none, hermitian}};
  for_each_symmetry(triples, repeated({1, 2, 0, 1, 3}, 12), [](ProductCase& p) {
    p.beta = std::array{Wide(0), Wide(1), Wide(-1.2, p.c == hermitian ? 0 : 0.4)}[p.seed / 2 % 3];
    p.options.dense = UseDense::always;
    check_all_dense<TypeParam>(TestFixture::runtime(), p);
  });
}

TYPED_TEST(MultiplyDense, ShapesOfBlocks) {
  for_each_shape([](ProductCase& p) {
    p.options.dense = UseDense::always;
    check_all_dense<TypeParam>(TestFixture::runtime(), p);
  });
}

TYPED_TEST(MultiplyDense, IntegersAreExact) {
  for (const bool random_owners : {false, true})
    for (const double beta : {0.0, 1.0, 3.0})
      for (const double occupation : {0.05, 0.5, 1.0}) {
        ProductCase p = dense_case(repeated({5, 2, 0, 3}, 40), 3);
        p.integers = true;
        p.panel_elements = 25;
        p.occupation = occupation;
        p.random_owners = random_owners;
        p.alpha = -2, p.beta = beta;
        p.options.result_on_host = random_owners;
        check_all_dense<TypeParam>(TestFixture::runtime(), p);
      }
}

/// Values of C and counts of a product.
template <class T>
std::pair<BlockSparseMatrix<T>, MultiplyResult> outcome(Runtime& runtime, const ProductCase& p) {
  ProductMatrices<T> m = make_matrices<T>(runtime, p);
  MultiplyResult result = tessera::multiply({.alpha = narrow<T>(p.alpha),
                                             .a = {m.a, p.op_a},
                                             .b = {m.b, p.op_b},
                                             .beta = narrow<T>(p.beta),
                                             .c = m.c},
                                            p.options);
  return {std::move(m.c), std::move(result)};
}

void expect_same_counts(const MultiplyResult& x, const MultiplyResult& y) {
  EXPECT_EQ(x.products, y.products);
  EXPECT_EQ(x.flop, y.flop);
  EXPECT_EQ(x.filtered_products, y.filtered_products);
  EXPECT_EQ(x.filtered_blocks, y.filtered_blocks);
  EXPECT_EQ(x.panel_products, y.panel_products);
  const auto key = [](const ProductCount& s) {
    return std::tuple(s.m, s.n, s.k, s.products, s.cpu_products, s.gpu_products);
  };
  ASSERT_EQ(x.shapes.size(), y.shapes.size());
  for (std::size_t i = 0; i < x.shapes.size(); ++i) EXPECT_EQ(key(x.shapes[i]), key(y.shapes[i]));
  const auto flops = [](const MultiplyResult& result) {
    double sum = 0;
    for (const StageStatistics& stage : result.statistics.stages) sum += stage.flops;
    return sum;
  };
  EXPECT_EQ(flops(x), flops(y));
}

/// Integer matrices give the same values and counts. With a filter the same products are skipped,
/// and their panels are not multiplied as dense ones.
TYPED_TEST(MultiplyDense, IsWhatBlocksGive) {
  std::uint64_t seed = 50;
  for (const Symmetry s : {none, symmetric})
    for (const double eps : {0.0, 40.0, 70.0})
      for (const bool retain : {false, true}) {
        ProductCase p = dense_case(repeated({1, 2, 3, 1, 2}, 40), ++seed);
        p.integers = true;
        p.a = p.b = s, p.op_a = all_ops[seed % 3];
        p.alpha = 2, p.beta = 1;
        p.options.filter_eps = eps, p.options.retain_sparsity = retain;
        SCOPED_TRACE(::testing::Message() << char(s) << eps << retain);
        const auto [c, of_panels] = outcome<TypeParam>(TestFixture::runtime(), p);
        p.options.dense = UseDense::never;
        const auto [expected, of_blocks] = outcome<TypeParam>(TestFixture::runtime(), p);
        EXPECT_EQ(stored_blocks(c), stored_blocks(expected));
        EXPECT_EQ(difference(dense(c), dense(expected)), 0);
        expect_same_counts(of_panels, of_blocks);
        EXPECT_EQ(of_blocks.dense_panel_products, 0);
        // On GPUs it is all or nothing.
        EXPECT_EQ(of_panels.dense_panel_products > 0, eps == 0 || TestFixture::runtime().gpus() == 0);
        EXPECT_EQ(of_panels.filtered_products > 0, eps > 0);
        EXPECT_EQ(of_panels.dense_panel_products<of_panels.panel_products, eps> 0);
      }
}

/// A bound that skips no product must not change the result.
TYPED_TEST(MultiplyDense, FilterThatSkipsNothing) {
  for (const Op op : all_ops) {
    ProductCase p = dense_case(repeated({1, 2, 1, 3}, 20), 9);
    p.op_b = op;
    p.alpha = -0.5, p.beta = 1;
    p.options.filter_eps = 1e-12;
    check_all_dense<TypeParam>(TestFixture::runtime(), p);
  }
}

/// Limits exclude parts of blocks and panels, so no dense products are used.
TYPED_TEST(MultiplyDense, NotWithLimits) {
  for (const MultiplyLimits& limits : {MultiplyLimits{.first_row = 3}, MultiplyLimits{.end_col = 16},
                                       MultiplyLimits{.first_inner = 4, .end_inner = 11}}) {
    ProductCase p = dense_case(repeated({1, 2, 1, 3}, 10), 7);
    p.beta = 0.5;
    p.options.limits = limits;
    EXPECT_EQ(check_product<TypeParam>(TestFixture::runtime(), p).dense_panel_products, 0);
    p.options.limits = {0, 17, 0, 17, 0, 17};
    check_all_dense<TypeParam>(TestFixture::runtime(), p);
  }
}

/// A matrix of small blocks whose first inner panels are full and whose other panels are almost
/// empty.
template <class T>
BlockSparseMatrix<T> half_full(Runtime& runtime, bool left, std::uint64_t seed) {
  const BlockLayout layout = square_layout(std::vector<Index>(80, 2), none, {}, 40);
  BlockSparseBuilder<T> builder(runtime, layout);
  for (Index i = 0; i < 80; ++i)
    for (Index j = 0; j < 80; ++j) {
      if ((left ? j : i) >= 40 && random_uniform(seed, 1, i, j) > -0.8) continue;
      Matrix<T> block(2, 2);
      for (Index q = 0; q < 4; ++q)
        block(q % 2, q / 2) = random_element<T>({seed, 1, true}, none, 2 * i + q % 2, 2 * j + q / 2);
      builder.put(i, j, std::as_const(block).view());
    }
  return builder.finalize();
}

/// By default the library uses dense products only for full panels of small blocks.
TYPED_TEST(MultiplyDenseOnCpu, WhereItIsWorthIt) {
  Runtime& runtime = TestFixture::runtime();
  const auto a = half_full<TypeParam>(runtime, true, 1), b = half_full<TypeParam>(runtime, false, 2);
  const DenseMatrix expected = gemm(dense(a), dense(b));
  for (const UseDense use : {UseDense::automatic, UseDense::never, UseDense::always})
    for (const double beta : {0.0, 1.0}) {
      auto c = half_full<TypeParam>(runtime, true, 3);
      DenseMatrix sum = dense(c);
      for (Index j = 0; j < sum.cols(); ++j)
        for (Index i = 0; i < sum.rows(); ++i) sum(i, j) = beta * sum(i, j) + expected(i, j);
      const MultiplyResult result =
          tessera::multiply({.a = a, .b = b, .beta = TypeParam(beta), .c = c}, {.dense = use});
      EXPECT_EQ(result.panel_products, 64);
      EXPECT_EQ(result.dense_panel_products, use == UseDense::automatic ? 32
                                             : use == UseDense::never   ? 0
                                                                        : 64);
      EXPECT_EQ(difference(dense(c), sum), 0);
    }
}

TYPED_TEST(MultiplyDense, BetaZeroDoesNotReadC) {
  Runtime& runtime = TestFixture::runtime();
  const ProductCase p = dense_case(repeated({2, 3}, 6), 4);
  ProductMatrices<TypeParam> m = make_matrices<TypeParam>(runtime, p);
  m.c.for_each_block_mutable([](Index, Index, MatrixView<TypeParam> block) {
    std::fill(block.data, block.data + block.rows * block.cols, not_a_number<TypeParam>());
  });
  EXPECT_TRUE(tessera::multiply({.a = m.a, .b = m.b, .c = m.c}, p.options));
  const DenseMatrix c = dense(m.c);
  for (Index j = 0; j < c.cols(); ++j)
    for (Index i = 0; i < c.rows(); ++i) EXPECT_TRUE(std::isfinite(std::abs(c(i, j))));
}

TEST_F(MultiplyDenseDouble, ResultMayBeAnOperand) {
  const ProductCase p = dense_case(repeated({2, 3}, 6), 5);
  for (int which = 0; which < 3; ++which) {
    ProductMatrices<double> m = make_matrices<double>(runtime(), p);
    const DenseMatrix a = dense(m.a), b = dense(m.b);
    const DenseMatrix expected = gemm(a, which == 2 ? a : b);
    BlockSparseMatrix<double>& c = which == 1 ? m.b : m.a;
    EXPECT_TRUE(tessera::multiply(
        {.a = m.a, .b = which == 2 ? m.a : m.b, .beta = which == 0 ? 1.0 : 0.0, .c = c}, p.options));
    DenseMatrix error = dense(c);
    for (Index j = 0; j < error.cols(); ++j)
      for (Index i = 0; i < error.rows(); ++i)
        error(i, j) -= expected(i, j) + (which == 0 ? a(i, j) : Wide(0));
    EXPECT_LE(norm_inf(error), 1e-13);
  }
}

TEST(MultiplyDenseDeterminism, AnyNumberOfWorkersGivesTheSameBits) {
  ProductCase p = dense_case(repeated({13, 5, 5}, 30), 12);
  p.panel_elements = 60;
  std::uint64_t first = 0;
  for (const int cores : {1, 2, 2, 3}) {
    Runtime runtime({.cores = cores, .gpus = 0});
    const std::uint64_t bits = fingerprint(outcome<double>(runtime, p).first);
    if (first == 0) first = bits;
    EXPECT_EQ(bits, first) << cores << " workers";
  }
}

}  // namespace
}  // namespace tessera::test
