// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/block_sparse_matrix.hpp>

/// Block-sparse matrices to and from files. Rank 0 reads and writes; the others get and send pieces of a few
/// megabytes (or one block row, if that is more), so that beside such a piece, and the list of all blocks
/// that every pattern is, no rank holds more than its own part. All functions are collective; an InputError
/// names the file, the line and the reason, and is thrown on every rank.
namespace tessera {

/// Sizes of the blocks along the rows and the columns.
struct BlockSizes {
  std::vector<Index> rows;  ///< along the rows
  std::vector<Index> cols;  ///< along the columns
  /// The same sizes.
  bool operator==(const BlockSizes&) const = default;
};

/// Reads block sizes from a text file: numbers, at least 0, separated by blanks or line ends; what follows a
/// # is a comment. A line `columns` ends the sizes along the rows and begins those along the columns; without
/// it they are the same. The last line must end with a newline, so that a file that was cut within its last
/// number is noticed. Not collective.
BlockSizes read_block_sizes(const std::string& path);
/// Writes such a file; one list if both are equal. Not collective.
void write_block_sizes(const std::string& path, const BlockSizes& sizes);

/// Reads a Matrix Market file, compressed or not, in default layout (make_block_layout), with the symmetry
/// that its header tells (in real types a Hermitian matrix is a symmetric one), and blocks by a file of block
/// sizes. The blocks are those that hold an entry, also one that is zero.
/// @throws InputError for whatever MatrixMarketReader finds, for a complex file in a real type, for sums of
/// the block sizes that are not the matrix's sizes, and a symmetric file with other blocks along the columns.
template <class T>
BlockSparseMatrix<T> read_matrix_market(Runtime& runtime, const std::string& path,
                                        const std::string& sizes_path);
/// The same in a given layout. It stores both halves, or has the file's symmetry.
/// @throws InputError as above, and if the file has not the layout's symmetry.
template <class T>
BlockSparseMatrix<T> read_matrix_market(Runtime& runtime, const std::string& path, const BlockLayout& layout);

/// Writes the elements of the stored blocks with modulus above `threshold` (all of them with a negative one)
/// as a Matrix Market coordinate file, sorted by rows, compressed if the name ends in `.gz`. Of a half-stored
/// matrix the lower triangle is written; what its symmetry says is zero (the diagonal of an antisymmetric
/// matrix, imaginary parts on that of a Hermitian one) is not.
template <class T>
void write_matrix_market(const std::string& path, const BlockSparseMatrix<T>& a, double threshold = -1);

/// Writes an HDF5 file, the same for any distribution:
///   attribute format          "tessera block-sparse matrix 1"
///   attribute symmetry        "none", "symmetric", "antisymmetric" or "hermitian"
///   row_block_sizes           64-bit integers
///   col_block_sizes
///   block_row, block_col      for each stored block its numbers, from 0; sorted by rows
///   values                    the blocks one after the other, each column-major without gaps; complex
///   numbers
///                             as h5py and NumPy have them
/// In h5py: ends = numpy.cumsum(r[block_row] * c[block_col]); block k is values[ends[k - 1]:ends[k]] in shape
/// (c[block_col[k]], r[block_row[k]]), transposed. Half-stored matrices have blocks with row >= column.
template <class T>
void write_hdf5(const std::string& path, const BlockSparseMatrix<T>& a);

/// Reads such a file, its blocks in any order, in default layout with the file's symmetry.
/// @throws InputError for another file, missing or too short arrays, blocks outside or given twice, or
/// another kind of numbers (precision apart).
template <class T>
BlockSparseMatrix<T> read_hdf5(Runtime& runtime, const std::string& path);
/// The same in a given layout. It has the file's block sizes, and stores both halves or has its symmetry.
template <class T>
BlockSparseMatrix<T> read_hdf5(Runtime& runtime, const std::string& path, const BlockLayout& layout);

}  // namespace tessera
