// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ostream>

#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/generated.hpp>

#include <tessera/algorithms/block_sparse/product_plan.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/multiply.hpp>
#include <tessera/runtime/host_waits.hpp>

/// How often the caller of a product waits.
namespace tessera::test {

/// Waits of submit_multiply, and of the wait for what it has submitted.
struct ProductWaits {
  std::uint64_t submitting, finishing;
  bool operator==(const ProductWaits&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const ProductWaits& waits) {
  return out << waits.submitting << " while submitting, " << waits.finishing << " at the end";
}

inline ProductWaits count_waits(Runtime& runtime, const BlockSparseMatrix<double>& a,
                                BlockSparseMatrix<double>& c, const BlockSparseMatrix<double>* d = nullptr,
                                const MultiplyOptions& options = {}) {
  const std::uint64_t before = detail::host_waits(runtime);
  auto product = submit_multiply(runtime, {.a = a, .b = a, .c = c, .dot_with = d}, options);
  const std::uint64_t submitted = detail::host_waits(runtime);
  EXPECT_TRUE(product.wait()) << product.status().message();
  return {submitted - before, detail::host_waits(runtime) - submitted};
}

/// New blocks: one wait for the size of C, with stacks another for the same numbers, which are on their way to the
/// host then. Known blocks: none. At the end one for the tasks, and one for the sums, which are on the host then.
inline void check_waits(Runtime& runtime) {
  const std::vector<Index> sizes(30, 7);
  const auto layout = square_layout(sizes, Symmetry::none, {}, 70);
  const auto a = random_block_sparse<double>(runtime, layout, 0.2, 1);
  BlockSparseMatrix<double> c(BlockPattern::make(runtime, layout, std::span<const BlockCoordinate>()));
  const std::uint64_t for_size = detail::uses_stacks(runtime) ? 2 : 1;
  EXPECT_EQ(count_waits(runtime, a, c, nullptr, {.reuse_plan = false}).submitting, for_size);
  // C has the blocks of the product now: a new plan, then the same.
  EXPECT_EQ(count_waits(runtime, a, c).submitting, for_size);
  EXPECT_EQ(count_waits(runtime, a, c), (ProductWaits{0, 1}));
  EXPECT_EQ(count_waits(runtime, a, c, &a), (ProductWaits{0, 2}));
  // Of a filtered product the copies and the pattern, which they need, are waited for, unless a sequence takes them.
  const auto filtered = [&](Sequence* sequence) {
    BlockSparseMatrix<double> result(c.pattern_pointer());
    const ProductWaits waits =
        count_waits(runtime, a, result, nullptr, {.filter_eps = 6, .sequence = sequence});
    EXPECT_LT(result.pattern().blocks(), c.pattern().blocks());
    return waits.finishing;
  };
  Sequence sequence(runtime);
  EXPECT_EQ(filtered(&sequence) + 2, filtered(nullptr));
  EXPECT_TRUE(sequence.wait());
}

}  // namespace tessera::test
