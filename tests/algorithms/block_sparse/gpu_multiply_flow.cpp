// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/generated.hpp>
#include <tests/algorithms/block_sparse/product_wait_cases.hpp>
#include <tests/support/device_array.hpp>

#include <tessera/multiply.hpp>

/// Where the data of products on a GPU are located, and what is copied.
namespace tessera::test {
namespace {

const std::vector<Index> sizes(36, 40);
constexpr double matrix_bytes = 1440.0 * 1440 * sizeof(double);
constexpr double index_bytes = 36.0 * 36 * 16;  ///< at most: 16 bytes a block

/// Small integers, so that their products are exact.
BlockSparseMatrix<double> whole_numbers(Runtime& runtime, std::uint64_t seed) {
  auto a = random_block_sparse<double>(runtime, square_layout(sizes, Symmetry::none, {}, 400), 1.0, seed);
  a.for_each_block_mutable([](Index, Index, MatrixView<double> block) {
    for (Index j = 0; j < block.cols; ++j)
      for (Index i = 0; i < block.rows; ++i) block(i, j) = std::round(3 * block(i, j));
  });
  return a;
}

BlockSparseMatrix<double> product(const BlockSparseMatrix<double>& a, const BlockSparseMatrix<double>& b,
                                  const MultiplyOptions& options, MultiplyResult* result = nullptr) {
  BlockSparseMatrix<double> c(
      BlockPattern::make(a.runtime(), a.layout(), std::span<const BlockCoordinate>()));
  const MultiplyResult done = tessera::multiply({.a = a, .b = b, .c = c}, options);
  if (result) *result = done;
  return c;
}

/// Fingerprint of (A B) B.
std::uint64_t square_times(Runtime& runtime, const MultiplyOptions& options) {
  const auto a = whole_numbers(runtime, 1), b = whole_numbers(runtime, 2);
  return fingerprint(product(product(a, b, options), b, options));
}

TEST(GpuMultiplyFlow, HasTheBitsOfTheCpu) {
  TESSERA_NEED_GPU();
  std::uint64_t expected = 0;
  {
    Runtime runtime({.cores = 2, .gpus = 0});
    expected = square_times(runtime, {});
  }
  for (const bool hybrid : {false, true}) {
    Runtime runtime({.cores = 2, .gpus = 1, .hybrid = hybrid});
    for (const bool on_host : {false, true})
      EXPECT_EQ(square_times(runtime, {.result_on_host = on_host}), expected) << hybrid << on_host;
    EXPECT_EQ(square_times(runtime, {.filter_eps = 1e-3}), expected) << "nothing is small: all stays";
  }
}

TEST(GpuMultiplyFlow, WaitsForTheSizeOfCAlone) {
  TESSERA_NEED_GPU();
  Runtime runtime({.cores = 2, .gpus = 1});
  check_waits(runtime);
}

TEST(GpuMultiplyFlow, ResultsStayOnTheGpuUntilTheyAreAskedFor) {
  TESSERA_NEED_GPU();
  Runtime runtime({.cores = 2, .gpus = 1});
  const auto a = whole_numbers(runtime, 1), b = whole_numbers(runtime, 2);
  MultiplyResult result;
  runtime.profile(true);
  const auto c = product(a, b, {}, &result);
  const double operands = runtime.bytes_moved();
  EXPECT_GE(operands, 2 * matrix_bytes);
  EXPECT_LT(operands, 2.5 * matrix_bytes) << "beside the operands, lists of products alone";
  ASSERT_EQ(result.shapes.size(), 1u);
  EXPECT_EQ(result.shapes[0].gpu_products, result.products);
  const auto d = product(c, b, {});
  EXPECT_LT(runtime.bytes_moved(), 0.5 * matrix_bytes) << "both operands were there";
  const auto e = product(d, b, {.result_on_host = true});
  EXPECT_GE(runtime.bytes_moved(), matrix_bytes);
  fingerprint(e);
  EXPECT_LT(runtime.bytes_moved(), index_bytes) << "its values were on the host already";
  fingerprint(c);
  const double moved = runtime.bytes_moved();
  EXPECT_GE(moved, matrix_bytes) << "it was on the GPU alone";
  EXPECT_LT(moved, matrix_bytes + index_bytes);
  runtime.profile(false);
}

}  // namespace
}  // namespace tessera::test
