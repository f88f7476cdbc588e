// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/density_matrix/block_algebra.hpp>

namespace tessera::detail {

/// P <- 3 P S P - 2 P S P S P, S null: the identity. Returns ||P S P - P||_F / ||P||_F from before (0 of P = 0).
template <class T>
double mcweeny_step(BlockAlgebra<T>& algebra, BlockSparseMatrix<T>& p, const BlockSparseMatrix<T>* s);

/// At most ||P S P - P||_F / ||P||_F: what the filter leaves out of the two products is added by its bound.
template <class T>
double idempotency_error(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& p,
                         const BlockSparseMatrix<T>* s);

/// ||S P H - H P S||_F / sqrt(n)
template <class T>
double commutator_error(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& h,
                        const BlockSparseMatrix<T>* s, const BlockSparseMatrix<T>& p);

}  // namespace tessera::detail
