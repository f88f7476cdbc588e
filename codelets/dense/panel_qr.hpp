// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/tile_part.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets of the communication-avoiding panel factorisation P = (I - V T V^H) [S R; 0] in reduce_to_band. A
/// panel is a column of tiles, b columns wide. Steps: Gram matrix and Cholesky QR, twice; where that is not
/// safe (the second Gram matrix is not close to I, or a factorisation fails), Householder TSQR over the
/// tiles, which never fails; then Householder reconstruction. The decision is data (PanelFactor::fallback)
/// that each later task reads.
///
/// Buffers named below: P the tile with the panel (part `panel`), VZ the tile row's accumulator, [V | Z],
/// rows x 2 kb; `v` is its part for this panel's V. G, L: b x b. factor: PanelFactor<T> block. workspace
/// (scratch): panel_workspace_bytes. All tasks run where VZ or P live, on CPUs and GPUs. Flops: in brackets
/// (complex: x 4).
/// Footprint: buffer sizes, rows of the parts, b, `top` and `formed`. Source: Yamamoto et al., "Roundoff
/// error analysis of the CholeskyQR2 algorithm" (2015); Demmel et al., "Communication-optimal parallel and
/// sequential QR" (2012); Ballard et al. (2015).
namespace tessera {

/// Columns of a panel in several tiles at most, where GPUs work: their kernels keep the small matrices of
/// these codelets, but for panel_householder and panel_vectors, in the registers of one thread block.
inline constexpr Index widest_gpu_panel = 128;

/// G := P^H P (upper triangle). P (read), G (write). [rows b^2]
template <class T>
void insert_panel_gram(Sequence& sequence, int priority, const Data& p, TilePart panel, const Data& gram,
                       const Data& workspace);

/// factor.r1 := Cholesky factor of the sum of the G, fallback set if there is none. grams (read), factor
/// (write). [b^3 / 3]
template <class T>
void insert_panel_cholesky(Sequence& sequence, int priority, std::span<const Data* const> grams,
                           const Data& factor, Index b);

/// Q := P r1^-1 into v; G := Q^H Q. P, factor (read), VZ (write if `fresh`, else read-write), G (write). [2
/// rows b^2]
template <class T>
void insert_panel_orthogonalize(Sequence& sequence, int priority, const Data& p, TilePart panel,
                                const Data& factor, const Data& vz, TilePart v, bool fresh, const Data& gram,
                                const Data& workspace);

/// Second factorisation: fallback unless ||sum G - I||_F <= 0.1; r2, r := r2 r1. grams (read), factor
/// (read-write). [4/3 b^3]
template <class T>
void insert_panel_check(Sequence& sequence, int priority, std::span<const Data* const> grams,
                        const Data& factor, Index b);

/// If fallback: Q, L := thin QR of P. P, factor (read), VZ (read-write), L (write). [4 rows b^2 when it runs:
/// not counted]
template <class T>
void insert_tsqr_leaf(Sequence& sequence, int priority, const Data& p, TilePart panel, const Data& factor,
                      const Data& vz, TilePart v, const Data& l, const Data& workspace);

/// If fallback: stacks the triangles L of the leaves (leaf i has min(rows_i, b) rows), QR of the stack: r,
/// and the stacked factor M. leaves (read), factor (read-write), M (write, sum of leaf rows x b). [4 b^2 a
/// row of M when it runs: not counted]
template <class T>
void insert_tsqr_combine(Sequence& sequence, int priority, std::span<const Data* const> leaves,
                         const Data& factor, const Data& stack, Index first_leaf_rows, Index last_leaf_rows,
                         Index b, const Data& workspace);

/// Q := Q r2^-1, or, if fallback, Q times its rows of M (from stack_row on). factor, M (read), VZ
/// (read-write). [rows b^2]
template <class T>
void insert_panel_finish(Sequence& sequence, int priority, const Data& factor, const Data& stack,
                         Index stack_row, const Data& vz, TilePart v, const Data& workspace);

/// Householder reconstruction from the top of Q: v1, x, band in factor, and T. VZ (read), factor
/// (read-write), T (write). [2 b^3]
template <class T>
void insert_panel_reconstruct(Sequence& sequence, int priority, const Data& vz, TilePart v,
                              const Data& factor, const Data& t, Index b);

/// Whole factorisation of a panel that lies in one tile; any shape. By Householder reflections; on a GPU by
/// all the steps in one task, with Householder reflections as the fall-back. P (read), VZ (write if fresh,
/// else read-write: V with explicit ones and zeros), factor (write: band), T (write). [3 rows b^2]
template <class T>
void insert_panel_householder(Sequence& sequence, int priority, const Data& p, TilePart panel, const Data& vz,
                              TilePart v, bool fresh, const Data& factor, const Data& t, Index b,
                              const Data& workspace);

/// V := Q x (`top`: the first b rows are v1), copied into the panel's place in P; W := V T. `formed`: V is
/// there already. factor, T (read), VZ (read-write), P (read-write), W (write, part of the same rows). [2
/// rows b^2, half if formed]
template <class T>
void insert_panel_vectors(Sequence& sequence, int priority, const Data& factor, const Data& t, const Data& vz,
                          TilePart v, bool top, bool formed, const Data& p, TilePart panel, const Data& w);

/// Bytes of the workspace that these codelets share on CPUs and GPUs, for tiles of `rows` rows and panels of
/// b columns.
template <class T>
std::size_t panel_workspace_bytes(Index rows, Index b);

}  // namespace tessera
