// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/codelets/block_sparse/product/dense_panel_case.hpp>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/block_sparse/product/dense_panels.hpp>

/// Expanding panels and extracting blocks on a GPU must give the bits of the CPU.
namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class GpuDensePanels : public ::testing::Test {
 protected:
  void SetUp() override { TESSERA_NEED_GPU(); }
};
TYPED_TEST_SUITE(GpuDensePanels, Scalars);

TYPED_TEST(GpuDensePanels, ExpandAndExtract) {
  for (const Index gap : {0, 3})
    for (const int absent : {0, 2, 3}) {
      const DensePanelCase<TypeParam> test(absent, gap);
      const DeviceArray<DenseBlock> blocks(test.blocks);
      const std::span<const DenseBlock> block_span(blocks.data(), test.blocks.size());
      const DeviceArray<TypeParam> values(test.values),
          dense(std::vector<TypeParam>(test.dense.size(), TypeParam(7))), expected(test.dense);
      device::launch_expand_panel<TypeParam>(nullptr, block_span, values.data(),
                                             {dense.data(), test.rows, test.cols, test.ld});
      EXPECT_EQ(dense.get(), test.dense);
      for (const Store store : {Store::overwrite, Store::add}) {
        const DeviceArray<TypeParam> into(test.before);
        device::launch_extract_blocks<TypeParam>(
            nullptr, block_span, {expected.data(), test.rows, test.cols, test.ld}, store, into.data());
        std::vector<TypeParam> by_cpu = test.before;
        kernels::extract_blocks<TypeParam>(test.blocks, test.view(test.dense), store, by_cpu.data());
        EXPECT_EQ(into.get(), by_cpu);
      }
    }
}

TYPED_TEST(GpuDensePanels, OneLargeBlock) {
  const Index m = 1500, n = 700;
  std::vector<TypeParam> values;
  for (Index e = 0; e < m * n; ++e) values.push_back(random_scalar<TypeParam>(3, e, 0));
  const DeviceArray<DenseBlock> block(std::vector<DenseBlock>{{0, 0, 0, m, n}});
  const DeviceArray<TypeParam> from(values), dense(values.size()), back(values.size());
  device::launch_expand_panel<TypeParam>(nullptr, {block.data(), 1}, from.data(), {dense.data(), m, n, m});
  EXPECT_EQ(dense.get(), values);
  device::launch_extract_blocks<TypeParam>(nullptr, {block.data(), 1}, {dense.data(), m, n, m},
                                           Store::overwrite, back.data());
  EXPECT_EQ(back.get(), values);
}

}  // namespace
}  // namespace tessera::test
