// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/algorithms/block_sparse/block_sparse_matrix.hpp>

/// Numbers of block-sparse matrices. Collective; they wait for the matrices' tasks. Half-stored matrices
/// count in full. What they return is bitwise the same on all ranks and does not depend on the number of
/// workers: every panel is added up in the order of its storage, in double, the panels in their order
/// (gershgorin_norm and column_norms: each rank's panels in their order, then the ranks' sums).
///
/// @throws InvalidArgument, naming the argument, for a matrix that was never made or sizes that do not fit.
namespace tessera {

/// Squares of the Frobenius norms of the stored blocks, for each panel in the order of its blocks, on every
/// rank.
template <class T>
std::vector<std::vector<double>> block_norms_squared(const BlockSparseMatrix<T>& a);

/// The diagonal, of length min(rows(), cols()), zero where no block is stored, on every rank.
template <class T>
std::vector<T> get_diagonal(const BlockSparseMatrix<T>& a);

/// The sum of the diagonal.
template <class T>
T trace(const BlockSparseMatrix<T>& a);

/// sum_ij conj(A_ij) B_ij, that is trace(A^H B); A and B in any layouts of the same block sizes. Where the
/// blocks of the two have not the same places, B is brought to A's first.
template <class T>
T dot(const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b);

template <class T>
double frobenius_norm(const BlockSparseMatrix<T>& a);

/// The largest modulus of an element; NaN if one is NaN.
template <class T>
double max_abs_norm(const BlockSparseMatrix<T>& a);

/// max_i sum_j |A_ij|, which bounds the eigenvalues (Gershgorin); NaN if an element is NaN.
template <class T>
double gershgorin_norm(const BlockSparseMatrix<T>& a);

/// The Euclidean norm of each column.
template <class T>
std::vector<double> column_norms(const BlockSparseMatrix<T>& a);

/// A number that depends on every element: sum_ij |A_ij|^2, or, with `by_position`,
///   sum_ij (Re A_ij + Im A_ij / 2) w_ij,
///   w_ij = 1/2 + frac((i + 1) (sqrt(5) - 1) / 2 + (j + 1) (sqrt(2) - 1)), i, j from 0,
/// which tells apart signs, conjugates and places. Independent of the distribution and of which zero blocks
/// are stored, up to rounding.
template <class T>
double checksum(const BlockSparseMatrix<T>& a, bool by_position = false);

/// Elements of stored blocks (in full) / elements; 0 for a matrix without elements. Waits for nothing.
template <class T>
double occupation(const BlockSparseMatrix<T>& a);

}  // namespace tessera
