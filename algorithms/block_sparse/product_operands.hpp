// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/multiply.hpp>

namespace tessera::detail {

/// What the images of a product came to.
struct ImageCounts {
  Index images = 0;       ///< made
  Index reused = 0;       ///< of these, after the plan of an earlier product
  double bytes = 0;       ///< of values that they do not share with A or B, on this rank
  double list_bytes = 0;  ///< of lists of moves, on this rank
};

/// The operands of C = A B as the product needs them: A has C's row dimension, B its column dimension, both
/// C's grid, no symmetry, and inner dimensions of equal panels. They are the caller's matrices where these
/// are so already, else images that carry alpha, op, symmetry and limits. Panels of an image that have the
/// values of A's or B's as they are, in the stored half of a half-stored matrix, for example, are these; a
/// panel of the other half is made of its mirror image. It must outlive the tasks.
template <class T>
class ProductOperands {
 public:
  /// Submits the tasks that make images. With `reuse`, after the plans that earlier products have left, and
  /// plans are left. Collective.
  ProductOperands(Sequence& sequence, Op op_a, Op op_b, T alpha, const BlockSparseMatrix<T>& a,
                  const BlockSparseMatrix<T>& b, const BlockSparseMatrix<T>& c, const MultiplyLimits& limits,
                  bool reuse);
  ProductOperands(const ProductOperands&) = delete;
  ProductOperands& operator=(const ProductOperands&) = delete;

  const BlockSparseMatrix<T>& a() const noexcept { return *a_; }
  const BlockSparseMatrix<T>& b() const noexcept { return *b_; }
  /// Whether values of `c` are read: it, or a matrix that an image shares panels with.
  bool read(const BlockSparseMatrix<T>& c) const noexcept;
  const ImageCounts& counts() const noexcept { return counts_; }

 private:
  BlockSparseMatrix<T> image_a_, image_b_;
  const BlockSparseMatrix<T>*a_, *b_;
  ImageCounts counts_;
};

/// Both halves of a half-stored matrix as tasks on one GPU make them, for who reads it whole: in one process with GPUs where
/// rows and columns have the same panels; else nothing. Panels of the stored half are the matrix' own. Submits the tasks.
template <class T>
BlockSparseMatrix<T> both_halves(Sequence& sequence, const BlockSparseMatrix<T>& a);

/// Number of blocks in each block row of op(A), those by symmetry included. Collective.
template <class T>
std::vector<Index> blocks_in_rows(Op op, const BlockSparseMatrix<T>& a);

}  // namespace tessera::detail
