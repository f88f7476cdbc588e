// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/algorithms/block_sparse/product_plan.hpp>

namespace tessera::detail {

/// The plans of the last products of a Runtime, which end with it.
class ProductPlans {
 public:
  static ProductPlans& of(Runtime& runtime);

  /// A plan, and whether an earlier product has made it.
  struct Found {
    std::shared_ptr<ProductPlan> plan;
    bool reused;
  };
  /// The plan for products of these patterns; without `reuse` a new one that is not kept. Collective; waits if
  /// it has to be made.
  Found find(const ProductPatterns& patterns, bool reuse);
  /// Forgets all.
  void clear() noexcept { plans_.clear(); }

 private:
  void keep_lists(Runtime& runtime);
  static constexpr std::size_t most_plans = 16;
  std::vector<std::shared_ptr<ProductPlan>> plans_;  // the last used first
};

}  // namespace tessera::detail
