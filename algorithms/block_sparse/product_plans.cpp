// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/block_sparse/product_plans.hpp>
#include <tessera/runtime/kept.hpp>

namespace tessera::detail {

ProductPlans& ProductPlans::of(Runtime& runtime) {
  std::shared_ptr<void>& kept = kept_with(runtime, "product plans");
  if (!kept) kept = std::make_shared<ProductPlans>();
  return *static_cast<ProductPlans*>(kept.get());
}

ProductPlans::Found ProductPlans::find(const ProductPatterns& patterns, bool reuse) {
  if (!reuse) return {std::make_shared<ProductPlan>(patterns), false};
  const auto found =
      std::find_if(plans_.begin(), plans_.end(), [&](const auto& plan) { return plan->serves(patterns); });
  if (found != plans_.end()) {
    std::rotate(plans_.begin(), found, found + 1);
    return {plans_.front(), true};
  }
  plans_.insert(plans_.begin(), std::make_shared<ProductPlan>(patterns));
  // All ranks drop the same ones.
  if (plans_.size() > most_plans) plans_.pop_back();
  keep_lists(patterns.c->runtime());
  return {plans_.front(), false};
}

/// The lists of the last used plans stay, as many as take an eighth of a GPU.
void ProductPlans::keep_lists(Runtime& runtime) {
  double left =
      static_cast<double>(runtime.info().gpu_memory_bytes) * std::max(runtime.info().cuda_workers, 1) / 8;
  for (const auto& plan : plans_) {
    left -= plan->list_bytes();
    plan->keeps_lists = left >= 0;
    if (!plan->keeps_lists) plan->drop_lists();
  }
}

}  // namespace tessera::detail
