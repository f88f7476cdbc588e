// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/block_sparse/symbolic/product_panel.hpp>
#include <tessera/codelets/common/store.hpp>

/// C_ij += sum_k A_ik B_kj for all products of one panel of C with several inner panels, row by row of
/// blocks: the row of C is in the first cache, its columns padded to whole registers, from its first product
/// to its last, each block of A is taken once, and the blocks of B that it meets follow each other in memory.
/// For real blocks so small that loading and storing C would take longer than computing.
///
/// The products for a block of C are added one after the other, inner panels in the given order.
/// Source: F. G. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted
/// transposition (1978).
namespace tessera::kernels {

/// An inner panel and the values of its panels of A and B.
template <class T>
struct InnerValues {
  const InnerPanel* inner;
  const T *a, *b;
};

/// Whether blocks of up to these sizes are small enough.
template <class T>
bool small_enough_for_rows(std::span<const Index> m, std::span<const Index> n,
                           std::span<const Index> k) noexcept;

/// Where C is overwritten zero is taken for its values, which are not read. T is real.
template <class T>
void multiply_rows(const ProductPanel& panel, std::span<const InnerValues<T>> inner, Store store, T* c);

}  // namespace tessera::kernels
