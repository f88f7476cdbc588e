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

constexpr Symmetry none = Symmetry::none, symmetric = Symmetry::symmetric,
                   antisymmetric = Symmetry::antisymmetric, hermitian = Symmetry::hermitian;

constexpr Symmetries triples[] = {{none, none, none},
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

TYPED_TEST(MultiplySweep, SymmetriesAndTransposes) {
  for_each_symmetry(triples, repeated({1, 2, 1, 3}, 10), [](ProductCase& p) {
    p.beta = Wide(-1.2, p.c == hermitian || p.seed % 3 == 1 ? 0 : 0.4);
    check_product<TypeParam>(TestFixture::runtime(), p);
  });
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
      for (const Op op : all_ops)
        for (const bool retain : {false, true}) {
          ProductCase p;
          p.rows = p.cols = p.inner = repeated({1, 2, 1, 3}, 10);
          p.panel_elements = 9;
          ASSERT_EQ(std::accumulate(p.rows.begin(), p.rows.end(), Index(0)), 17);
          const auto& [a, b, c_kind] = triples[triple];
          p.a = a, p.b = b, p.c = c_kind, p.op_a = op, p.op_b = all_ops[seed % 3], p.seed = ++seed;
          p.alpha = seed % 2 ? 1 : -2;
          p.beta = std::array{Wide(0), Wide(1), Wide(0.3)}[seed / 2 % 3];
          p.options.limits = l;
          p.options.retain_sparsity = retain;
          SCOPED_TRACE(::testing::Message() << seed);
          check_product<TypeParam>(TestFixture::runtime(), p);
        }
}

TYPED_TEST(MultiplySweep, ShapesOfBlocks) {
  for_each_shape([](const ProductCase& p) { check_product<TypeParam>(TestFixture::runtime(), p); });
}

}  // namespace
}  // namespace tessera::test
