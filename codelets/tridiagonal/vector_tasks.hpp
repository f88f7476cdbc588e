// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/tridiagonal/merge_record.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets of the eigenvectors of the tridiagonal divide and conquer: the kernels of merge_vectors.hpp and
/// secular_vectors as tasks. Records are bytes of owner `every_rank`, the rest are matrices of R.
/// Flops: not counted unless given. Footprint: buffer sizes; of secular_vectors and update_rows also m, the
/// number of output columns, rows and `inner`, of pack_rows m and rows. All run on CPUs and GPUs.
namespace tessera {

/// Codelet tridiagonal_outline: what the tasks of output columns [begin, end) of a merge of order m must know
/// on the host, because it decides the sizes of their products. Buffers: record (read), outline (write,
/// sizeof(PanelOutline) bytes of owner every_rank).
void insert_panel_outline(Sequence& sequence, int priority, Index m, Index begin, Index end,
                          const Data& record, const Data& outline);

/// Codelet tridiagonal_secular_vectors_R: kernels::secular_vectors for the roots among output columns [begin,
/// end) of a merge of order m, computed by every rank for itself. Buffers: outline (read, on the host),
/// record (read), s (write, at least m rows, end - begin columns).
template <class R>
void insert_secular_vectors(Sequence& sequence, int priority, Index m, Index begin, Index end,
                            const Data& outline, const Data& record, const Data& s);

/// Codelet tridiagonal_pack_rows_R: kernels::pack_rows.
/// Buffers: record (read), packed (write, at least rows x m), tiles (read, rows x up to tile_columns each).
template <class R>
void insert_pack_rows(Sequence& sequence, int priority, Index m, tridiagonal::Child child, Index rows,
                      Index tile_columns, const Data& record, const Data& packed,
                      std::span<const Data> tiles);

/// Codelet tridiagonal_update_rows_R: kernels::update_rows for output columns [begin, end) of a merge of
/// order m whose child has order `inner`. Buffers: outline (read, on the host), record (read), packed (read),
/// s (read), out (write, rows x (end - begin)).
/// Flops: 2 rows inner (end - begin), less what deflation saves.
template <class R>
void insert_update_rows(Sequence& sequence, int priority, Index m, tridiagonal::Child child, Index rows,
                        Index inner, Index begin, Index end, const Data& outline, const Data& record,
                        const Data& packed, const Data& s, const Data& out);

/// Codelet tridiagonal_fill_slab_T: the tiles of all blocks of rows become a slab of eigenvectors, widened to
/// T. Buffers: slab (write, n x c of T), tiles (read, of RealOf<T>): block after block of `block_rows` rows,
/// in each the
///          `tiles_per_block` tiles of tile_columns columns (the last may be narrower); the first
///          `skipped_columns` columns of every block are left out, the next c are taken.
template <class T>
void insert_fill_slab(Sequence& sequence, int priority, Index block_rows, Index tiles_per_block,
                      Index tile_columns, Index skipped_columns, const Data& slab,
                      std::span<const Data* const> tiles);

}  // namespace tessera
