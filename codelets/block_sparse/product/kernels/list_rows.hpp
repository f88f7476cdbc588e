// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/block_sparse/product/kernels/multiply_rows.hpp>

/// The products of one panel of C with several inner panels for small square blocks of one size, row by row
/// of blocks: the products of a row are listed by blocks of C first, a short list for each, and a block of C
/// is in registers while its list is computed. It is loaded and stored once, and needs no padding, where
/// multiply_rows would move more of C than it computes.
///
/// The products for a block of C are added one after the other, inner panels in the given order.
namespace tessera::kernels {

/// Whether all blocks have one number of rows and columns, and it is small enough.
bool small_enough_for_lists(std::span<const Index> m, std::span<const Index> n,
                            std::span<const Index> k) noexcept;

/// Where C is overwritten zero is taken for its values, which are not read. The sums are, bit for bit, those
/// of multiply_rows.
template <class T>
void multiply_by_lists(const ProductPanel& panel, std::span<const InnerValues<T>> inner, Store store, T* c);

}  // namespace tessera::kernels
