// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/codelets/block_sparse/vectors/multiply_vectors.hpp>
#include <tessera/panel_vectors.hpp>

namespace tessera::detail {

/// The two ways in which the stored blocks of a matrix make op(A).
struct VectorFactors {
  VectorFactor straight;  ///< a block as it stands: its columns meet X, its rows give Y
  VectorFactor image;     ///< its mirror image: its rows meet X, its columns give Y
};
VectorFactors vector_factors(Symmetry symmetry, Op op) noexcept;

/// The rank of each segment of vectors along the rows, or columns, of a layout: one that owns panels of it.
std::vector<int> segment_owners(const BlockLayout& layout, const BlockDimension& dimension);

/// op(A) for products with vectors: what is the same in all products is made once. A must outlive it.
template <class T>
class VectorProduct {
 public:
  VectorProduct(const BlockSparseMatrix<T>& a, Op op);

  /// Y := alpha op(A) X + beta Y, in any cut of X and Y; arguments are checked. Submits tasks and returns.
  void submit(Sequence& sequence, T alpha, const PanelVectors<T>& x, T beta, const PanelVectors<T>& y) const;

 private:
  const PanelVectors<T>* in_cut(Sequence& sequence, const BlockDimensionPointer& cut,
                                const PanelVectors<T>& x, PanelVectors<T>& room) const;
  std::vector<std::vector<Data>> multiply_panels(Sequence& sequence, const PanelVectors<T>* straight_x,
                                                 const PanelVectors<T>* image_x,
                                                 std::vector<std::vector<Data>>& images, Index width) const;
  const BlockSparseMatrix<T>& a_;
  VectorFactors factors_;
  std::vector<Data> lines_, orders_;  ///< by panel
};

}  // namespace tessera::detail
