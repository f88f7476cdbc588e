// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/multiply_stack.hpp>
#include <tessera/codelets/block_sparse/product_panel.hpp>

/// Codelet multiply_panels: C_ij += A_ik B_kj for all products of one panel of C with a few inner panels,
/// straight from the indices, without a list; with `clear`, C is zero before.
///
/// The products of a row of blocks of C go along the rows of B: blocks of B follow each other in memory, the
/// row of C stays in the cache. The products for a block of C are added in ascending order of the inner index
/// within an inner panel, and these in the given order. Small real blocks are multiplied row by row for all
/// inner panels together (multiply_rows.hpp), if C has not many more blocks than there are products, by lists
/// if they are square and there are few products for each block of C (list_rows.hpp); others one inner panel
/// after the other, by a kernel for each product.
///
/// Arguments: the panel of C (host metadata of the caller, alive until the task has ended), the numbers of
///            the inner panels, clear, where to note what kind of worker ran them.
/// Buffers:   c (read-write, with clear write; array of T), then a, b of each inner panel (read; array of T).
/// Flops:     2 m n k a product (complex: x 4). Time is predicted from them.
/// Footprint: none. Runs on CPUs, where C lives.
/// Source:    F. G. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted
///            transposition (1978).
namespace tessera {

/// Inner panels that one task can take.
inline constexpr std::size_t most_inner_panels = 32;

/// What one inner panel contributes. `classes`: the shapes of its products (host metadata, used at
/// submission).
struct InnerOperands {
  Index number;
  Index products;
  std::span<const StackClass> classes;
  const Data *a, *b;
};

/// `ran_on`: for each inner panel there is. On ranks that do not own C, `panel`, the classes and `ran_on` are
/// not used.
template <class T>
void insert_multiply_panels(Sequence& sequence, int priority, const ProductPanel* panel,
                            std::span<const InnerOperands> inner, bool clear, ProductWorker* ran_on,
                            const Data& c);

namespace kernels {
/// One inner panel, product by product.
template <class T>
void multiply_panels(const ProductPanel& panel, const InnerPanel& inner, const T* a, const T* b, T* c);
}  // namespace kernels

}  // namespace tessera
