// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/panel_vectors.hpp>

/// @file
/// Products of block-sparse matrices with dense vectors, for float, double, complex<float>, complex<double>:
///
///   const auto x = column_vectors(a, 4), y = row_vectors(a, 4);
///   x.set(values, a.cols());
///   Sequence sequence(runtime);
///   multiply_vectors(sequence, 1.0, a, Op::none, x, 0.0, y);
namespace tessera {

/// Y := alpha op(A) X + beta Y. Submits tasks and returns; all ranks call it with the same arguments.
///
/// A may have any symmetry and any distribution. Of a half-stored matrix every stored block is applied both
/// ways, as itself and as its mirror image, in one pass over the values: half the memory traffic of the full
/// matrix. Where X and Y are cut as A's panels (column_vectors, row_vectors) a task for each panel of A, on its
/// owner, multiplies what the panel has, and one task for each segment of Y adds the results in the order of
/// the panels: no sum depends on the schedule. Vectors of another cut are brought to A's first, and the result
/// back. With beta = 0 Y's values are not read. Y may be X.
///
/// 2 flops (complex: 8) an element of op(A), half-stored ones in full, and vector. Beside the vectors, each
/// panel of A has its rows (columns) x width of results until they are added.
/// @throws InvalidArgument, on all ranks, for a matrix or vectors that were never made, of another Runtime, or
/// of other block sizes than op(A), for different widths, and for factors that are not finite; before anything
/// is submitted.
template <class T>
void multiply_vectors(Sequence& sequence, T alpha, const BlockSparseMatrix<T>& a, Op op,
                      const PanelVectors<T>& x, T beta, const PanelVectors<T>& y);

/// Vectors cut as the rows of A, without values: Y of A X, or X of op(A) with another op. Segments lie on ranks
/// that own panels of their rows. Collective.
/// @throws InvalidArgument for a matrix that was never made, or a width below 1
template <class T>
PanelVectors<T> row_vectors(const BlockSparseMatrix<T>& a, Index width);
/// The same, cut as the columns of A.
template <class T>
PanelVectors<T> column_vectors(const BlockSparseMatrix<T>& a, Index width);

}  // namespace tessera
