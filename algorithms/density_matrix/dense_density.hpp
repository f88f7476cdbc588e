// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/density_matrix.hpp>

namespace tessera::detail {

/// The density matrix from the occupied eigenvectors of the dense problem: result.density, chemical_potential, gap.
/// With a filter, blocks of P with a Frobenius norm below it are left out.
/// @throws IterationEnded
template <class T>
void dense_density(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem, const DensityOptions& options,
                   DensityResult<T>& result);

}  // namespace tessera::detail
