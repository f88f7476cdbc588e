// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include <tessera/algorithms/block_sparse/product_plan.hpp>
#include <tessera/algorithms/block_sparse/product_tasks.hpp>
#include <tessera/multiply.hpp>

/// What a block-sparse product tells about itself when its tasks are over.
namespace tessera::detail {

/// The counts of `result`: products by shape, all together, filtered ones, those of panels. `flop_factor`: 4 for
/// complex numbers, else 1. Collective.
void count_products(const ProductPlan& plan, const ProductRecords& records, double flop_factor,
                    MultiplyResult& result);

/// Products that a filter has left out when lists were made, of all ranks. Collective.
Index listed_as_filtered(const ProductPlan& plan, const ProductRecords& records);

/// Seconds of workers in one kind of tasks.
double codelet_seconds(const SequenceStatistics& statistics, std::string_view name);

}  // namespace tessera::detail
