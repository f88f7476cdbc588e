// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tessera/codelets/block_sparse/product/kernels/stack_cache.hpp>
#include <tessera/codelets/block_sparse/product/kernels/stack_plan.hpp>

/// Plans of a shape's kernel other than that of the formula; no CUDA here.
namespace tessera::detail::device {

/// The largest block size with a kernel of its own.
inline constexpr int largest_own_size = 80;

/// The plan that stack_plan chooses.
StackPlan formula_plan(const StackShape& shape) noexcept;

/// Whatever the numbers are: the kernel compiles with this plan, covers the block, and a multiprocessor can
/// hold it; all that follows from the others is as complete_stack_plan says.
bool is_valid_plan(const StackPlan& plan, const StackShape& shape) noexcept;

/// The plan with these free numbers (all but threads, shared memory and tiles, which are ignored), whatever
/// they are; nothing if there is no valid one, or not with so many blocks on a multiprocessor.
std::optional<StackPlan> plan_with(StackPlan numbers, const StackShape& shape) noexcept;

/// Valid plans, the formula's first, then those that are most like it, at most `most` in all. How different
/// two plans are is the sum over the free numbers of |log2 of their ratio|.
std::vector<StackPlan> plans_near_formula(const StackShape& shape, std::size_t most);

/// `4 parts of 1 x 1 warps, 3 buffers of 12, 5 blocks`; `2 parts, 4 products at once, 16 blocks`.
std::string describe_plan(const StackPlan& plan);

/// As the kernel's template argument.
std::string plan_as_argument(const StackPlan& plan);

}  // namespace tessera::detail::device
