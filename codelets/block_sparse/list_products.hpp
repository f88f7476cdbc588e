// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/product_panel.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelet list_products: the stack of the products that one inner panel contributes to a panel of C: row by
/// row of C the products of each block are counted, then put into their places. Runs are in the order in
/// which C stores its blocks, so that C streams through the caches while a row of A stays in them.
///
/// Arguments: the panel of C with its blocks after the product, the number of the inner panel, the classes
/// that
///            count_products found there (host metadata of the caller, alive until the task has ended).
/// Buffers:   stack (write; see stack.hpp). Flops: none; a few ns a product, which are the cost. Runs
///            on CPUs, on the given rank.
namespace tessera {

void insert_list_products(Sequence& sequence, int priority, int rank, const ProductPanel& panel,
                          Index inner_panel, std::span<const StackClass> classes, const Data& stack);

namespace kernels {
/// `entries` and `runs` as many as the classes say.
void list_products(const ProductPanel& panel, const InnerPanel& inner, std::span<const StackClass> classes,
                   StackEntry* entries, StackRun* runs);
}  // namespace kernels

}  // namespace tessera
