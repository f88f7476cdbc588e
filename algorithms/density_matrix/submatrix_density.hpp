// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/density_matrix.hpp>

namespace tessera::detail {

/// P of states of occupation 1, half-stored in H's layout, by the submatrix method; the result gets mu, the bounds of the
/// gap and the error. Nothing where one submatrix of all would be the least work: that is purify_in_tiles.
///
/// 1. H and S in a basis that is orthonormal within each block; the couplings of the blocks.
/// 2. mu and the gap, unless the problem has one, from small environments.
/// 3. Groups of near blocks, and for each the blocks on which its columns of P are expected to have more than the filter
///    lets through. The order of the groups is that with the least work.
/// 4. For each group's submatrices: S^{-1/2}, X = S^{-1/2} H S^{-1/2}; trace-correcting steps for all at once, the trace
///    that of the groups' columns; McWeeny's step for these columns in T.
/// 5. P is the Hermitian part of the columns. What they are not Hermitian by tells the error of the environments; where it
///    is too large, steps 3 to 5 are repeated with larger ones.
/// @throws IterationEnded
template <class T>
std::optional<BlockSparseMatrix<T>> density_of_submatrices(BlockAlgebra<T>& algebra,
                                                           const DensityProblem<T>& problem,
                                                           const DensityOptions& options,
                                                           DensityResult<T>& result);

}  // namespace tessera::detail
