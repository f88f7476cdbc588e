// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/runtime/sequence.hpp>

/// Codelets of back_band: the panels of one tile column as one block reflector H = I - V T V^H of up to a
/// tile's width, V with k columns in one or several pieces below each other, applied to slabs of columns.
/// Flops: in brackets, none where there are none (complex: x 4). Footprint: buffer sizes; except for
/// solve_adjoint_row also rows, k and the number of pieces. All run on CPUs and GPUs.
/// Source: LAPACK larft, larfb; Bischof and Van Loan's WY accumulation.
namespace tessera {

/// V := the reflectors of the columns [first_col, first_col + k) of a tile column (or column group), rows
/// from `first_row` of the first tile on, gathered in one piece (two large products a slab then instead of
/// two small ones a tile); column j of V is zero above row (j / b + 1) b. Buffers: tiles (read), V (write,
/// rows x k). `gpu`: see TaskOptions.
template <class T>
void insert_gather_reflectors(Sequence& sequence, int priority, std::span<const Data* const> tiles,
                              const Data& v, Index b, Index first_row, Index first_col, int gpu = -1);

/// T := the k x k factor of the whole column from the panels' b x b factors: block by block,
/// T12 = -T1 (V1^H V2) T2, and zeros below the diagonal. Buffers: V pieces (read), T_p (read), T (write, k
/// x k). [rows k^2 + k^3 / 3]
template <class T>
void insert_merge_t(Sequence& sequence, int priority, std::span<const Data* const> v,
                    std::span<const Data* const> t_panels, const Data& t, Index rows, Index k, Index b);

/// C := (I - V T V^H) C for the rows of the slab from first_row on. T must have zeros below the diagonal,
/// which GPUs multiply by. Buffers: V pieces (read), T (read), C (read-write), scratch of
/// block_reflector_workspace_bytes(k, slab columns). [4 rows k cols]
template <class T>
void insert_apply_block_reflector(Sequence& sequence, int priority, std::span<const Data* const> v,
                                  const Data& t, const Data& c, Index first_row, Index rows, Index k,
                                  Index cols, const Data& workspace);
template <class T>
std::size_t block_reflector_workspace_bytes(Index k, Index cols) noexcept;

/// X := L^-H X for one block row of X, and what it subtracts from the block rows above: with row k of the
/// lower Cholesky factor, X_k := L_kk^-H X_k, X_i := X_i - L_ki^H X_k (i < k). Buffers: L_k0 .. L_kk (read),
/// X (read-write slab). [2 k tile rows_k cols + rows_k^2 cols]
template <class T>
void insert_solve_adjoint_row(Sequence& sequence, int priority, std::span<const Data* const> l_row,
                              const Data& x, Index tile, Index rows_k, Index cols);

}  // namespace tessera
