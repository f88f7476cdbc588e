// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_choice.hpp>

namespace tessera::test {
using namespace detail;
namespace {

using device::StackShape;

auto numbers(const StackPlan& plan) {
  return std::tuple(plan.staged, plan.parts, plan.warps_m, plan.warps_n, plan.stages, plan.slice,
                    plan.products, plan.blocks_per_multiprocessor);
}

TEST(StackChoice, TheFormulaIsValid) {
  int wrong = 0;
  for (const char type : {'s', 'd', 'c', 'z'})
    for (int m = 1; m <= 80; ++m)
      for (int n = 1; n <= 80; n += 3)
        for (int k = 1; k <= 80; ++k) {
          const StackShape shape{type, m, n, k};
          const StackPlan plan = device::formula_plan(shape);
          if ((!device::is_valid_plan(plan, shape) || device::plan_with(plan, shape) != plan) && ++wrong <= 3)
            ADD_FAILURE() << type << ' ' << m << " x " << n << " x " << k << ": "
                          << device::describe_plan(plan);
        }
  EXPECT_EQ(wrong, 0);
}

/// What a multiprocessor and the kernel allow, written down once more.
void expect_possible(const StackPlan& plan, const StackShape& shape, int element_bytes) {
  const int warps = plan.warps_m * plan.warps_n, blocks = plan.blocks_per_multiprocessor;
  EXPECT_EQ(plan.threads, 32 * warps * plan.parts);
  EXPECT_LE(plan.threads, 1024);
  EXPECT_GE(blocks, 1);
  EXPECT_LE(blocks * plan.threads, 2048);
  EXPECT_LE(blocks * (plan.shared_bytes + 1024), 228 * 1024);
  EXPECT_LE(plan.shared_bytes, 227 * 1024);
  EXPECT_GE(8 * plan.tiles_m * plan.warps_m, shape.m);
  EXPECT_GE(8 * plan.tiles_n * plan.warps_n, shape.n);
  if (plan.staged) {
    EXPECT_GE(plan.stages, 2);
    EXPECT_TRUE(plan.slice == shape.k || plan.slice % 4 == 0);
    EXPECT_LE(plan.slice, shape.k);
    EXPECT_GE(plan.shared_bytes,
              plan.parts * plan.stages *
                  stack_buffer_bytes({element_bytes, shape.type == 'c' || shape.type == 'z'}, shape.m,
                                     shape.n, plan.slice));
  } else {
    EXPECT_EQ(warps, 1);
    EXPECT_GE(plan.products, 1);
    EXPECT_LE(plan.products, 32) << "each is held by one thread of a warp";
  }
}

TEST(StackChoice, PlansNearTheFormulaAreValidAndDifferent) {
  for (const auto& [shape, bytes] :
       {std::pair(StackShape{'d', 23, 23, 23}, 8), std::pair(StackShape{'s', 1, 1, 1}, 4),
        std::pair(StackShape{'d', 5, 5, 5}, 8), std::pair(StackShape{'z', 80, 80, 80}, 16),
        std::pair(StackShape{'c', 13, 5, 26}, 8), std::pair(StackShape{'d', 80, 1, 3}, 8)}) {
    const std::vector<StackPlan> all = device::plans_near_formula(shape, 100000),
                                 few = device::plans_near_formula(shape, 7);
    ASSERT_GT(all.size(), 20u);
    EXPECT_EQ(all.front(), device::formula_plan(shape));
    ASSERT_EQ(few.size(), 7u);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin())) << "the nearest ones";
    std::set<decltype(numbers(all[0]))> different;
    for (const StackPlan& plan : all) {
      EXPECT_TRUE(device::is_valid_plan(plan, shape)) << device::describe_plan(plan);
      expect_possible(plan, shape, bytes);
      EXPECT_EQ(device::plan_with(plan, shape), plan);
      different.insert(numbers(plan));
    }
    EXPECT_EQ(different.size(), all.size());
  }
  EXPECT_EQ(device::plans_near_formula({'d', 23, 23, 23}, 1).size(), 1u);
}

