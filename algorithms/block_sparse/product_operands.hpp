// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/multiply.hpp>

namespace tessera::detail {

/// The operands of C = A B as the product needs them: A has C's row dimension, B its column dimension, both
/// C's grid, no symmetry, and inner dimensions of equal panels. They are the caller's matrices where these
/// are so already, else images that carry alpha, op, symmetry and limits. It must outlive the tasks.
template <class T>
class ProductOperands {
 public:
  /// Submits the tasks that make images. Collective.
  ProductOperands(Sequence& sequence, Op op_a, Op op_b, T alpha, const BlockSparseMatrix<T>& a,
                  const BlockSparseMatrix<T>& b, const BlockSparseMatrix<T>& c, const MultiplyLimits& limits);
  ProductOperands(const ProductOperands&) = delete;
  ProductOperands& operator=(const ProductOperands&) = delete;

  const BlockSparseMatrix<T>& a() const noexcept { return *a_; }
  const BlockSparseMatrix<T>& b() const noexcept { return *b_; }

 private:
  BlockSparseMatrix<T> image_a_, image_b_;
  const BlockSparseMatrix<T>*a_, *b_;
};

/// Number of blocks in each block row of op(A), those by symmetry included. Collective.
template <class T>
std::vector<Index> blocks_in_rows(Op op, const BlockSparseMatrix<T>& a);

}  // namespace tessera::detail
