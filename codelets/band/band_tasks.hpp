// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/band_arguments.hpp>
#include <tessera/codelets/band/chase_blocks.hpp>
#include <tessera/codelets/band/chase_sweeps.hpp>
#include <tessera/codelets/band/wy_blocks.hpp>
#include <tessera/runtime/sequence.hpp>

/// The codelets of the band family, on the kernels of chase.hpp and wy_blocks.hpp for CPUs and on those of
/// chase_sweeps.hpp and chase_blocks.hpp for GPUs, which CPUs run too.
///
/// Flops: none where none are given, those tasks move data. Footprint: buffer sizes; of chase_tile also b,
/// the sweeps, the number of segments and whether reflectors are kept; of chase_sweeps b, the sweeps, the
/// first one and whether reflectors are kept; of form_wy b, the sweeps and hops; of apply_wy b, the sweeps of
/// a group and the hops of the first one; of form_chase_t, apply_chase and apply_one_by_one b, the sweeps and
/// the first one. chase_tile, tridiagonal_assemble, form_wy and apply_wy run on CPUs only, the others on CPUs
/// and GPUs: chase_sweeps, form_chase_t, apply_chase and apply_one_by_one on CPUs only where there are no
/// GPUs (not with RuntimeOptions::hybrid either). All sweeps of a matrix must run on one kind, for a GPU does
/// not keep the bulge's room clean, and a task of the others is as large as a GPU can take.
namespace tessera {

/// Columns first_column .. first_column + columns - 1 of the chase's storage (kernels::BandLayout, written)
/// from pieces of a BandMatrix (read): matrices of 2b rows, column j from its diagonal down, `piece_columns`
/// columns each; room for the bulge and padding are zeroed. The first piece begins with first_column. Errors:
/// not_finite with index = column, from 1, where a number of the band is NaN or infinite.
template <class T>
void insert_band_gather(Sequence& sequence, int priority, Index n, Index bandwidth, Index first_column,
                        Index columns, Index piece_columns, std::span<const Data* const> pieces,
                        const Data& segment);

/// One tile of a chase: kernels::chase_tile on one or two consecutive segments (read-write), of which the
/// first begins with the column `first_column`. `reflectors` tells what `kept` (write, then read-write; null:
/// nothing is kept) holds. Flops: 6 b (2 b) a hop; complex x 4.
template <class T>
void insert_chase_tile(Sequence& sequence, int priority, const ChaseTile<T>& tile, const Data& first,
                       const Data* second, const Data* kept, bool kept_is_new, const Data& workspace);

/// kernels::chase_sweeps on a whole band in one segment (read-write), with the reflectors of its sweeps in
/// `kept` (shape.size() elements, write; null: not kept). `workspace`: chase_sweeps_workspace bytes. One task
/// takes a whole GPU. Flops: 12 b^2 a hop; complex x 4.
template <class T>
void insert_chase_sweeps(Sequence& sequence, int priority, const kernels::DeviceReflectors& shape,
                         const Data& segment, const Data* kept, const Data& workspace);

/// Diagonal and subdiagonal of the columns of a segment that the chase has finished (read) to `piece`:
/// `columns` reals each (write).
template <class T>
void insert_tridiagonal_piece(Sequence& sequence, int priority, Index n, Index bandwidth, Index first_column,
                              Index columns, const Data& segment, const Data& piece);

/// d (n reals) and e (max(n - 1, 1), write) from the pieces in order (read), `piece_columns` columns each, on
/// one rank.
template <class R>
void insert_tridiagonal_assemble(Sequence& sequence, int priority, int rank, Index n, Index piece_columns,
                                 std::span<const Data* const> pieces, const Data& d, const Data& e);

/// kernels::form_wy of the hops first_hop .. last_hop - 1 of a group: `kept` (read) as `pieces` describe,
/// `blocks` (write if the hops begin with 0, else read-write) on rank `rank`. At most max_form_pieces pieces.
/// Flops: 3 g^2 (b + g) a hop with g sweeps; complex x 4.
template <class T>
void insert_form_wy(Sequence& sequence, int priority, int rank, Index n, Index bandwidth, Index first_sweep,
                    Index sweeps, Index first_hop, Index last_hop,
                    std::span<const kernels::Reflectors<T>> pieces, std::span<const Data* const> kept,
                    const Data& blocks, const Data& workspace);

/// kernels::apply_wy of all hops of some groups (blocks, read) to a slab (n x columns, read-write). Group i
/// holds the sweeps from first_sweep + i * sweeps on, the last one `last_sweeps` of them. Flops: 4 b a
/// reflector and column; complex x 4.
template <class T>
void insert_apply_wy(Sequence& sequence, int priority, Index n, Index bandwidth, Index first_sweep,
                     Index sweeps, Index last_sweeps, std::span<const Data* const> blocks, const Data& slab,
                     Index columns, const Data& workspace);

/// kernels::form_chase_t on rank `rank`: `blocks` (chase_blocks<T>(piece).size() doubles, write) from the
/// reflectors of one device piece (read). Flops: 2 g^2 (b + g) a block of g sweeps; complex x 4.
template <class T>
void insert_form_chase_t(Sequence& sequence, int priority, int rank, const kernels::DeviceReflectors& piece,
                         const Data& reflectors, const Data& blocks);

/// kernels::apply_chase of a device piece (its blocks, read) to a slab (n x columns, read-write).
/// `workspace`: kernels::apply_chase_workspace bytes for the widest slab. On a GPU one task takes all of it,
/// with any number of columns: the wider the slab the less the blocks are read. Flops: 4 b a reflector and
/// column; complex x 4.
template <class T>
void insert_apply_chase(Sequence& sequence, int priority, const kernels::DeviceReflectors& piece,
                        const Data& blocks, const Data& slab, Index columns, const Data& workspace);

/// kernels::apply_one_by_one of a device piece (its reflectors, read) to a slab (n x columns, read-write): on
/// a GPU ELPA2's kernel, for bandwidths that are powers of two, at most 128. Flops as above.
template <class T>
void insert_apply_one_by_one(Sequence& sequence, int priority, const kernels::DeviceReflectors& piece,
                             const Data& reflectors, const Data& slab, Index columns);

}  // namespace tessera
