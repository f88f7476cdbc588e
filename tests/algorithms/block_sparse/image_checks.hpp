// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tests/algorithms/block_sparse/generated.hpp>
#include <tests/algorithms/block_sparse/product_checks.hpp>

/// Products of matrices that need images, again and again.
namespace tessera::test {

/// The values of another seed in the blocks of a matrix.
template <class T>
void change_values(BlockSparseMatrix<T>& a, std::uint64_t seed) {
  const Symmetry symmetry = a.symmetry();
  const BlockLayout layout = a.layout();
  a.for_each_block_mutable([&](Index row, Index col, MatrixView<T> values) {
    for (Index j = 0; j < values.cols; ++j)
      for (Index i = 0; i < values.rows; ++i)
        values(i, j) = random_element<T>({.seed = seed}, symmetry, layout.rows->first(row) + i,
                                         layout.cols->first(col) + j);
  });
}

/// Products of a case with plans and without, of other values in between: the same bits, and right.
template <class T>
void check_images(Runtime& runtime, const ProductCase& p) {
  ProductMatrices<T> m = make_matrices<T>(runtime, p);
  const Index images = check_product<T>(runtime, p).images;
  for (const std::uint64_t seed : {0, 91, 92}) {
    if (seed > 0) change_values(m.a, seed), change_values(m.b, seed + 10);
    double scale = 0;
    const DenseMatrix expected = expected_values(p, m, scale);
    std::vector<std::uint64_t> bits;
    for (const bool reuse : {true, false, true}) {
      auto c = random_blocks<T>(runtime, m.c.layout(), {10 * p.seed + 6, p.occupation, p.integers});
      MultiplyOptions options = p.options;
      options.reuse_plan = reuse;
      const MultiplyResult result = tessera::multiply({.alpha = narrow<T>(p.alpha),
                                                       .a = {m.a, p.op_a},
                                                       .b = {m.b, p.op_b},
                                                       .beta = narrow<T>(p.beta),
                                                       .c = c},
                                                      options);
      EXPECT_TRUE(result) << result.status().message();
      EXPECT_EQ(result.images, images);
      EXPECT_EQ(result.images_reused, reuse ? images : 0);
      EXPECT_EQ(result.plan_reused, reuse);
      bits.push_back(fingerprint(c));
      DenseMatrix wanted = expected, computed = dense(c);
      keep_blocks<T>(wanted, c, nullptr);
      keep_blocks<T>(computed, c, nullptr);
      EXPECT_LE(difference(computed, wanted), 1e2 * scale * double(precision<T>));
    }
    EXPECT_EQ(bits, std::vector<std::uint64_t>(3, bits.front()));
  }
}

/// Calls `test` with cases of all symmetries, transposes, limits, factors and distributions.
template <class Test>
void for_each_image_case(const Test& test) {
  constexpr Symmetry symmetries[] = {Symmetry::none, Symmetry::symmetric, Symmetry::hermitian,
                                     Symmetry::antisymmetric};
  std::uint64_t seed = 0;
  for (const Symmetry a : symmetries)
    for (const Symmetry b : {Symmetry::none, a})
      for (const Op op_a : all_ops)
        for (const bool limits : {false, true}) {
          ProductCase p;
          p.rows = p.cols = p.inner = repeated({1, 2, 0, 3}, 14);
          p.a = a, p.b = b, p.op_a = op_a, p.op_b = all_ops[seed % 3], p.seed = ++seed + 300;
          p.panel_elements = 6;
          p.random_owners = seed % 5 == 0;
          p.alpha = seed % 4 < 2 ? Wide(1) : Wide(0.5, -0.25), p.beta = seed % 2 ? 1 : 0;
          if (limits) p.options.limits = {2, 17, 0, 19, 3, 20};
          SCOPED_TRACE(::testing::Message() << char(a) << char(b) << char(op_a) << char(p.op_b) << limits);
          test(p);
        }
}

}  // namespace tessera::test
