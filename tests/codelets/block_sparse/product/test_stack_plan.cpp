// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_plan.hpp>
#include <tessera/codelets/linalg/stack_entry.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class F>
void for_each_plan(const F& check) {
  for (const StackElement element :
       {StackElement{4, false}, StackElement{8, false}, StackElement{8, true}, StackElement{16, true}})
    for (int m = 1; m <= 80; ++m)
      for (int n = 1; n <= 80; ++n)
        for (int k = 1; k <= 80; ++k)
          check(element, m, n, k, stack_plan(element.bytes, element.complex, m, n, k));
}

// A run that is taken twice, or never, would give wrong blocks.
TEST(StackOrder, TakesEachRunOnceAndStripByStrip) {
  for (const int per_row : {0, 1, 31, 32, 33, 64, 100, 167})
    for (const int rows : {1, 2, 7, 50})
      for (const int rest : {0, 1, 5}) {
        const int count = rows * per_row + rest, columns = std::min(per_row, 32);
        std::vector<int> taken(static_cast<std::size_t>(count), 0);
        for (int number = 0; number < count; ++number) {
          const int place = place_of_run(number, count, per_row);
          ASSERT_TRUE(0 <= place && place < count) << per_row << ' ' << count << ' ' << number;
          ++taken[static_cast<std::size_t>(place)];
          if (per_row > 0 && number < rows * columns && rest < per_row) {
            EXPECT_LT(place % per_row, columns) << per_row << ' ' << count << ' ' << number;
          }
        }
        EXPECT_EQ(std::count(taken.begin(), taken.end(), 1), count) << per_row << ' ' << rest;
      }
}

// The kernel takes an entry as a number (PackedEntry in stack_copies.cuh).
TEST(StackEntry, HasItsPartsFromTheLowestBitOn) {
  for (const auto& [a, b, panel] : {std::tuple(0, 0, 0), std::tuple(1, 0, 0), std::tuple(0, 1, 0),
                                    std::tuple(0, 0, 1), std::tuple((1 << 29) - 1, (1 << 29) - 2, 63)}) {
    const StackEntry entry(a, b, panel);
    unsigned long long bits = 0;
    std::memcpy(&bits, &entry, sizeof bits);
    EXPECT_EQ(bits & ((1ull << 29) - 1), static_cast<unsigned long long>(a));
    EXPECT_EQ(bits >> 29 & ((1ull << 29) - 1), static_cast<unsigned long long>(b));
    EXPECT_EQ(bits >> 58, static_cast<unsigned long long>(panel));
  }
}

// Products that are dealt to threads go to four of them evenly.
TEST(StackPlan, DealsSmallProductsOfSinglePrecisionToThreads) {
  for (const StackElement element : {StackElement{4, false}, StackElement{8, true}})
    for (int m = 1; m <= 8; ++m)
      for (int k = 1; k <= 80; ++k)
        EXPECT_EQ(stack_by_lanes(stack_plan(element.bytes, element.complex, m, 9 - m, k), k), k <= 16) << k;
}

// A plan that exceeds the multiprocessor's resources could not start; tiles that do not cover the
// block would give wrong results.
TEST(StackPlan, FitsAMultiprocessorAndCoversTheBlock) {
  int wrong = 0;
  for_each_plan([&](StackElement element, int m, int n, int k, const StackPlan& plan) {
    const int warps = plan.warps_m * plan.warps_n, blocks = plan.blocks_per_multiprocessor;
    bool right = plan.parts >= 1 && plan.threads == 32 * warps * plan.parts && plan.threads <= 1024 &&
                 plan.shared_bytes <= 227 * 1024;
    right &= blocks >= 1 && blocks <= 32 && blocks * plan.threads <= 2048 &&
             blocks * (plan.shared_bytes + 1024) <= 228 * 1024;
    right &= 8 * plan.tiles_m * plan.warps_m >= m && 8 * plan.tiles_n * plan.warps_n >= n;
    if (plan.staged)
      right &= plan.stages >= 2 && plan.slice >= 1 && plan.slice <= k &&
               (plan.slice == k || plan.slice % 4 == 0) &&
               plan.shared_bytes >= plan.parts * plan.stages * stack_buffer_bytes(element, m, n, plan.slice);
    else
      right &= warps == 1 && plan.products >= 1 && plan.products <= 32;
    if (!right && ++wrong <= 3)
      ADD_FAILURE() << m << " x " << n << " x " << k << ", " << element.bytes << " bytes, complex "
                    << element.complex;
  });
  EXPECT_EQ(wrong, 0);
}

// Shared memory has no bank conflicts if dimensions are odd, or multiples of 8 (in double
// precision) or of 16 (in single precision).
TEST(StackPlan, SpacingAvoidsConflicts) {
  const auto conflicts = [](StackElement element, int order) {
    const int lda = stack_leading_dimension_a(element, order),
              ldb = stack_leading_dimension_b(element, order),
              spacing = stack_spacing(element.bytes, lda, ldb);
    return std::pair(stack_conflicts(element.bytes, 1, spacing * lda),
                     stack_conflicts(element.bytes, ldb, spacing));
  };
  for (const int order : {9, 13, 16, 23, 24, 32, 45})
    EXPECT_EQ(conflicts({8, false}, order), std::pair(1, 1)) << order;
  for (const int order : {9, 13, 16, 23, 32, 45, 48, 64, 80}) {
    EXPECT_EQ(conflicts({4, false}, order), std::pair(1, 1)) << order;
    EXPECT_EQ(conflicts({8, true}, order), std::pair(1, 1)) << order;
  }
}

// In single precision blocks with gaps are copied in 16 bytes, those without may begin behind their place.
TEST(StackPlan, ChunksStayAligned) {
  for (const StackElement element : {StackElement{4, false}, StackElement{8, true}})
    for (int rows = 1; rows <= 80; ++rows) {
      const int chunk = element.chunk();
      EXPECT_EQ(chunk * element.bytes, 16);
      for (const int distance :
           {stack_leading_dimension_a(element, rows), stack_leading_dimension_b(element, rows)})
        EXPECT_TRUE(distance == rows || (rows % chunk == 0 && distance % chunk == 0)) << rows;
      EXPECT_EQ(stack_place(element, rows) % chunk, 0) << rows;
      EXPECT_GE(stack_place(element, rows), rows + chunk - 1) << rows;
    }
  EXPECT_EQ((StackElement{8, false}.chunk()), 1);
  EXPECT_EQ((StackElement{16, true}.chunk()), 1);
}

}  // namespace
}  // namespace tessera::test
