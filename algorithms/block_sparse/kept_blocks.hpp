// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/codelets/block_sparse/symbolic/find_kept.hpp>

namespace tessera::detail {

/// Inserts the tasks that form the squares of the norms of the blocks of some panels that have blocks. `before`:
/// blocks of the pattern before the first number in `norms`, on the rank of the panels.
template <class T>
void insert_norms(Sequence& sequence, const BlockSparseMatrix<T>& matrix,
                  std::span<const std::int32_t> panels, const Data& norms, Index before,
                  const TaskOptions& options);

/// Of the blocks of a matrix, those that a filter drops.
struct DroppedBlocks {
  Index all, not_zero;
};

/// The filter of a matrix: the tasks that find which of its blocks have a Frobenius norm of at least eps, then
/// those that leave the others out. Norms, patterns and values stay where the matrix is.
template <class T>
class KeptBlocks {
 public:
  /// Inserts the tasks that find them, for this rank's panels.
  KeptBlocks(Sequence& sequence, const BlockSparseMatrix<T>& matrix, double eps);
  /// When these tasks are over: replaces the matrix by what is left of it, by tasks that it waits for; nothing
  /// if that is all of it. Collective.
  DroppedBlocks take(BlockSparseMatrix<T>& matrix);

 private:
  BlockPatternPointer kept_pattern(Sequence& sequence);
  const BlockPatternPointer pattern_;
  const double eps_;
  std::vector<std::int32_t> panels_;  // those of this rank that have blocks
  Data norms_, numbers_, totals_, row_counts_;
  PanelsOfC all_{};
  std::vector<Index> blocks_, elements_;
  BlockPattern::Identity identity_{};
};

}  // namespace tessera::detail
