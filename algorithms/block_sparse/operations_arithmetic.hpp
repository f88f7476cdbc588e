// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/block_sparse/copy_blocks.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>

/// Arithmetic with block-sparse matrices, products apart. All submit tasks and return; all ranks call them
/// with the same arguments.
///
/// Half-stored matrices stay what they are: what would break a matrix' symmetry is an error (a factor of a
/// hermitian matrix that is not real, a diagonal of an antisymmetric one). Real hermitian matrices are
/// symmetric ones.
///
/// @throws InvalidArgument, naming the argument, for a matrix that was never made and for what is said below;
/// before anything is submitted. All ranks throw what is wrong on one, also if their numbers differ.
namespace tessera {

/// A := alpha A + beta B; A's blocks become those of both, its layout stays. With a zero factor the values of
/// that matrix are not looked at. B may be A, and in any layout of the same block sizes.
/// @throws InvalidArgument if the sizes differ, A is half-stored and B's symmetry is another, or A is
/// hermitian and a factor is not real.
template <class T>
void add(Sequence& sequence, T alpha, BlockSparseMatrix<T>& a, T beta, const BlockSparseMatrix<T>& b);

/// A := alpha A; zeros with alpha = 0, whatever A was.
/// @throws InvalidArgument if A is hermitian and alpha not real.
template <class T>
void scale(Sequence& sequence, T alpha, const BlockSparseMatrix<T>& a);

/// A := diag(v) A (left) or A diag(v) (right); v has one entry for each row (column) of elements, on every
/// rank.
/// @throws InvalidArgument for another length, or a half-stored matrix.
template <class T>
void scale_by_vector(Sequence& sequence, Side side, std::span<const T> v, const BlockSparseMatrix<T>& a);

/// Every element of the stored blocks := value. Of half-stored matrices, of the lower half: the rest follows
/// from the symmetry (antisymmetric: -value above the diagonal, zero on it; hermitian: the conjugate above,
/// the real part on it). The values need not have been written before.
template <class T>
void set_all(Sequence& sequence, T value, const BlockSparseMatrix<T>& a);

/// Adds a multiple of the identity; blocks on the diagonal that are missing are made.
/// @throws InvalidArgument if A is not square, antisymmetric, or hermitian and alpha not real.
template <class T>
void add_on_diagonal(Sequence& sequence, T alpha, BlockSparseMatrix<T>& a);

/// The diagonal elements of stored blocks := v, of length min(rows(), cols()), on every rank.
/// @throws InvalidArgument for another length, an antisymmetric matrix, or an entry that is not real for a
/// hermitian one.
template <class T>
void set_diagonal(Sequence& sequence, std::span<const T> v, const BlockSparseMatrix<T>& a);

/// The elementwise product of A and B on the blocks that both have, in A's layout; B in any layout of the
/// same block sizes. Of matrices of one symmetry the product is half-stored, too: symmetric, of hermitian
/// ones hermitian, of a symmetric and an antisymmetric one antisymmetric.
/// @throws InvalidArgument if the sizes differ, or A is half-stored and the product has no symmetry.
template <class T>
BlockSparseMatrix<T> hadamard_product(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                      const BlockSparseMatrix<T>& b);

/// Every stored element := f(first * element + second). Outside f's domain NaN or infinity comes out; no task
/// fails.
/// @throws InvalidArgument for artanh, asin and truncate of complex matrices, and for what does not keep the
/// symmetry: of antisymmetric matrices only tanh, artanh, sin, asin and truncate are odd, with second = 0; of
/// hermitian ones first and second must be real, and square_root is not hermitian where a diagonal element
/// is negative, so refused.
template <class T>
void function_of_elements(Sequence& sequence, ElementFunction f, T first, T second,
                          const BlockSparseMatrix<T>& a);

}  // namespace tessera
