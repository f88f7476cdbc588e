// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/codelets/block_sparse/values/panel_sums.hpp>

namespace tessera::detail {

/// The panels of this rank that have blocks.
std::vector<std::int32_t> local_panels(const BlockPattern& pattern);

/// Inserts the tasks that form the squares of the norms of the blocks of some panels that have blocks. `before`:
/// blocks of the pattern before the first number in `norms`, on the rank of the panels.
template <class T>
void insert_norms(Sequence& sequence, const BlockSparseMatrix<T>& matrix,
                  std::span<const std::int32_t> panels, const Data& norms, Index before,
                  const TaskOptions& options);

/// The same for the panels of this rank, in a piece with a number for each of its blocks.
template <class T>
Data local_norms(Sequence& sequence, const BlockSparseMatrix<T>& matrix);

/// Sums over the blocks of a matrix; see SumLayout. Half-stored matrices count in full.
struct BlockTotals {
  double squares = 0;
  std::complex<double> trace = 0, dot = 0;
};

/// Which sums are wanted.
template <class T>
struct WantedSums {
  bool squares = false, trace = false;
  const BlockSparseMatrix<T>* other =
      nullptr;     ///< for the scalar product; any layout of the same block sizes
  double eps = 0;  ///< blocks with a norm below it do not count
  bool any() const noexcept { return squares || trace || other; }
};

/// Sums over the blocks of a matrix: the tasks that form them where the matrix is, then their total. It must
/// outlive the tasks.
template <class T>
class BlockSums {
 public:
  /// Inserts the tasks.
  BlockSums(Sequence& sequence, const BlockSparseMatrix<T>& matrix, const WantedSums<T>& wanted);
  /// As local_norms gives them, formed with the sums for squares and a filter; else not valid.
  const Data& norms() const noexcept { return norms_; }
  /// When they are over. Collective; the same bits on all ranks.
  BlockTotals total() const;

 private:
  void insert(Sequence& sequence, const BlockSparseMatrix<T>& matrix, const WantedSums<T>& wanted);
  const BlockPatternPointer pattern_;
  std::vector<std::int32_t> panels_;  // that are summed, of this rank
  std::vector<Data> sums_;            // SummedPanels::most panels each
  Data norms_, work_;
  BlockSparseMatrix<T> moved_;          // the other matrix where this one is
  std::unique_ptr<BlockSums> of_both_;  // the scalar product, where both halves of the matrix are needed
};

}  // namespace tessera::detail
