// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What is computed with one or two block-sparse matrices, products apart. The names follow the libraries of
/// the field.
#include <tessera/algorithms/block_sparse/operations_arithmetic.hpp>
#include <tessera/algorithms/block_sparse/operations_copy.hpp>
#include <tessera/algorithms/block_sparse/reductions.hpp>

namespace tessera {

// ---- other formats
// --------------------------------------------------------------------------------------------------

/// The whole matrix column-major on every rank; for tests and small matrices.
template <class T>
std::vector<T> to_dense(const BlockSparseMatrix<T>& a);
/// The blocks of a dense matrix (given on every rank) that have an element with modulus above `threshold`, or
/// all of them with a negative one.
template <class T>
BlockSparseMatrix<T> from_dense(Runtime& runtime, MatrixView<const T> dense, const BlockLayout& layout,
                                double threshold = 0);

/// Compressed sparse rows of the elements of one rank's rows of blocks.
template <class T>
struct CompressedRows {
  Index rows = 0, cols = 0;      ///< of the whole matrix
  std::vector<Index> row;        ///< numbers of the rows held here, ascending
  std::vector<Index> row_begin;  ///< for each of them, and the end
  std::vector<Index> column;     ///< ascending within a row
  std::vector<T> value;
};
/// Elements with modulus above `threshold` (all of the stored blocks if negative), both halves; block row i
/// goes to rank i mod size, or all to rank 0.
template <class T>
CompressedRows<T> to_compressed_rows(const BlockSparseMatrix<T>& a, double threshold = 0,
                                     bool on_root = false);
/// The blocks that hold any of the elements; each rank gives any rows. Elements given twice are added. Into a
/// half-stored layout only the lower half may be given.
template <class T>
BlockSparseMatrix<T> from_compressed_rows(Runtime& runtime, const CompressedRows<T>& rows,
                                          const BlockLayout& layout);

}  // namespace tessera
