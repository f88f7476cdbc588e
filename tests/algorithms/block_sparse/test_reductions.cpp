// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "reduction_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace operations_test;
using test::Matrix;

template <class T>
class BlockSparseReductions : public RuntimeTest<T> {};
TYPED_TEST_SUITE(BlockSparseReductions, Scalars);

TYPED_TEST(BlockSparseReductions, OfAllSymmetries) {
  check_reductions<TypeParam>(this->runtime(), 5);
}

TYPED_TEST(BlockSparseReductions, OfRectangularAndEmptyMatrices) {
  for (const auto& [rows, cols] : rectangles)
    check_rectangular_reductions<TypeParam>(this->runtime(), rows, cols, 3);
}

TYPED_TEST(BlockSparseReductions, NaNComesThrough) {
  using T = TypeParam;
  const std::vector<Index> sizes{2, 3};
  auto [a, x] = make_problem<T>(this->runtime(), make_block_layout(this->runtime(), sizes, sizes), 1, 1);
  Matrix<T> block = x.block(2, 0, 3, 2);
  block(1, 0) = not_a_number<T>();
  a.put_block(1, 0, std::as_const(block).view());
  EXPECT_TRUE(std::isnan(max_abs_norm(a)));
  EXPECT_TRUE(std::isnan(gershgorin_norm(a)));
  EXPECT_TRUE(std::isnan(frobenius_norm(a)));
  EXPECT_TRUE(std::isnan(column_norms(a)[0]));
  EXPECT_FALSE(std::isnan(column_norms(a)[1]));
}

TYPED_TEST(BlockSparseReductions, RefuseBadArguments) {
  using T = TypeParam;
  const std::vector<Index> sizes = mixed_sizes(), others{20, 5};
  const BlockSparseMatrix<T> a =
      make_problem<T>(this->runtime(), make_block_layout(this->runtime(), sizes, sizes), 1).matrix;
  const BlockSparseMatrix<T> b =
      make_problem<T>(this->runtime(), make_block_layout(this->runtime(), others, sizes), 1).matrix;
  const BlockSparseMatrix<T> empty;
  expect_refused("b", [&] { dot(a, b); });
  expect_refused("b", [&] { dot(a, empty); });
  expect_refused("a", [&] { dot(empty, a); });
  expect_refused("a", [&] { trace(empty); });
  expect_refused("a", [&] { get_diagonal(empty); });
  expect_refused("a", [&] { block_norms_squared(empty); });
  expect_refused("a", [&] { frobenius_norm(empty); });
  expect_refused("a", [&] { max_abs_norm(empty); });
  expect_refused("a", [&] { gershgorin_norm(empty); });
  expect_refused("a", [&] { column_norms(empty); });
  expect_refused("a", [&] { checksum(empty); });
  expect_refused("a", [&] { occupation(empty); });
}

/// Results must be bitwise equal for any number of workers.
TEST(BlockSparseReductionsRepeated, DoNotDependOnTheWorkers) {
  using T = std::complex<double>;
  const std::vector<Index> sizes(40, 7);
  std::vector<std::vector<double>> results;
  for (const int cores : {1, 2, 3}) {
    Runtime runtime({.cores = cores, .gpus = 0, .bind = false});
    BlockLayout layout = random_layout(runtime, sizes, sizes, Symmetry::hermitian, 3);
    const auto a = make_problem<T>(runtime, layout, 1).matrix, b = make_problem<T>(runtime, layout, 2).matrix;
    std::vector<double>& numbers = results.emplace_back();
    for (int round = 0; round < 3; ++round) {
      for (const T x : {dot(a, b), trace(a)}) {
        numbers.push_back(x.real());
        numbers.push_back(x.imag());
      }
      for (const double x : {frobenius_norm(a), max_abs_norm(a), gershgorin_norm(a), checksum(a, true)})
        numbers.push_back(x);
      for (const double x : column_norms(a)) numbers.push_back(x);
    }
    const std::vector<double> once(numbers.begin(), numbers.begin() + Index(numbers.size() / 3));
    for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], once[i % once.size()]);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

}  // namespace
}  // namespace tessera
