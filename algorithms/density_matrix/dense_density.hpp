// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/density_matrix.hpp>

namespace tessera::detail {

/// Eigenpairs of H c = e S c: the values, ascending, and the vectors as columns, in small groups of states.
template <class T>
struct DenseEigenpairs {
  std::vector<double> values;
  BlockSparseMatrix<T> vectors;
};

/// The lowest `count` of them. No filter.
/// @throws IterationEnded
template <class T>
DenseEigenpairs<T> dense_eigenpairs(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem, Index count);

/// sum_k factors[k] c_k c_k^H, in a half-stored layout, over the states whose factor counts. No filter.
/// @throws IterationEnded
template <class T>
BlockSparseMatrix<T> sum_over_states(BlockAlgebra<T>& algebra, const DenseEigenpairs<T>& of,
                                     std::span<const double> factors, const BlockLayout& layout);

/// The projector sum_occupied c c^H from the eigenvectors of the dense problem; and the result's chemical potential and
/// gap. No filter.
/// @throws IterationEnded
template <class T>
BlockSparseMatrix<T> dense_density(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem,
                                   DensityResult<T>& result);

}  // namespace tessera::detail
