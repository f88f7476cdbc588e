// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

/// Conversion between a block-sparse matrix and tiles where all of the matrix is one tile of one process: patterns and
/// values stay where the tasks run, and the host lists no blocks.
namespace tessera::detail {

/// Whether a matrix of these blocks and tiles is converted so.
bool converts_whole(const Runtime& runtime, const TileLayout& tiles, const BlockLayout& layout);

/// The tile := the blocks, with their mirror images; zero elsewhere.
template <class T>
void submit_to_whole(Sequence& sequence, const BlockSparseMatrix<T>& a, const TiledMatrix<T>& whole);

/// The pattern of the blocks with an element above the threshold, or of all if it is below 0. Waits for the tile.
template <class T>
BlockPatternPointer pattern_of_whole(const TiledMatrix<T>& whole, Runtime& runtime, const BlockLayout& layout,
                                     double threshold);

/// The blocks of this pattern from the tile.
template <class T>
BlockSparseMatrix<T> submit_from_whole(Sequence& sequence, const TiledMatrix<T>& whole,
                                       BlockPatternPointer pattern);

}  // namespace tessera::detail
