// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/block_sparse/block_sums.hpp>
#include <tessera/algorithms/block_sparse/chosen_pattern.hpp>
#include <tessera/block_sparse_matrix.hpp>
#include <tessera/codelets/block_sparse/symbolic/find_kept.hpp>

namespace tessera::detail {

/// Of the blocks of a matrix, those that a filter drops.
struct DroppedBlocks {
  Index all, not_zero;
};

/// The filter of a matrix: the tasks that find which of its blocks have a Frobenius norm of at least eps, then
/// those that leave the others out. Norms, patterns and values stay where the matrix is.
template <class T>
class KeptBlocks {
 public:
  /// Inserts the tasks that find them, for this rank's panels. `norms`: as local_norms gives them, where they have been
  /// formed (valid), to outlive it.
  KeptBlocks(Sequence& sequence, const BlockSparseMatrix<T>& matrix, double eps, const Data* norms = nullptr);
  /// When these tasks are over: replaces the matrix by what is left of it, and inserts the tasks that make that; nothing
  /// if that is all of it. Collective.
  DroppedBlocks take(Sequence& sequence, BlockSparseMatrix<T>& matrix);

 private:
  const BlockPatternPointer pattern_;
  const double eps_;
  const Data formed_;
  const Data& norms_;
  ChosenPattern chosen_;
};

}  // namespace tessera::detail
