// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_plan.hpp>

namespace tessera::test {
using namespace detail;
namespace {

struct Element {
  int bytes;
  bool complex;
};

template <class F>
void for_each_plan(const F& check) {
  for (const Element element : {Element{4, false}, Element{8, false}, Element{8, true}, Element{16, true}})
    for (int m = 1; m <= 80; ++m)
      for (int n = 1; n <= 80; ++n)
        for (int k = 1; k <= 80; ++k)
          check(element, m, n, k, stack_plan(element.bytes, element.complex, m, n, k));
}

// A plan that exceeds the multiprocessor's resources could not start; tiles that do not cover the
// block would give wrong results.
TEST(StackPlan, FitsAMultiprocessorAndCoversTheBlock) {
  int wrong = 0;
  for_each_plan([&](Element element, int m, int n, int k, const StackPlan& plan) {
    const int warps = plan.warps_m * plan.warps_n, blocks = plan.blocks_per_multiprocessor;
    bool right = plan.parts >= 1 && plan.threads == 32 * warps * plan.parts && plan.threads <= 1024 &&
                 plan.shared_bytes <= 227 * 1024;
    right &= blocks >= 1 && blocks <= 32 && blocks * plan.threads <= 2048 &&
             blocks * (plan.shared_bytes + 1024) <= 228 * 1024;
    right &= 8 * plan.tiles_m * plan.warps_m >= m && 8 * plan.tiles_n * plan.warps_n >= n;
    if (plan.staged)
      right &=
          plan.stages >= 2 && plan.slice >= 1 && plan.slice <= k &&
          (plan.slice == k || plan.slice % 4 == 0) &&
          plan.shared_bytes >= plan.parts * plan.stages * stack_buffer_bytes(element.bytes, m, n, plan.slice);
    else
      right &= warps == 1 && plan.products >= 1 && plan.products <= 32;
    if (!right && ++wrong <= 3)
      ADD_FAILURE() << m << " x " << n << " x " << k << ", " << element.bytes << " bytes, complex "
                    << element.complex;
  });
  EXPECT_EQ(wrong, 0);
}

// Shared memory has no bank conflicts if dimensions are odd, or multiples of 8 (in double
// precision).
TEST(StackPlan, SpacingAvoidsConflicts) {
  for (const int order : {9, 13, 16, 23, 24, 32, 45}) {
    const int ld = stack_leading_dimension(8, order), spacing = stack_spacing(8, ld, ld);
    EXPECT_EQ(stack_conflicts(8, 1, spacing * ld), 1) << order;
    EXPECT_EQ(stack_conflicts(8, ld, spacing), 1) << order;
  }
}

}  // namespace
}  // namespace tessera::test
