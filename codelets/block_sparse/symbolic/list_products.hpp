// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/product_panel.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera {

/// The stack of the products that one inner panel contributes to a panel of C: row by row of C the products
/// of each block are counted, then put into their places. Runs are in the order in which C stores its blocks,
/// so that C streams through the caches while a row of A stays in them.
/// | operand | mode  | shape                                             | what     |
/// |---------|-------|---------------------------------------------------|----------|
/// | stack   | write | array of StackEntry, then of StackRun (stack.hpp) | the list |
/// Panel and classes are metadata of the caller, alive until the task has ended. No flops; a few ns a
/// product, which are the cost. Runs on CPUs, on the rank that is told.
struct ListProducts {
  static constexpr const char* name = "list_products";
  Write<Array<StackEntry>> stack;
  const ProductPanel* panel;            ///< of C, with its blocks after the product
  Index inner_panel;                    ///< its number
  std::span<const StackClass> classes;  ///< that count_products found there
  /// What writing the entries takes: by their bytes, and about as much again for looking them up.
  static double seconds(WorkerKind, double bytes) noexcept { return 2e-6 + bytes / 8e8; }
};

namespace kernels {
/// `entries` and `runs` as many as the classes say.
void list_products(const ProductPanel& panel, const InnerPanel& inner, std::span<const StackClass> classes,
                   StackEntry* entries, StackRun* runs);
}  // namespace kernels

}  // namespace tessera
