// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/density_matrix/block_algebra.hpp>

namespace tessera::detail {

/// X := sign(X), whose eigenvalues are at most 1 in modulus, by the iteration of matrix_sign. Returns the estimated
/// ||I - X^2||_F / sqrt(n).
/// @throws IterationEnded
template <class T>
double iterate_sign(BlockAlgebra<T>& algebra, BlockSparseMatrix<T>& x, const MatrixFunctionOptions& options);

}  // namespace tessera::detail
