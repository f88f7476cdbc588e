// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/codelets/block_sparse/product/dense_panel_case.hpp>

#include <tessera/codelets/block_sparse/symbolic/dense_choice.hpp>

/// The kernels for dense panel products on raw pointers, and the choice of such products.
namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class DensePanels : public ::testing::Test {};
TYPED_TEST_SUITE(DensePanels, Scalars);

TYPED_TEST(DensePanels, ExpandAndExtract) {
  for (const Index gap : {0, 3})
    for (const int absent : {0, 2, 3}) {
      const DensePanelCase<TypeParam> test(absent, gap);
      std::vector<TypeParam> dense(test.dense.size(), TypeParam(7));
      kernels::expand_panel<TypeParam>(test.blocks, test.values.data(), test.view(dense));
      EXPECT_EQ(dense, test.dense) << "the gaps are not touched";
      for (const Store store : {Store::overwrite, Store::add}) {
        std::vector<TypeParam> values = test.before;
        const std::vector<TypeParam>& from = test.dense;
        kernels::extract_blocks<TypeParam>(test.blocks, test.view(from), store, values.data());
        for (std::size_t e = 0; e < values.size(); ++e)
          ASSERT_EQ(values[e], (store == Store::add ? test.before[e] : TypeParam(0)) + test.values[e]) << e;
      }
    }
}

TYPED_TEST(DensePanels, NothingStored) {
  std::vector<TypeParam> dense(6, TypeParam(7));
  kernels::expand_panel<TypeParam>({}, nullptr, {dense.data(), 2, 3, 2});
  EXPECT_EQ(dense, std::vector<TypeParam>(6, TypeParam(0)));
  kernels::expand_panel<TypeParam>({}, nullptr, {nullptr, 0, 0, 1});
  kernels::extract_blocks<TypeParam>({}, MatrixView<const TypeParam>{dense.data(), 2, 3, 2}, Store::add,
                                     nullptr);
}

/// Products of blocks of one size, as a share of the products of full panels.
std::vector<StackClass> products_of(Index block, Index extent, double share) {
  const auto size = static_cast<std::int32_t>(block);
  const double blocks = static_cast<double>(extent / block);
  return {{size, size, size, 0, 0, 0, static_cast<std::int32_t>(share * blocks * blocks * blocks)}};
}

TEST(DenseChoice, SmallBlocksThatFillTheirPanels) {
  const auto chosen = [](WorkerKind worker, Index block, Index extent, double share) {
    return choose_dense({UseDense::automatic, worker, 8, false}, products_of(block, extent, share), extent,
                        extent, extent);
  };
  for (const WorkerKind worker : {WorkerKind::cpu, WorkerKind::gpu}) {
    EXPECT_TRUE(chosen(worker, 2, 600, 0.6));
    EXPECT_TRUE(chosen(worker, 5, 600, 0.95));
    EXPECT_FALSE(chosen(worker, 2, 600, 0.9 * least_dense_share)) << "memory is bounded";
    EXPECT_FALSE(chosen(worker, 5, 10, 1)) << "not worth a task";
    // If a share suffices, a larger share must suffice too.
    for (const Index block : {2, 5, 8, 13, 23, 40}) {
      bool before = false;
      for (int tenths = 0; tenths <= 10; ++tenths) {
        const bool now = chosen(worker, block, 2000, 0.1 * tenths);
        EXPECT_TRUE(now || !before);
        before = now;
      }
    }
  }
  EXPECT_TRUE(chosen(WorkerKind::gpu, 5, 736, 0.64));
  EXPECT_FALSE(chosen(WorkerKind::cpu, 23, 600, 1)) << "blocks are large enough by themselves";
  EXPECT_FALSE(chosen(WorkerKind::cpu, 5, 600, 0.4));
}

TEST(DenseChoice, AsAskedFor) {
  const auto few = products_of(5, 1000, 1e-4);
  EXPECT_TRUE(choose_dense({.use = UseDense::always}, few, 1000, 1000, 1000));
  EXPECT_FALSE(choose_dense({.use = UseDense::always}, {}, 1000, 1000, 1000));
  EXPECT_FALSE(choose_dense({.use = UseDense::never}, products_of(2, 1000, 1), 1000, 1000, 1000));
  EXPECT_FALSE(choose_dense({.use = UseDense::automatic}, {}, 0, 0, 0));
}

}  // namespace
}  // namespace tessera::test
