// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include <tessera/block_pattern.hpp>
#include <tessera/sequence.hpp>

/// Patterns made of patterns, each rank's panels from those that it has of both. Collective, unless said
/// otherwise.
namespace tessera::detail {

/// A pattern without blocks. The last ones stay with the Runtime: iterations make their products from such a pattern
/// again and again.
BlockPatternPointer empty_pattern(Runtime& runtime, const BlockLayout& layout);

/// The blocks of a and b (layouts of the same places), in a's layout: a itself if it has those of b. By tasks
/// if a task has found one of the patterns, and on the host if it has the index of both.
/// @param sequence of what follows; nothing waits for the task that writes the pattern
BlockPatternPointer unite(Sequence& sequence, const BlockPatternPointer& a, const BlockPattern& b);
/// The same by tasks, where the patterns are: the host waits for the number of blocks.
BlockPatternPointer unite_by_tasks(Sequence& sequence, const BlockPatternPointer& a, const BlockPattern& b);
/// The same on the host.
BlockPatternPointer unite_on_host(const BlockPatternPointer& a, const BlockPattern& b);
/// The blocks of both, in a layout of the same places.
BlockPatternPointer intersect(const BlockPattern& a, const BlockPattern& b, const BlockLayout& layout);
/// The blocks of a, and others that all ranks name alike: a itself if it has them.
BlockPatternPointer with_blocks(Sequence& sequence, const BlockPatternPointer& a,
                                std::span<const BlockCoordinate> blocks);
/// The blocks (panel, number in the panel, coordinate) that are wanted; each rank is asked about its own.
using BlockPredicate = std::function<bool(Index, Index, BlockCoordinate)>;
BlockPatternPointer select(const BlockPattern& a, const BlockPredicate& wanted);

/// Those of some blocks that this rank owns. Without communication.
std::vector<BlockCoordinate> own_blocks(const Runtime& runtime, const BlockLayout& layout,
                                        std::span<const BlockCoordinate> blocks);
/// The blocks that the diagonal of the elements passes, stored or not, from the top. In layouts of equal
/// block sizes the diagonal blocks, but for empty ones. Without communication.
std::vector<BlockCoordinate> blocks_on_diagonal(const BlockLayout& layout);
/// The panels that store some of them, ascending; of all ranks.
std::vector<Index> panels_on_diagonal(const BlockPattern& pattern);

}  // namespace tessera::detail
