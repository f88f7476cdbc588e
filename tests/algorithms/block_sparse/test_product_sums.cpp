// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "product_sum_cases.hpp"
#include "product_wait_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace operations_test;

template <class T>
class ProductSums : public RuntimeTest<T> {};
TYPED_TEST_SUITE(ProductSums, Scalars);

TYPED_TEST(ProductSums, AreThoseOfTheResult) {
  for (const unsigned seed : {0u, 5u}) check_sums<TypeParam>(this->runtime(), seed);
}

TYPED_TEST(ProductSums, OfHalfStoredResults) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const std::vector<Index> sizes(9, 4);
  const Symmetry symmetry = is_complex<T> ? Symmetry::hermitian : Symmetry::symmetric;
  const BlockLayout half = make_block_layout(runtime, sizes, sizes, symmetry),
                    whole = make_block_layout(runtime, sizes, sizes, Symmetry::none);
  const auto a = make_problem<T>(runtime, half, 51).matrix;
  for (const BlockLayout& of_d : {half, whole}) {
    auto c = make_problem<T>(runtime, half, 53, 0).matrix;
    const auto [d, dense_d] = make_problem<T>(runtime, of_d, 54);
    const MultiplyResult r =
        multiply(runtime, {.a = a, .b = a, .c = c, .dot_with = &d}, {.trace = true, .frobenius_norm = true});
    ASSERT_TRUE(r) << r.status().message();
    const auto dense = dense_of(c);
    const double norm = std::sqrt(dense_dot(dense, dense).real());
    const std::complex<double> dot = dense_dot(dense, dense_d), trace = dense_trace(dense);
    const double rounding = 1e-14 * norm * 36;
    EXPECT_NEAR(r.frobenius_norm, norm, rounding);
    EXPECT_NEAR(std::abs(r.trace - trace), 0, rounding);
    EXPECT_NEAR(std::abs(r.dot - dot), 0, rounding);
  }
}

TYPED_TEST(ProductSums, AreNotFormedUnasked) {
  using T = TypeParam;
  const std::vector<Index> sizes(3, 4);
  const BlockLayout layout = make_block_layout(this->runtime(), sizes, sizes, Symmetry::none);
  const auto a = make_problem<T>(this->runtime(), layout, 51, 1).matrix;
  auto c = make_problem<T>(this->runtime(), layout, 53).matrix;
  const MultiplyResult r = multiply(this->runtime(), {.a = a, .b = a, .c = c});
  EXPECT_EQ(r.trace, 0.0);
  EXPECT_EQ(r.dot, 0.0);
  EXPECT_EQ(r.frobenius_norm, 0);
}

TYPED_TEST(ProductSums, RefuseAnotherSizeOfD) {
  using T = TypeParam;
  const std::vector<Index> sizes(3, 4), others(4, 3);
  const BlockLayout layout = make_block_layout(this->runtime(), sizes, sizes, Symmetry::none);
  const auto a = make_problem<T>(this->runtime(), layout, 51).matrix;
  auto c = make_problem<T>(this->runtime(), layout, 53).matrix;
  const auto d =
      make_problem<T>(this->runtime(), make_block_layout(this->runtime(), others, sizes), 51).matrix;
  const BlockSparseMatrix<T> none;
  for (const BlockSparseMatrix<T>* wrong : {&d, &none})
    expect_refused("D",
                   [&] { (void)multiply(this->runtime(), {.a = a, .b = a, .c = c, .dot_with = wrong}); });
  for (const double eps : {-1.0, std::nan("")}) expect_refused("eps", [&] { (void)submit_filter(c, eps); });
}

TEST(ProductWaits, OneForTheSizeOfC) {
  Runtime runtime({.cores = 2, .gpus = 0});
  test::check_waits(runtime);
}

}  // namespace
}  // namespace tessera
