// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <tessera/algorithms/density_matrix/contraction.hpp>

namespace tessera::detail {

/// Square roots of a Hermitian positive definite matrix.
template <class T>
struct SquareRoots {
  BlockSparseMatrix<T> root, inverse_root;
  double error;  ///< estimated
};

/// The coupled iteration of matrix_square_roots, with the report of `algebra`.
/// @throws IterationEnded
template <class T>
SquareRoots<T> coupled_square_roots(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& a,
                                    const MatrixFunctionOptions& options);

/// The iteration of inverse_factor from a matrix Z, which it replaces. Returns the estimated error.
/// @param known the spectrum of Z^H A Z, if it is known
/// @throws IterationEnded
template <class T>
double refine_inverse_factor(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& a, BlockSparseMatrix<T>& z,
                             const MatrixFunctionOptions& options,
                             const std::optional<PositiveInterval>& known = {});

/// Where that iteration begins: `start`, or the adjoint inverse Cholesky factors of A's diagonal blocks.
template <class T>
BlockSparseMatrix<T> start_of_inverse_factor(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& a,
                                             const BlockSparseMatrix<T>* start);

}  // namespace tessera::detail
