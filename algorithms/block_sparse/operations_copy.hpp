// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/block_sparse/copy_blocks.hpp>

/// Copies of block-sparse matrices and changes of which blocks they store. All ranks call them with the same
/// arguments, unless it says otherwise. Functions that take a Sequence submit tasks and return; the others
/// wait for the matrix' tasks.
///
/// A copy from a matrix without symmetry into a half-stored one takes its lower half, element by element: in
/// diagonal blocks the upper triangle becomes the mirror image of the lower one, the diagonal real
/// (hermitian) or zero (antisymmetric). Between half-stored matrices the symmetry must be the same (real
/// hermitian matrices are symmetric ones).
///
/// @throws InvalidArgument, naming the argument, for a matrix that was never made, block sizes that do not
/// fit, and what is said below; before anything is submitted. All ranks throw what is wrong on one.
namespace tessera {

/// A matrix of its own with the same blocks and values.
template <class T>
BlockSparseMatrix<T> copy(Sequence& sequence, const BlockSparseMatrix<T>& a);

/// B := factor A on the blocks that B has; B's other blocks become zero, A's other blocks are left out. B's
/// values need not have been written before.
/// @throws InvalidArgument if B is hermitian and the factor not real.
template <class T>
void copy_into_existing(Sequence& sequence, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                        T factor = T(1));

/// A^T, or A^H if `conjugated`. Without symmetry the dimensions change places with their panels; owners
/// beyond the grid's rows (columns) are dealt out again, modulo their number. Half-stored matrices keep their
/// layout.
template <class T>
BlockSparseMatrix<T> transpose(Sequence& sequence, const BlockSparseMatrix<T>& a, bool conjugated = false);

/// The same matrix with both halves stored.
template <class T>
BlockSparseMatrix<T> desymmetrize(Sequence& sequence, const BlockSparseMatrix<T>& a);

/// The same matrix in another layout of the same block sizes. Into a half-stored layout: its lower half.
template <class T>
BlockSparseMatrix<T> redistribute(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                  const BlockLayout& layout);

/// The blocks of a matrix without symmetry that hold elements (i, j) with i <= j: where rows and columns have
/// the same block sizes, those on and above the diagonal. Diagonal blocks whole, or, with `cut_diagonal`,
/// with zeros below the diagonal.
/// @throws InvalidArgument for a half-stored matrix.
template <class T>
BlockSparseMatrix<T> upper_triangle(Sequence& sequence, const BlockSparseMatrix<T>& a, bool cut_diagonal);

/// The blocks with equal row and column numbers alone, in the same layout.
/// @throws InvalidArgument unless rows and columns have the same block sizes.
template <class T>
BlockSparseMatrix<T> block_diagonal(Sequence& sequence, const BlockSparseMatrix<T>& a);

/// Replaces A by the matrix with additional blocks, zero where new. Each rank names any blocks; of a
/// half-stored matrix a block above the diagonal stands for its mirror image.
/// @throws InvalidArgument, on every rank, for a coordinate outside that any of them names.
template <class T>
void reserve_blocks(BlockSparseMatrix<T>& a, std::span<const BlockCoordinate> blocks);

/// Drops the blocks with ||A_ij||_F < eps (empty blocks have norm 0; a block with a NaN stays). Returns the
/// number dropped on all ranks together.
/// @throws InvalidArgument for a negative eps or NaN.
template <class T>
Index filter(BlockSparseMatrix<T>& a, double eps);

/// Drops all blocks. Waits for nothing.
template <class T>
void clear(BlockSparseMatrix<T>& a);

}  // namespace tessera
