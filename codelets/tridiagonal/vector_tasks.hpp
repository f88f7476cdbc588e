// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/tridiagonal/merge_record.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets of the eigenvectors of the tridiagonal divide and conquer: the kernels of merge_vectors.hpp and
/// secular_vectors as tasks. Records are bytes of owner `every_rank`, the rest are matrices of R.
/// Flops: not counted unless given. Footprint: buffer sizes; of secular_vectors and update_rows also m, the
/// number of output columns, rows and `inner`, of pack_rows m and rows, of fill_slab `count`. All run on CPUs
/// and GPUs; on CPUs only where there are no GPUs (not with RuntimeOptions::hybrid either), for there the row
/// blocks and panels are as large as GPUs want them, and a panel on a core would bring a copy of both to the
/// host.
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

/// Columns [from, from + count) of some tiles and their place [to, to + count) in a slab.
struct SlabColumns {
  Index from, to, count;
};

/// Codelet tridiagonal_fill_slab_T: columns of eigenvectors, in tiles of `block_rows` rows below each other,
/// become columns of a slab, widened to T.
/// Buffers: slab (write if `fresh`, else read-write; n rows, of T), tiles (read, of RealOf<T>).
template <class T>
void insert_fill_slab(Sequence& sequence, int priority, Index block_rows, SlabColumns columns, bool fresh,
                      const Data& slab, std::span<const Data> tiles);

}  // namespace tessera