TEST(StackChoice, TheFirstOnesDifferInOneNumber) {
  const std::vector<StackPlan> plans = device::plans_near_formula({'d', 23, 23, 23}, 20);
  int parts = 0, stages = 0, slices = 0, warps = 0, blocks = 0;
  for (const StackPlan& plan : plans) {
    parts += plan.parts != plans[0].parts;
    stages += plan.stages != plans[0].stages;
    slices += plan.slice != plans[0].slice;
    warps += plan.warps_m * plan.warps_n != 1;
    blocks += plan.blocks_per_multiprocessor != plans[0].blocks_per_multiprocessor;
  }
  for (const int changed : {parts, stages, slices, warps, blocks}) EXPECT_GT(changed, 0);
}

TEST(StackChoice, RefusesWhatCannotBe) {
  const StackShape staged{'d', 23, 23, 23}, direct{'d', 5, 5, 5};
  const StackPlan good = device::formula_plan(staged), small = device::formula_plan(direct);
  ASSERT_TRUE(good.staged);
  ASSERT_FALSE(small.staged);
  const auto refused = [](StackPlan plan, const StackShape& shape, const auto& change) {
    change(plan);
    EXPECT_FALSE(device::is_valid_plan(plan, shape)) << device::plan_as_argument(plan);
    EXPECT_FALSE(device::plan_with(plan, shape)) << device::plan_as_argument(plan);
  };
  for (const int bad : {0, -1, 1000, 1 << 30, -(1 << 30)}) {
    for (int StackPlan::*number :
         {&StackPlan::parts, &StackPlan::warps_m, &StackPlan::warps_n, &StackPlan::stages, &StackPlan::slice,
          &StackPlan::blocks_per_multiprocessor})
      refused(good, staged, [&](StackPlan& plan) { plan.*number = bad; });
    for (int StackPlan::*number :
         {&StackPlan::parts, &StackPlan::products, &StackPlan::blocks_per_multiprocessor})
      refused(small, direct, [&](StackPlan& plan) { plan.*number = bad; });
  }
  refused(good, staged, [](StackPlan& plan) { plan.stages = 1; });
  refused(good, staged, [](StackPlan& plan) { plan.slice = 10; });
  refused(good, staged, [](StackPlan& plan) { plan.slice = 24; });
  refused(good, staged, [](StackPlan& plan) { plan.products = 2; });
  refused(good, staged, [](StackPlan& plan) { plan.staged = false; });
  refused(good, staged, [](StackPlan& plan) { plan.parts = 8, plan.warps_m = 3, plan.warps_n = 3; });
  refused(good, staged, [](StackPlan& plan) { plan.blocks_per_multiprocessor = 32; });
  refused(small, direct, [](StackPlan& plan) { plan.warps_n = 2; });
  refused(small, direct, [](StackPlan& plan) { plan.slice = 4; });
  refused(small, direct, [](StackPlan& plan) { plan.products = 33; });
  // The sums of 80 x 80 elements are too many for one warp.
  refused(device::formula_plan({'z', 80, 80, 80}), {'z', 80, 80, 80},
          [](StackPlan& plan) { plan.warps_m = plan.warps_n = 1; });
  // What follows from the rest must follow from it.
  for (int StackPlan::*number : {&StackPlan::threads, &StackPlan::shared_bytes, &StackPlan::tiles_m}) {
    StackPlan plan = good;
    ++(plan.*number);
    EXPECT_FALSE(device::is_valid_plan(plan, staged));
    EXPECT_EQ(device::plan_with(plan, staged), good);
  }
}

TEST(StackChoice, Describes) {
  const StackPlan plan{.threads = 1,
                       .shared_bytes = 2,
                       .blocks_per_multiprocessor = 3,
                       .staged = true,
                       .parts = 1,
                       .warps_m = 2,
                       .warps_n = 4,
                       .tiles_m = 5,
                       .tiles_n = 6,
                       .stages = 7,
                       .slice = 8,
                       .products = 0};
  EXPECT_EQ(device::describe_plan(plan), "1 part of 2 x 4 warps, 7 buffers of 8, 3 blocks");
  EXPECT_EQ(device::plan_as_argument(plan),
            "tessera::detail::StackPlan{1, 2, 3, true, 1, 2, 4, 5, 6, 7, 8, 0}");
}

}  // namespace
}  // namespace tessera::test
