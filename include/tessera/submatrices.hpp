// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <tessera/block_sparse_matrix.hpp>

/// Principal submatrices of block-sparse matrices as dense ones, and back: what the submatrix method needs.
/// It takes for some block columns the rows and columns of all blocks that these columns store, applies a
/// function to that dense matrix, and keeps the columns that it began with.
/// Source: Lass, Schade, Kuehne, Plessl, "A submatrix-based method for approximate matrix function evaluation
/// in the quantum chemistry code CP2K", SC20 (2020).
///
/// The matrices are square, rows and columns of the same block sizes. All ranks call with the same arguments.
/// @throws InvalidArgument, naming the argument, for a matrix that was never made or is not square, for block
/// numbers that do not ascend or are outside, columns that are not among the blocks, and an owner that is no
/// rank; before anything is submitted.
namespace tessera {

/// Which rows and columns a submatrix has, what of it is wanted, and where it lives.
struct PrincipalSubmatrix {
  std::vector<Index> blocks;   ///< numbers of the block rows and columns that it has, ascending
  std::vector<Index> columns;  ///< those of them whose columns are written back, ascending
  int owner = 0;               ///< the rank that has it

  /// The row (column) of the submatrix at which each of its blocks begins, and at the end its order.
  std::vector<Index> begins(const BlockDimension& dimension) const;
};

/// The block rows that are stored in any of these block columns, and the columns themselves, ascending; of a
/// half-stored matrix with the images of its blocks. On all ranks. Collective: each rank knows its own blocks.
/// @throws InvalidArgument for a column outside, or a matrix that is not square.
std::vector<Index> submatrix_blocks(const BlockPattern& pattern, std::span<const Index> columns);

/// A submatrix for each group of block columns: its blocks are those of submatrix_blocks. They are dealt to
/// the ranks by the third power of their orders, the largest first, each to the rank with the least so far; the
/// caller may change the owners. On all ranks. Collective.
/// @throws InvalidArgument as submatrix_blocks
std::vector<PrincipalSubmatrix> submatrices_for(const BlockPattern& pattern,
                                                std::span<const std::vector<Index>> groups);

/// The dense matrix of these rows and columns of A, column-major, both halves, zero where A stores no block: a
/// piece of data on its owner, on whose CPUs and GPUs tasks can use it. One task for each panel of A that has
/// some of its blocks copies them from there. Submits tasks and returns. The piece must go before the Runtime.
/// Without elements it is a 1 x 1 matrix that means nothing.
/// @throws RuntimeError, on all ranks, if it does not fit into the memory of its owner
template <class T>
Data principal_submatrix(Sequence& sequence, const BlockSparseMatrix<T>& a,
                         const PrincipalSubmatrix& submatrix);

/// The same for many.
template <class T>
std::vector<Data> principal_submatrices(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                        std::span<const PrincipalSubmatrix> submatrices);

/// The stored blocks of B in the block columns `submatrix.columns` and the block rows `submatrix.blocks` := those
/// of the dense matrix, of principal_submatrix' shape and owner. What B does not store is left out; all else
/// in B, which must have values, stays. Of a half-stored B these are the blocks on and below the diagonal, of
/// diagonal blocks the lower triangle; so submatrices whose columns are all of B's write all of it.
///
/// One task a panel, on the rank of the panel; where that is not the owner, only the elements that are written
/// travel.
template <class T>
void scatter_submatrix(Sequence& sequence, const PrincipalSubmatrix& submatrix, const Data& dense,
                       const BlockSparseMatrix<T>& b);

/// The same for many.
/// @throws InvalidArgument for another number of dense matrices than of submatrices
template <class T>
void scatter_submatrices(Sequence& sequence, std::span<const PrincipalSubmatrix> submatrices,
                         std::span<const Data> dense, const BlockSparseMatrix<T>& b);

}  // namespace tessera
