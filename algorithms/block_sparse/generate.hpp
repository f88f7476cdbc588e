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
template <class T>
BlockSparseMatrix<T> random_block_sparse(Runtime& runtime, const BlockLayout& layout, double occupation,
                                         std::uint64_t seed);

/// A model of an overlap or density matrix of liquid water: molecules at random sites of a periodic box at
/// the density of water, one block of `block` basis functions each (23 for a typical double-zeta molecularly
/// optimised basis); the block of two molecules at distance r is stored if exp(-r / decay length) exceeds a
/// threshold such that the stored share of blocks is about `occupation`; its values are random, scaled by
/// that exponential. Molecules are numbered along a space-filling curve, so that near ones have near numbers.
/// Symmetric in values; stored as the layout says. Collective.
template <class T>
BlockSparseMatrix<T> water_block_sparse(Runtime& runtime, const BlockLayout& layout, double occupation,
                                        std::uint64_t seed);

}  // namespace tessera
