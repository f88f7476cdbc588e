// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/product_panel.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelet list_products: the stack of the products that one inner panel contributes to a panel of C, as
/// count_products counted them: counted by block of C, then put into their places.
///
/// Arguments: the panel of C, the counts, the number of the inner panel (host metadata of the caller, alive
///            until the task has ended).
/// Buffers:   stack (write; see stack.hpp). Flops: none; about 4 ns a product. Footprint: buffer size. Runs
///            on CPUs, on the given rank.
namespace tessera {

void insert_list_products(Sequence& sequence, int priority, int rank, const ProductPanel& panel,
                          const ProductCounts& counts, Index inner_panel, const Data& stack);

namespace kernels {
/// `entries` and `runs` as many as the classes of the inner panel say.
void list_products(const ProductPanel& panel, const ProductCounts& counts, Index inner_panel,
                   StackEntry* entries, StackRun* runs);
}  // namespace kernels

}  // namespace tessera
