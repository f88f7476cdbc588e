// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/block_sparse/dense_reference.hpp>
#include <tests/support/device_array.hpp>

#include "product_sum_cases.hpp"

/// Panels of more small blocks than a GPU has warps: each warp looks several of them up at a time.
namespace tessera {
namespace {

using namespace operations_test;

template <class T>
class GpuManyBlocks : public ::testing::Test {
 public:
  void SetUp() override { TESSERA_NEED_GPU(); }
};
using RealAndComplex = ::testing::Types<double, std::complex<float>>;
TYPED_TEST_SUITE(GpuManyBlocks, RealAndComplex);

/// A product, its sums, and a filter, against dense matrices.
TYPED_TEST(GpuManyBlocks, ProductSumsAndFilter) {
  using T = TypeParam;
  constexpr double occupation = 0.6;
  Runtime runtime({.cores = 2, .gpus = 1});
  std::vector<Index> sizes;
  for (Index b = 0; b < 520; ++b) sizes.push_back(1 + b % 3);
  const auto panel = BlockDimension::make(sizes, 1, {}, 4096);
  const BlockLayout layout{panel, panel, {}, is_complex<T> ? Symmetry::hermitian : Symmetry::symmetric};
  const test::Matrix<T> elements = test::random_dense<T>(layout, 7);
  const auto a = test::drawn_matrix(runtime, layout, elements, occupation, 7);
  // 16896 warps run at a time: 132 multiprocessors, 16 thread blocks of 8.
  ASSERT_GT(a.pattern().blocks(), 4 * 16896);
  const test::Matrix<T> dense = test::drawn_dense(layout, elements, occupation, 7),
                        square = test::multiply(dense, dense);
  BlockSparseMatrix<T> c(BlockPattern::make(runtime, layout, {}));
  const MultiplyResult r =
      multiply(runtime, {.a = a, .b = a, .c = c, .dot_with = &a}, {.trace = true, .frobenius_norm = true});
  ASSERT_TRUE(r) << r.status().message();
  const double norm = std::sqrt(dense_dot(square, square).real()),
               rounding = 10 * static_cast<double>(precision<T>) * norm;
  EXPECT_LE(test::difference(dense_of(c), square), rounding);
  // The reference adds a million terms one by one.
  EXPECT_NEAR(r.frobenius_norm, norm, rounding + 1e-13 * norm);
  EXPECT_NEAR(r.trace.real(), dense_trace(square).real(), 30 * rounding);
  EXPECT_NEAR(r.dot.real(), dense_dot(square, dense).real(), 1000 * rounding);

  const test::Matrix<T> before = dense_of(c);
  const double eps = norm / 700;
  const Index blocks = c.pattern().blocks(), dropped = filter(c, eps);
  EXPECT_EQ(c.pattern().blocks(), blocks - dropped);
  EXPECT_GT(c.pattern().blocks(), 2 * 16896);
  Index small = 0;
  test::Matrix<T> kept = before;
  for (Index i = 0; i < panel->blocks(); ++i)
    for (Index j = 0; j <= i; ++j) {
      double sum = 0;
      const auto each = [&](const auto& visit) {
        for (Index n = panel->first(j); n < panel->first(j + 1); ++n)
          for (Index m = panel->first(i); m < panel->first(i + 1); ++m) visit(m, n);
      };
      each([&](Index m, Index n) { sum += std::norm(std::complex<double>(before(m, n))); });
      if (std::sqrt(sum) >= eps) continue;
      ++small;
      each([&](Index m, Index n) { kept(m, n) = kept(n, m) = T(0); });
    }
  EXPECT_EQ(dropped, small);
  EXPECT_GT(dropped, 1000);
  EXPECT_TRUE(test::identical(dense_of(c), kept));
}

}  // namespace
}  // namespace tessera
