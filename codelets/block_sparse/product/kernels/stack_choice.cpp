// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_choice.hpp>

namespace tessera::detail::device {
namespace {

bool is_complex_type(char type) noexcept {
  return type == 'c' || type == 'z';
}
int element_bytes(char type) noexcept {
  const int real_bytes = type == 's' || type == 'c' ? 4 : 8;
  return is_complex_type(type) ? 2 * real_bytes : real_bytes;
}

StackPlan completed_plan(const StackPlan& plan, const StackShape& shape) noexcept {
  return complete_stack_plan(plan, {element_bytes(shape.type), is_complex_type(shape.type)}, shape.m, shape.n,
                             shape.k);
}

constexpr int max_parts = 8, max_warps = 8, max_stages = 4, max_products = 32, max_threads = 1024,
              max_shared_bytes = 227 * 1024;

/// What a buffer's slice may be: everything, or steps of four inner indices.
bool is_slice(int slice, int k) noexcept {
  return 1 <= slice && slice <= k && (slice == k || slice % 4 == 0);
}

/// The free numbers are within what the kernel is written for, so that nothing overflows below.
bool is_in_range(const StackPlan& plan, int k) noexcept {
  const auto within = [](int x, int most) { return 1 <= x && x <= most; };
  if (!within(plan.parts, max_parts) || !within(plan.warps_m, max_warps) ||
      !within(plan.warps_n, max_warps) || !within(plan.blocks_per_multiprocessor, StackDevice::blocks))
    return false;
  if (plan.staged)
    return plan.products == 0 && 2 <= plan.stages && plan.stages <= max_stages && is_slice(plan.slice, k);
  return plan.stages == 0 && plan.slice == 0 && plan.warps_m == 1 && plan.warps_n == 1 &&
         within(plan.products, max_products);
}

/// Registers of a thread for sums and operands: with more the kernel would keep them in memory.
bool fits_registers(const StackPlan& plan, const StackShape& shape) noexcept {
  constexpr int most = 255, others = 48, most_operands = 160, most_direct_tiles = 4;
  const int planes = is_complex_type(shape.type) ? 2 : 1, tiles = plan.tiles_m * plan.tiles_n,
            both = plan.tiles_m + plan.tiles_n;
  if (plan.staged) return 4 * tiles * planes + 4 * both + others <= most;
  return tiles <= most_direct_tiles &&
         2 * planes * stack_ceil(plan.products * shape.k, 4) * both <= most_operands;
}

/// No warp is without elements of C.
bool uses_all_warps(const StackPlan& plan, const StackShape& shape) noexcept {
  return 8 * plan.tiles_m * (plan.warps_m - 1) < shape.m && 8 * plan.tiles_n * (plan.warps_n - 1) < shape.n;
}

/// Calls visit(plan) with the free numbers of all plans that are tried; 0 blocks mean: as many as fit.
template <class Visit>
void for_each_choice(const StackShape& shape, const Visit& visit) {
  constexpr int some_parts[] = {1, 2, 3, 4, 6, 8}, some_blocks[] = {0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24},
                some_products[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32};
  std::set<int> slices;
  for (int count = 1; count <= 5; ++count)
    slices.insert(std::min(shape.k, stack_ceil(stack_ceil(shape.k, count), 4) * 4));
  StackPlan plan{};
  for (const int parts : some_parts)
    for (const int blocks : some_blocks) {
      plan.parts = parts, plan.blocks_per_multiprocessor = blocks;
      plan.staged = false, plan.stages = plan.slice = 0, plan.warps_m = plan.warps_n = 1;
      for (const int products : some_products) {
        plan.products = products;
        visit(plan);
      }
      plan.staged = true, plan.products = 0;
      for (const int slice : slices)
        for (plan.slice = slice, plan.stages = 2; plan.stages <= 4; ++plan.stages)
          for (plan.warps_m = 1; plan.warps_m <= max_warps; ++plan.warps_m)
            for (plan.warps_n = 1; plan.warps_m * plan.warps_n <= max_warps; ++plan.warps_n) visit(plan);
    }
}

auto free_numbers(const StackPlan& plan) {
  return std::tuple(plan.staged, plan.parts, plan.warps_m, plan.warps_n, plan.stages, plan.slice,
                    plan.products, plan.blocks_per_multiprocessor);
}

double difference(const StackPlan& a, const StackPlan& b) {
  const auto between = [](int x, int y) {
    return x == y || x == 0 || y == 0 ? 0.0 : std::abs(std::log2(static_cast<double>(x) / y));
  };
  return (a.staged != b.staged ? 1.0 : 0.0) + between(a.parts, b.parts) + between(a.warps_m, b.warps_m) +
         between(a.warps_n, b.warps_n) + between(a.stages, b.stages) + between(a.slice, b.slice) +
         between(a.products, b.products) + between(a.blocks_per_multiprocessor, b.blocks_per_multiprocessor);
}

}  // namespace

StackPlan formula_plan(const StackShape& shape) noexcept {
  return stack_plan(element_bytes(shape.type), is_complex_type(shape.type), shape.m, shape.n, shape.k);
}

bool is_valid_plan(const StackPlan& plan, const StackShape& shape) noexcept {
  return is_in_range(plan, shape.k) && completed_plan(plan, shape) == plan && plan.threads <= max_threads &&
         plan.shared_bytes <= max_shared_bytes && fits_registers(plan, shape);
}

std::optional<StackPlan> plan_with(StackPlan numbers, const StackShape& shape) noexcept {
  if (!is_in_range(numbers, shape.k)) return std::nullopt;
  const StackPlan plan = completed_plan(numbers, shape);
  if (plan.blocks_per_multiprocessor != numbers.blocks_per_multiprocessor || !is_valid_plan(plan, shape))
    return std::nullopt;
  return plan;
}

std::vector<StackPlan> plans_near_formula(const StackShape& shape, std::size_t most) {
  const StackPlan formula = formula_plan(shape);
  std::vector<std::pair<double, StackPlan>> plans;
  for_each_choice(shape, [&](const StackPlan& choice) {
    const StackPlan plan = completed_plan(choice, shape);
    if (plan != formula && is_valid_plan(plan, shape) && uses_all_warps(plan, shape))
      plans.emplace_back(difference(plan, formula), plan);
  });
  std::sort(plans.begin(), plans.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first, free_numbers(a.second)) < std::tuple(b.first, free_numbers(b.second));
  });
  std::vector<StackPlan> chosen{formula};
  for (const auto& [distance, plan] : plans)
    if (chosen.size() < most && plan != chosen.back()) chosen.push_back(plan);
  return chosen;
}

std::string describe_plan(const StackPlan& plan) {
  const auto count = [](int number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  const std::string parts = count(plan.parts, "part"),
                    blocks = count(plan.blocks_per_multiprocessor, "block");
  if (plan.staged)
    return fmt::format("{} of {} x {} warps, {} of {}, {}", parts, plan.warps_m, plan.warps_n,
                       count(plan.stages, "buffer"), plan.slice, blocks);
  return fmt::format("{}, {} at once, {}", parts, count(plan.products, "product"), blocks);
}

std::string plan_as_argument(const StackPlan& plan) {
  return fmt::format("tessera::detail::StackPlan{{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}}",
                     plan.threads, plan.shared_bytes, plan.blocks_per_multiprocessor, plan.staged, plan.parts,
                     plan.warps_m, plan.warps_n, plan.tiles_m, plan.tiles_n, plan.stages, plan.slice,
                     plan.products);
}

}  // namespace tessera::detail::device
