// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/product_panel.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera {

/// Seconds that the task below is expected to take.
double count_seconds(const ProductPanel& panel) noexcept;

/// The blocks of one panel of C = A B after the product, and for each inner panel the number of products of
/// each shape and, if they will be listed, of the blocks of C they belong to. Row-wise with a dense
/// accumulator over the panel's columns; without lists, masks and filter a row of B at a time, as one bit for
/// each block. For each inner panel it also says whether its products, if none is left out by the filter,
/// become one dense product (dense_choice.hpp), which needs no list.
///
/// No operands: panel and result are metadata of the caller, alive until the task has ended. No flops; about
/// 2 ns a product, which is the cost, or a tenth with whole rows of B. Runs on CPUs, on the rank that is
/// told.
/// Source: F. G. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted
/// transposition (1978).
struct CountProducts {
  static constexpr const char* name = "count_products";
  const ProductPanel* panel;  ///< of C
  ProductCounts* counts;      ///< the result
  double expected = count_seconds(*panel);
  double seconds(WorkerKind, double) const noexcept { return expected; }
};

namespace kernels {
void count_products(const ProductPanel& panel, ProductCounts& counts);
}

}  // namespace tessera
