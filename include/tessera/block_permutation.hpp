// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/block_sparse_matrix.hpp>

/// @file
/// Random permutations that homogenise a block-sparse matrix. Where its blocks are near the diagonal, or some
/// rows have many more than others, ranks that own runs of rows and columns have unequal shares of the blocks
/// and of the products. There are two ways to even that out:
///
/// - homogenized_layout deals the blocks to the ranks at random. The matrix keeps its numbering. This is what
///   random distribution vectors are in DBCSR.
/// - permute_blocks makes P A Q^T, a matrix of other numbering.
///
/// Source: O. Schuett, P. Messmer, J. Hutter, J. VandeVondele, GPU-accelerated sparse matrix-matrix
/// multiplication for linear scaling density functional theory (2016): "by a suitable row and column
/// permutation, the sparsity pattern has been homogenized".
namespace tessera {

/// The same matrix shape, grid and symmetry, the blocks dealt to panels and ranks at random, and evenly: as
/// many panels for every rank, of about as many elements. Along the rows and the columns, successive panels
/// (as many as there are ranks) exchange their blocks at random; so every rank gets its share of every part
/// of the matrix, while panels keep near blocks together. The diagonal blocks are dealt to all ranks.
///
/// Dimensions of equal block sizes get equal panels from one seed, if the panels that they have are of one
/// size: products of such matrices need no images of their factors. On a grid of one rank nothing is
/// permuted. Waits for nothing, and the result is the same on all ranks. Use it when a matrix is made, or for
/// one that there is: redistribute(sequence, a, homogenized_layout(a.layout())).
/// @throws InvalidArgument for a layout without dimensions or with a grid without rows or columns.
BlockLayout homogenized_layout(const BlockLayout& layout, std::uint64_t seed = 0);

/// A random order of the numbers 0 to blocks - 1: the new number of each block. The same for equal arguments,
/// on all ranks and machines.
/// @throws InvalidArgument for a negative number of blocks.
std::vector<Index> random_block_permutation(Index blocks, std::uint64_t seed = 0);

/// The permutation that takes a permutation back.
/// @throws InvalidArgument unless it has each number from 0 to its length - 1 once.
std::vector<Index> inverse_permutation(std::span<const Index> permutation);

/// P A Q^T: block (i, j) of A becomes block (rows[i], cols[j]), with its size. The result has A's grid and
/// symmetry; owners in runs of one panel of as many elements as A's panels have. With the inverse
/// permutations A comes back. Submits tasks and returns. Collective.
/// @throws InvalidArgument if A was never made, unless `rows` has each number of a block row once and `cols`
/// each of a block column, or if they differ and A is half-stored.
template <class T>
BlockSparseMatrix<T> permute_blocks(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                    std::span<const Index> rows, std::span<const Index> cols);

}  // namespace tessera
