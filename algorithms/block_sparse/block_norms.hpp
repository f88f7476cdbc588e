// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/block_sparse/block_sparse_matrix.hpp>

/// Norms of blocks on their way from the tasks that compute them to the host.
namespace tessera {

/// Squares of the Frobenius norms of a matrix' blocks, one piece a panel (empty where it has no blocks).
/// Submits.
template <class T>
std::vector<Data> submit_block_norms(Sequence& sequence, const BlockSparseMatrix<T>& a);

/// The Frobenius norms of the blocks of this rank's panels, from such pieces; other panels empty. Waits for
/// their tasks.
std::vector<std::vector<double>> local_block_norms(const std::vector<Data>& squares);

/// The norms of all blocks on every rank. Collective.
std::vector<std::vector<double>> gather_block_norms(const BlockPattern& pattern,
                                                    std::vector<std::vector<double>> local);

/// Drops the blocks with a Frobenius norm below `eps`; returns their number. Collective; waits.
template <class T>
Index drop_small_blocks(BlockSparseMatrix<T>& a, double eps);

}  // namespace tessera
