// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/dense/reduce_to_band.hpp>

namespace tessera {

/// Lower tiles as a whole matrix, both triangles, in column groups, each on the GPU of its group; tiles are
/// released as they have been copied. Priority 3. One process.
/// @pre a: lower layout, square tiles whose size is a multiple of `block`.
template <class T>
ColumnGroups<T> deal_columns(Sequence& sequence, TiledMatrix<T>&& a, Index block, int groups);

/// reduce_to_band for a matrix in column groups, blocks as wide as an update
/// (codelets/dense/column_groups.hpp has the scheme): 2 tasks a panel on the GPU that owns its columns and
/// one product on every GPU between them; after a block of columns one update on every GPU.
///
/// What goes from GPU to GPU, in elements: V to all others, n^2 / 2 each, in the way of the next product;
/// Y back to the owner, n^2 / 2 in all; Z as V, but in the background, while the next panel is factored (one
/// copy of V and Z for each block instead would leave all GPUs waiting for it).
///
/// Memory of a GPU, in elements: n times its columns; VZ, the pieces of V and Z of one or two blocks, and
/// work space, about 10 n kb.
/// Priorities: panel 3, products 2, updates 0.
/// @param t_factors gets T_p of every panel; V_p stay in the groups' columns.
template <class T>
void reduce_column_groups(Sequence& sequence, const ColumnGroups<T>& a, const BandMatrix<T>& band,
                          std::vector<Data>& t_factors);

}  // namespace tessera
