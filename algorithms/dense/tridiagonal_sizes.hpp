// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime.hpp>

/// How TridiagonalEigen cuts its work into tasks.
namespace tessera::detail {

/// Rows of a leaf. On CPUs the work of a leaf is cubic with vectors, so small problems on many workers want
/// small leaves; tiles of 256 make good GEMMs. On a GPU the kernel of the leaves is itself
/// a divide and conquer, for one leaf or for all together; its products are slower than those of a library,
/// which limits the size of a leaf.
Index choose_leaf(const Runtime& runtime, Index n, bool want_vectors, std::size_t real_bytes);

/// Leaves of one task: on a GPU those that fill it, as far as they fit into its memory.
Index leaves_together(const Runtime& runtime, Index leaf, std::size_t real_bytes);

/// Columns of a tile on CPUs, where 256 make good GEMMs.
inline constexpr Index tile_columns_on_cpus = 256;

/// Columns of a tile of a merge's vectors. On CPUs more than tile_columns_on_cpus only where pack_rows would
/// see too many tiles; on GPUs a few panels for each, narrower where the memory is short: at the root the
/// task of a row block holds the block (leaf x n), the panel and the tile, and a slab's task the slab and all
/// tiles of the panel.
Index choose_tile_columns(const Runtime& runtime, Index n, Index leaf, std::size_t real_bytes);

/// Parts of a merge of order m: large enough to outweigh the overhead of a task, and no more than fill the
/// workers beside the other merges of that depth.
Index merge_parts(const Runtime& runtime, Index m, int depth);

}  // namespace tessera::detail
