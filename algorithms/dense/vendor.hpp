// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/column_slabs.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera::detail {

/// LAPACK counts its work array of 2 n^2 elements in 32 bits, and so does cuSOLVER's sygvd.
inline constexpr Index vendor_largest_order = 32000;
/// The largest order that vendor_eigensolve takes: vendor_largest_order, but for one matrix on a GPU what the
/// memory holds.
Index vendor_limit(const Runtime& runtime, bool generalized);

/// The whole problem A x = lambda x by LAPACK's heevd, or on a GPU cuSOLVER's Xsyevd and Xsyevdx, as one
/// task: for small matrices, and to compare with.
///
/// A is gathered in the memory of rank 0, with LAPACK's work space (3 to 4 times A): not for matrices that
/// only fit in the memory of several ranks. BLAS uses as many threads as rank 0 has workers while the task
/// runs.
/// @pre a: n x n, n >= 1, lower layout, square tiles; only read. n at most vendor_limit().
/// @param values all n eigenvalues, ascending: n reals, every_rank bytes, written on all ranks. On a GPU,
/// with less than n vectors, only those number [lo, hi) are written, the others become NaN.
/// @param z if not null, the eigenvectors [lo, hi): n x (hi - lo), any slab width, written completely.
/// Errors: status no_convergence (index: LAPACK's info).
template <class T>
void vendor_eigensolve(Sequence& sequence, const TiledMatrix<T>& a, Index lo, Index hi, const Data& values,
                       const ColumnSlabs<T>* z);

/// A x = lambda B x with positive definite B, by hegvd: Z^H B Z = I. b: like a.
/// Errors: status not_positive_definite (index: the leading minor of B), no_convergence.
template <class T>
void vendor_eigensolve(Sequence& sequence, const TiledMatrix<T>& a, const TiledMatrix<T>& b, Index lo,
                       Index hi, const Data& values, const ColumnSlabs<T>* z);

}  // namespace tessera::detail
