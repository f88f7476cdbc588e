// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <numeric>

#include <tests/algorithms/block_sparse/product_checks.hpp>
#include <tests/support/runtime_test.hpp>

namespace tessera::test {
namespace {

template <class T>
class MultiplySweep : public RuntimeTest<T> {};
TYPED_TEST_SUITE(MultiplySweep, Scalars);

constexpr Op ops[] = {Op::none, Op::transpose, Op::adjoint};
constexpr Symmetry none = Symmetry::none, symmetric = Symmetry::symmetric,
                   antisymmetric = Symmetry::antisymmetric, hermitian = Symmetry::hermitian;

/// A, B and C.
constexpr Symmetry triples[][3] = {{none, none, none},
                                   {none, none, symmetric},
                                   {none, symmetric, none},
                                   {symmetric, none, none},
                                   {symmetric, symmetric, none},
                                   {symmetric, symmetric, symmetric},
                                   {antisymmetric, none, none},
                                   {none, antisymmetric, none},
                                   {antisymmetric, symmetric, antisymmetric},
                                   {antisymmetric, antisymmetric, symmetric},
                                   {hermitian, hermitian, none},
                                   {hermitian, none, hermitian}};

ProductCase square_case(const std::vector<Index>& sizes) {
  ProductCase p;
  p.rows = p.cols = p.inner = sizes;
  p.panel_elements = 9;
  return p;
}

TYPED_TEST(MultiplySweep, SymmetriesAndTransposes) {
  std::uint64_t seed = 0;
  for (const auto& [a, b, c] : triples)
    for (const Op op_a : ops)
      for (const Op op_b : ops)
        for (const bool retain : {false, true}) {
          SCOPED_TRACE(::testing::Message()
                       << char(a) << char(b) << char(c) << char(op_a) << char(op_b) << retain);
          ProductCase p = square_case(repeated({1, 2, 1, 3}, 10));
          p.a = a, p.b = b, p.c = c, p.op_a = op_a, p.op_b = op_b, p.seed = ++seed;
          p.random_owners = seed % 2 == 0;
          p.alpha = Wide(0.7, seed % 3 == 0 ? -0.3 : 0);
          p.beta = Wide(-1.2, c == hermitian || seed % 3 == 1 ? 0 : 0.4);
          p.options.retain_sparsity = retain;
          check_product<TypeParam>(TestFixture::runtime(), p);
        }
}

TYPED_TEST(MultiplySweep, Limits) {
  constexpr Index all = std::numeric_limits<Index>::max();
  const MultiplyLimits limits[] = {{3, 11, 0, all, 0, all}, {0, all, 2, 9, 0, all}, {0, all, 0, all, 4, 13},
                                   {1, 12, 3, 15, 2, 14},   {0, 7, 7, 17, 7, 7},    {5, 5, 0, all, 0, all},
                                   {0, 17, 0, 17, 0, 17},   {3, 4, 8, 9, 6, 7},     {4, 8, 4, 8, 4, 8},
                                   {0, 1, 16, 17, 0, 17}};
  std::uint64_t seed = 100;
  for (const MultiplyLimits& l : limits)
    for (const std::size_t triple : {0, 2, 3, 5, 8})
      for (const Op op : ops)
        for (const bool retain : {false, true}) {
          ProductCase p = square_case(repeated({1, 2, 1, 3}, 10));
          ASSERT_EQ(std::accumulate(p.rows.begin(), p.rows.end(), Index(0)), 17);
          const auto& [a, b, c_kind] = triples[triple];
          p.a = a, p.b = b, p.c = c_kind, p.op_a = op, p.op_b = ops[seed % 3], p.seed = ++seed;
          p.alpha = seed % 2 ? 1 : -2;
          p.beta = std::array{Wide(0), Wide(1), Wide(0.3)}[seed / 2 % 3];
          p.options.limits = l;
          p.options.retain_sparsity = retain;
          SCOPED_TRACE(::testing::Message() << seed);
          check_product<TypeParam>(TestFixture::runtime(), p);
        }
}

TYPED_TEST(MultiplySweep, ShapesOfBlocks) {
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
      for (const Op op_a : {Op::none, Op::adjoint}) {
        ProductCase p;
        p.rows = shape.rows, p.cols = shape.cols, p.inner = shape.inner;
        p.op_a = op_a, p.seed = ++seed, p.op_b = ops[seed % 3], p.panel_elements = panel_elements;
        p.occupation = seed % 2 ? 0.5 : 1.5;
        p.alpha = -1, p.beta = 2;
        p.integers = seed % 4 < 2;
        SCOPED_TRACE(::testing::Message() << seed);
        check_product<TypeParam>(TestFixture::runtime(), p);
      }
}

}  // namespace
}  // namespace tessera::test
