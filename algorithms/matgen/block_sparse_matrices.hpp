// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <tessera/algorithms/block_sparse/block_sparse_matrix.hpp>

namespace tessera {

/// Block sizes that repeat in a pattern (13,5,5: 13 5 5 13 5 5 ...) until `elements` are covered; the last
/// block is cut to fit.
/// @throws InvalidArgument for an empty pattern or a size below 1.
std::vector<Index> repeated_block_sizes(std::span<const Index> pattern, Index elements);

/// Blocks drawn independently with probability `occupation` (of a half-stored matrix: of the stored half),
/// the diagonal always; values uniform in [-1, 1), depending on the seed and the block's numbers alone, so
/// equal for any distribution. Half-stored matrices have diagonal blocks of their symmetry. Collective.
/// @throws InvalidArgument for an occupation outside [0, 1].
template <class T>
BlockSparseMatrix<T> random_block_sparse(Runtime& runtime, const BlockLayout& layout, double occupation,
                                         std::uint64_t seed);

/// A model of an overlap or density matrix of liquid water: molecules in a periodic cube at the density of
/// water, each at a random point of a lattice cell of its own; `blocks_per_molecule` consecutive blocks each
/// (1 of 23 basis functions for a typical double-zeta molecularly optimised basis, or 3 of 13, 5 and 5). The
/// block of two molecules at distance r is stored if exp(-r / decay length) is above a threshold such that
/// about the share `occupation` of all blocks is there (the diagonal always; the decay length is 1 angstrom).
/// Its values are random, scaled by that exponential. Molecules are numbered along a space-filling curve, so
/// that near ones have near numbers. The matrix has its layout's symmetry; in a layout without symmetry it is
/// Hermitian. The same for any distribution. Collective.
/// @throws InvalidArgument for an occupation outside [0, 1], or other columns than rows.
template <class T>
BlockSparseMatrix<T> water_block_sparse(Runtime& runtime, const BlockLayout& layout, double occupation,
                                        std::uint64_t seed, Index blocks_per_molecule = 1);

}  // namespace tessera
