// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/tile_part.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets that bring a caller's matrix into the solver's own tiles, and results back.
/// Flops: none, they move data. Footprint: buffer sizes; of copy_tile also the part's size and op. All run on
/// CPUs and GPUs.
namespace tessera {

/// out := largest absolute value (one real) of the part of a tile that counts: entries (row0 + i, col0 + j)
/// of the lower, upper or whole matrix. Real and imaginary parts count apart (no overflow). Buffers: tile
/// (read), out (write). Errors: not_finite with index = column, from 1.
template <class T>
void insert_max_abs(Sequence& sequence, int priority, const Data& tile, Uplo uplo, Index row0, Index col0,
                    const Data& out);

/// scale := the power of two that brings the largest of the values to [1/2, 1) (1 if all are zero), one real.
/// As a power of four it brings the largest near 1. Buffers: values (read), scale (write).
template <class R>
void insert_choose_scale(Sequence& sequence, int priority, std::span<const Data* const> values,
                         const Data& scale, bool power_of_four = false);

/// destination := source: pieces of equal size in bytes, run by rank `execute_on`; a destination of owner
/// every_rank changes on that rank alone. Buffers: source (read), destination (write).
void insert_copy_bytes(Sequence& sequence, int priority, const Data& source, const Data& destination,
                       int execute_on);

/// A part of the destination := scale op(part of the source); on the matrix diagonal (row0 + i = col0 + j)
/// imaginary parts become zero. Buffers: source (read), scale (read, one real), destination (write if
/// `fresh`, else read-write). `gpu`: see TaskOptions.
template <class T>
void insert_copy_tile(Sequence& sequence, int priority, const Data& source, TilePart source_part, Op op,
                      const Data& scale, const Data& destination, TilePart destination_part, bool fresh,
                      Index row0, Index col0, int gpu = -1);

/// out[k] := values[first + k] / scale for k < count. Buffers: values (read), scale (read), out (write); all
/// every_rank.
template <class R>
void insert_export_values(Sequence& sequence, int priority, const Data& values, const Data& scale,
                          Index first, Index count, const Data& out);

/// quotient := a / b, one real each. Buffers: a, b (read), quotient (write); all every_rank.
template <class R>
void insert_divide_scales(Sequence& sequence, int priority, const Data& a, const Data& b,
                          const Data& quotient);

/// X := sqrt(scale) X. Buffers: scale (read, one real, a power of four), X (read-write).
template <class T>
void insert_scale_by_root(Sequence& sequence, int priority, const Data& scale, const Data& x);

}  // namespace tessera
