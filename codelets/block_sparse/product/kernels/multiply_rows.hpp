// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/block_sparse/symbolic/product_panel.hpp>
#include <tessera/codelets/common/store.hpp>

/// Kernels for C_ij += sum_k A_ik B_kj: all products of one panel of C with several inner panels, row by row
/// of blocks, for small real blocks. The products for a block of C are added one after the other, inner
/// panels in the given order.
/// Source: F. G. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted
/// transposition (1978).
namespace tessera::detail::kernels {

/// An inner panel and the values of its panels of A and B.
template <class T>
struct InnerValues {
  const InnerPanel* inner;
  const T *a, *b;
};

/// Whether blocks of up to these sizes are small enough for multiply_rows.
template <class T>
bool small_enough_for_rows(std::span<const Index> m, std::span<const Index> n,
                           std::span<const Index> k) noexcept;

/// The row of C stays in the first cache, its columns padded to whole registers, from its first product to
/// its last. The kernel takes each block of A once; the blocks of B that it meets follow each other in
/// memory. This is for blocks so small that to load and store C for each product would take longer than to
/// compute. With Store::overwrite the kernel does not read C: the sums begin with zero. T is real.
template <class T>
void multiply_rows(const ProductPanel& panel, std::span<const InnerValues<T>> inner, Store store, T* c);

/// Whether all blocks are square, of one size, and small enough for multiply_by_lists.
bool small_enough_for_lists(std::span<const Index> m, std::span<const Index> n,
                            std::span<const Index> k) noexcept;

/// The kernel first lists the products of a row by blocks of C, a short list for each, and keeps a block of C
/// in registers while it computes the list. So it loads and stores each block once and needs no padding,
/// where multiply_rows would move more of C than it computes. The sums have the bits of multiply_rows. T is
/// real.
template <class T>
void multiply_by_lists(const ProductPanel& panel, std::span<const InnerValues<T>> inner, Store store, T* c);

}  // namespace tessera::detail::kernels
