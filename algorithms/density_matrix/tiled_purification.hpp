// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/density_matrix.hpp>

namespace tessera::detail {

/// P of states of occupation 1, half-stored in H's layout, by trace-correcting purification of dense matrices in the tiles
/// of their lower triangles; the result gets mu, the bounds of the gap and the
/// error that the last step leaves.
///
/// S = L L^H, H' = L^{-1} H L^{-H}; X as in purify_tc2, each product n^3 flops, in float unless the options say otherwise;
/// at the end W = 2 X - X^2 in T, and P = Y Y^H with Y = L^{-H} W. A GPU that can hold everything has one tile.
/// Between two products the host reads the traces of X alone; as long as X is far from idempotent, the next product has
/// been submitted before.
/// @throws IterationEnded
template <class T>
BlockSparseMatrix<T> purify_in_tiles(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem,
                                     const DensityOptions& options, DensityResult<T>& result);

}  // namespace tessera::detail
