// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/multiply_stack.hpp>
#include <tessera/codelets/block_sparse/product_panel.hpp>

/// Codelet multiply_panels: C_ij += A_ik B_kj for all products of one panel of A and one panel of B, straight
/// from the indices, without a list; with `clear`, C is zero before.
///
/// The products of a row of blocks of C go along the rows of B: blocks of B follow each other in memory, the
/// row of C stays in the cache. The products for a block of C are added in ascending order of the inner
/// index.
///
/// Arguments: the panel of C (host metadata of the caller, alive until the task has ended), the number of its
///            inner panel, clear, where to note what kind of worker ran it.
/// Buffers:   a, b (read; array of T, panels), c (read-write, with clear write; array of T).
/// Flops:     2 m n k a product (complex: x 4). Time is predicted from them.
/// Footprint: none. Runs on CPUs, where C lives.
/// Source:    F. G. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted
///            transposition (1978).
namespace tessera {

/// `classes`: the shapes of the products (host metadata, used at submission). On ranks that do not own C,
/// `panel`, `classes` and `ran_on` are not used.
template <class T>
void insert_multiply_panels(Sequence& sequence, int priority, const ProductPanel* panel, Index inner_panel,
                            std::span<const StackClass> classes, bool clear, ProductWorker* ran_on,
                            const Data& a, const Data& b, const Data& c);

namespace kernels {
template <class T>
void multiply_panels(const ProductPanel& panel, const InnerPanel& inner, const T* a, const T* b, T* c);
}

}  // namespace tessera
