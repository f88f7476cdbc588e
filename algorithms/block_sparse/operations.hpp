// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include <tessera/algorithms/block_sparse/copy_blocks.hpp>

/// What is computed with one or two block-sparse matrices, products apart. The names follow the libraries of
/// the field. Functions that take a Sequence submit tasks and return; the others wait for the matrices' tasks
/// and are collective. Half-stored matrices count in full: a norm, trace, dot or occupation is that of the
/// whole matrix.
namespace tessera {

// ---- copies
// ---------------------------------------------------------------------------------------------------------

/// A matrix of its own with the same blocks and values.
template <class T>
BlockSparseMatrix<T> copy(Sequence& sequence, const BlockSparseMatrix<T>& a);
/// B := A on the blocks that B has; B's other blocks become zero, A's other blocks are left out.
template <class T>
void copy_into_existing(Sequence& sequence, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b);
/// A^T, or A^H if `conjugated`, with the dimensions' distribution exchanged as far as the grid allows.
template <class T>
BlockSparseMatrix<T> transpose(Sequence& sequence, const BlockSparseMatrix<T>& a, bool conjugated = false);
/// The same matrix with both halves stored.
template <class T>
BlockSparseMatrix<T> desymmetrize(Sequence& sequence, const BlockSparseMatrix<T>& a);
/// The same matrix in another layout of the same block sizes. Into a half-stored layout: its lower half.
template <class T>
BlockSparseMatrix<T> redistribute(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                  const BlockLayout& layout);
/// The blocks on and above the diagonal of a matrix without symmetry; diagonal blocks whole, or, with
/// `cut_diagonal`, with zeros below their diagonal.
template <class T>
BlockSparseMatrix<T> upper_triangle(Sequence& sequence, const BlockSparseMatrix<T>& a, bool cut_diagonal);
/// Replaces A by the matrix with additional blocks, zero where new (reserve after the fact). Collective; each
/// rank names any blocks.
template <class T>
void reserve_blocks(BlockSparseMatrix<T>& a, std::span<const BlockCoordinate> blocks);
/// Drops the blocks with ||A_ij||_F < eps. Returns the number dropped. Waits.
template <class T>
Index filter(BlockSparseMatrix<T>& a, double eps);
/// Drops all blocks.
template <class T>
void clear(BlockSparseMatrix<T>& a);

// ---- arithmetic
// -----------------------------------------------------------------------------------------------------

/// A := alpha A + beta B; A's blocks become those of both, its layout stays. Waits for B's pattern only.
/// @throws InvalidArgument if the sizes differ, or A is half-stored and B's symmetry is another.
template <class T>
void add(Sequence& sequence, T alpha, BlockSparseMatrix<T>& a, T beta, const BlockSparseMatrix<T>& b);
template <class T>
void scale(Sequence& sequence, T alpha, const BlockSparseMatrix<T>& a);
/// A := diag(v) A (left) or A diag(v) (right); v has one entry for each row (column) of elements, on every
/// rank.
/// @throws InvalidArgument for another length, or a half-stored matrix.
template <class T>
void scale_by_vector(Sequence& sequence, Side side, std::span<const T> v, const BlockSparseMatrix<T>& a);
/// Every element of the stored blocks := value (of half-stored matrices: as the symmetry allows).
template <class T>
void set_all(Sequence& sequence, T value, const BlockSparseMatrix<T>& a);
/// Adds a multiple of the identity; diagonal blocks that are missing are made. Waits for nothing.
template <class T>
void add_on_diagonal(Sequence& sequence, T alpha, BlockSparseMatrix<T>& a);
/// The diagonal elements of stored blocks := v, of length rows(), on every rank.
template <class T>
void set_diagonal(Sequence& sequence, std::span<const T> v, const BlockSparseMatrix<T>& a);
/// The diagonal, zero where no block is stored, on every rank.
template <class T>
std::vector<T> get_diagonal(const BlockSparseMatrix<T>& a);
/// A matrix of the diagonal blocks alone.
template <class T>
BlockSparseMatrix<T> block_diagonal(Sequence& sequence, const BlockSparseMatrix<T>& a);
/// The elementwise product of A and B on the blocks that both have, in A's layout.
template <class T>
BlockSparseMatrix<T> hadamard_product(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                      const BlockSparseMatrix<T>& b);

/// Functions of single elements, x being the argument (after scaling: first * x + second).
enum class ElementFunction {
  inverse,
  tanh,
  tanh_derivative,
  artanh,
  sin,
  cos,
  asin,
  square_root,
  absolute,
  truncate
};
/// Every stored element := f(first * element + second). truncate: to [-1, 1]. Real types for artanh, asin and
/// truncate only.
/// @throws InvalidArgument for a function that the type does not have.
template <class T>
void function_of_elements(Sequence& sequence, ElementFunction f, T first, T second,
                          const BlockSparseMatrix<T>& a);

// ---- reductions
// -----------------------------------------------------------------------------------------------------

/// Squares of the Frobenius norms of the stored blocks, for each panel in the order of its blocks, on every
/// rank.
template <class T>
std::vector<std::vector<double>> block_norms_squared(const BlockSparseMatrix<T>& a);
template <class T>
T trace(const BlockSparseMatrix<T>& a);
/// sum_ij conj(A_ij) B_ij, that is trace(A^H B).
template <class T>
T dot(const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b);
template <class T>
double frobenius_norm(const BlockSparseMatrix<T>& a);
/// The largest modulus of an element.
template <class T>
double max_abs_norm(const BlockSparseMatrix<T>& a);
/// max_i sum_j |A_ij|, which bounds the eigenvalues (Gershgorin).
template <class T>
double gershgorin_norm(const BlockSparseMatrix<T>& a);
/// The Euclidean norm of each column.
template <class T>
std::vector<double> column_norms(const BlockSparseMatrix<T>& a);
/// A number that depends on every element; with `by_position` also on where it is. Independent of
/// distribution and of which zero blocks are stored, up to rounding.
template <class T>
double checksum(const BlockSparseMatrix<T>& a, bool by_position = false);
/// Stored elements (in full) / elements.
template <class T>
double occupation(const BlockSparseMatrix<T>& a);

}  // namespace tessera
