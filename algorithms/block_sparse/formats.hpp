// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/block_sparse/block_sparse_matrix.hpp>

/// Block-sparse matrices to and from other formats in memory. The functions wait for the matrices' tasks and
/// are collective.
namespace tessera {

/// The whole matrix, both halves, column-major on every rank; for tests and small matrices.
template <class T>
std::vector<T> to_dense(const BlockSparseMatrix<T>& a);

/// The blocks of a dense matrix (given on every rank) that have an element with modulus above `threshold`, or
/// all of them with a negative one. Into a half-stored layout goes the lower half, of diagonal blocks all.
/// @throws InvalidArgument for a matrix that has not the layout's size.
template <class T>
BlockSparseMatrix<T> from_dense(Runtime& runtime, MatrixView<const T> dense, const BlockLayout& layout,
                                double threshold = 0);

/// Compressed sparse rows of the elements of some rows.
template <class T>
struct CompressedRows {
  Index rows = 0, cols = 0;      ///< of the whole matrix
  std::vector<Index> row;        ///< numbers of the rows held here, ascending
  std::vector<Index> row_begin;  ///< for each of them, and the end
  std::vector<Index> column;     ///< ascending within a row
  std::vector<T> value;
};

/// Elements with modulus above `threshold` (all of the stored blocks if negative), both halves; block row i
/// goes to rank i mod size, or all to rank 0 with `on_root`.
template <class T>
CompressedRows<T> to_compressed_rows(const BlockSparseMatrix<T>& a, double threshold = 0,
                                     bool on_root = false);

/// The blocks that hold any of the elements. Each rank gives any rows, several may give the same row, and
/// columns may come in any order; elements given twice are added. Into a half-stored layout only elements on
/// and below the diagonal may be given; diagonal blocks are completed by the symmetry.
/// @throws InvalidArgument, on every rank, for arrays of any of them that do not fit each other, the layout
/// or its symmetry.
template <class T>
BlockSparseMatrix<T> from_compressed_rows(Runtime& runtime, const CompressedRows<T>& rows,
                                          const BlockLayout& layout);

}  // namespace tessera
