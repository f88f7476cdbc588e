// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/symmetric_rows.hpp>
#include <tests/support/type_pairs.hpp>

#include "half_blocks.hpp"
#if TESSERA_WITH_CUDA
#include "gpu_device.hpp"
#include "half_blocks_kernels.hpp"
#endif

/// The baselines' products of integers, which are exact in all types.
namespace tessera::test {
namespace {

using program::HalfBlocks;
using program::HalfBlocksMethod;

template <class P>
class HalfBlocksTest : public ::testing::Test {
 public:
  using V = typename P::V;
  using T = typename P::T;

  static std::vector<double> block_of(Index rows, Index columns) {
    std::vector<double> x(static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(7 * i % 11) - 4;
    return x;
  }
  /// multiply(blocks, columns, x): Y.
  template <class Multiply>
  void check(const Multiply& multiply) {
    const ListRows rows[] = {random_rows(300, 9, 1), random_rows(120, 6, 2, {0, 1, 40, 41, 120}),
                             ListRows(ListRows::Lists(20)), ListRows(ListRows::Lists{{{0, 3}}})};
    for (const ListRows& of : rows)
      for (const Index size : {Index(1), Index(7), Index(50), of.order()}) {
        std::vector<Index> begins;
        for (Index begin = 0; begin < of.order(); begin += size) begins.push_back(begin);
        begins.push_back(of.order());
        const HalfBlocks<V> a = program::half_blocks<V>(of, begins, 2);
        EXPECT_EQ(static_cast<Index>(a.values.size()), of.stored());
        const std::vector<Index> sizes = program::block_sizes(of, begins, 2);
        ASSERT_EQ(sizes.size(), a.blocks.size());
        for (std::size_t b = 0; b < sizes.size(); ++b) EXPECT_EQ(sizes[b], a.blocks[b].entries);
        for (const Index columns : {1, 3, 32}) {
          const std::vector<double> x = block_of(of.order(), columns), expected = of.multiply(x, columns);
          const std::vector<T> y = multiply(a, static_cast<int>(columns), std::vector<T>(x.begin(), x.end()));
          EXPECT_TRUE(std::equal(y.begin(), y.end(), expected.begin(), expected.end()))
              << size << ' ' << columns;
        }
      }
  }
};
TYPED_TEST_SUITE(HalfBlocksTest, TypePairs);

TYPED_TEST(HalfBlocksTest, OnCores) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  for (const HalfBlocksMethod method : {HalfBlocksMethod::naive, HalfBlocksMethod::atomic})
    for (const int threads : {1, 3})
      this->check([&](const HalfBlocks<V>& a, int columns, const std::vector<T>& x) {
        std::vector<T> y(x.size(), not_a_number<T>());
        program::multiply_half_blocks(a, method, columns, x, y, threads);
        return y;
      });
}

#if TESSERA_WITH_CUDA

using program::DeviceMemory;

TYPED_TEST(HalfBlocksTest, OnGpu) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU";
  const program::Device device;
  for (const HalfBlocksMethod method :
       {HalfBlocksMethod::naive, HalfBlocksMethod::atomic, HalfBlocksMethod::cached})
    this->check([&](const HalfBlocks<V>& a, int columns, const std::vector<T>& x) {
      const DeviceMemory<program::HalfBlock> blocks(a.blocks);
      const DeviceMemory<std::int64_t> row_begins(a.row_begins), column_begins(a.column_begins),
          by_column(a.by_column);
      const DeviceMemory<V> values(a.values);
      const DeviceMemory<std::uint16_t> rows(a.rows), places(a.columns);
      const DeviceMemory<T> from(x), to(std::vector<T>(x.size(), not_a_number<T>()));
      const program::HalfBlocksOnGpu<V> view{a.block_rows(),       static_cast<std::int64_t>(a.blocks.size()),
                                             blocks.data(),        row_begins.data(),
                                             column_begins.data(), by_column.data(),
                                             values.data(),        rows.data(),
                                             places.data()};
      device.time([&] {
        EXPECT_TRUE(program::launch_half_blocks(device.stream(), view, method, columns, from.data(),
                                                to.data(), static_cast<std::int64_t>(x.size()) / columns));
      });
      return to.get(x.size());
    });
}

#endif

}  // namespace
}  // namespace tessera::test
