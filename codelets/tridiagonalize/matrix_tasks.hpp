// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include <tessera/codelets/tridiagonalize/panel_tasks.hpp>
#include <tessera/codelets/tridiagonalize/work_layout.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets of the one-stage tridiagonalisation on whole groups of work tiles, and what ends it (layout:
/// work_layout.hpp, panels: panel_tasks.hpp). They run where the group lives unless stated.
/// Flops: none where none are given, those tasks move data; complex x 4. Footprint: buffer sizes; of
/// rank_update also k and the work columns that remain. All run on CPUs only.
namespace tessera {

/// Copies what a tile (i, j) of A has of a group into the group. Buffers: tile (read), group (write if
/// `fresh`, else read-write).
template <class T>
void insert_pack_tile(Sequence& sequence, int priority, const WorkTiles& tiles, Index group_number, Index i,
                      Index j, const Data& tile, const Data& group, bool fresh);

/// columns := the `count` columns from padded index `column` on of the group's tiles, from the diagonal's
/// work row down (the trailing height); zero where the group has no tile. Also the square that remains at the
/// end, with all its columns. Buffers: group (read), columns (write, trailing height x at least count).
template <class T>
void insert_extract_columns(Sequence& sequence, int priority, const WorkTiles& tiles, Index group_number,
                            Index column, Index count, const Data& group, const Data& columns);

/// A0 := A0 - V W^H - W V^H in the group's tiles from work column `first_column` on. Buffers: V_c (read),
/// group (read-write). Flops: 4 k x area.
template <class T>
void insert_rank_update(Sequence& sequence, int priority, const WorkTiles& tiles, Index group_number,
                        const RowChunks& chunks, Index k, Index first_column, std::span<const Data> v,
                        const Data& group);

/// Keeps a panel's reflectors: columns [at, at + k) of a piece of the back-transform's block := V_c without
/// the padding. Buffers: V_c (read), piece (write if at = 0, else read-write; rows of A in the chunk x
/// columns of the block).
template <class T>
void insert_store_reflectors(Sequence& sequence, int priority, const WorkLayout& layout,
                             const RowChunks& chunks, Index chunk, Index k, Index at, const Data& v,
                             const Data& piece);

/// The square that remains, from work row `first` on, by LAPACK hetrd: scalars (ScalarPiece of its order m)
/// and, if `v` is not null, the m - 1 reflectors as an m x (m - 1) matrix with explicit ones and zeros.
/// Buffers: scalars (write), [V (write)], scratch, squares (read). Flops: 4/3 m^3.
template <class T>
void insert_tridiagonalize_rest(Sequence& sequence, int priority, const WorkLayout& layout, Index first,
                                std::span<const Data* const> squares, const Data& scalars, const Data* v,
                                const Data& workspace);
template <class T>
std::size_t rest_workspace_bytes(Index m);

/// d[at ..] and e[at ..] := one piece of scalars (`count` columns; `elements` of its e exist), on one rank.
/// Buffers: scalars (read), d, e (write if at = 0, else read-write).
template <class T>
void insert_place_scalars(Sequence& sequence, int priority, int rank, Index at, Index count, Index elements,
                          const Data& scalars, const Data& d, const Data& e);

/// T := the triangular factor of H_0 H_1 ... = I - V T V^H (LAPACK larft), from the pieces of V (k columns
/// each) and the panels' scalars (their first k columns in all). Buffers: V pieces (read), scalars (read), T
/// (write, k x k, zeros below the diagonal). Flops: rows k^2 + k^3 / 3.
template <class T>
void insert_reflector_factor(Sequence& sequence, int priority, std::span<const Data> v,
                             std::span<const Data* const> scalars, Index rows, Index k, const Data& t);

}  // namespace tessera
