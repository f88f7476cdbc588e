// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/density_matrix.hpp>

namespace tessera::detail {

/// The projector sum_occupied c c^H from the eigenvectors of the dense problem; and the result's chemical potential and
/// gap. No filter.
/// @throws IterationEnded
template <class T>
BlockSparseMatrix<T> dense_density(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem,
                                   DensityResult<T>& result);

}  // namespace tessera::detail
