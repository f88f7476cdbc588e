// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include <tessera/algorithms/block_sparse/symbolic.hpp>
#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/multiply.hpp>

/// What a block-sparse product tells about itself when its tasks are over.
namespace tessera::detail {

/// Where the stacks of this rank were computed, for each panel of C and inner panel.
using RanOn = std::vector<ProductWorker>;

/// The products of `result`, by shape and by rank, and their sums. `flops`: of two numbers that are multiplied
/// and added. Collective.
void report_products(Runtime& runtime, const BlockPattern& c, const SymbolicProduct& symbolic,
                     const RanOn& ran_on, double flops, MultiplyResult& result);

/// The panel products of `result`.
void count_panel_products(const SymbolicProduct& symbolic, const BlockPattern& c, MultiplyResult& result);

/// Seconds of workers in one kind of tasks.
double codelet_seconds(const SequenceStatistics& statistics, std::string_view name);

}  // namespace tessera::detail
