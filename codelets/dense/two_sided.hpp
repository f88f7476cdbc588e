// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/tile_part.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets of the two-sided, double-blocked update in reduce_to_band. With H = I - V T V^H, W = V T and Y =
/// A W:
///   H^H A H = A - V Z^H - Z V^H,  Z = Y - 1/2 V (W^H Y).
/// Within an outer block of kb columns the trailing matrix A0 is not updated: with the accumulated V and Z of
/// the earlier panels, A = A0 - Vacc Zacc^H - Zacc Vacc^H, so Y = A0 W - Vacc (Zacc^H W) - Zacc (Vacc^H W).
///
/// VZ is a tile row's accumulator, rows x 2 kb: V in the columns [0, kb), Z in [kb, 2 kb); `done` columns of
/// each are in use.
///
/// Flops: in brackets, none where there are none (complex: x 4). Footprint: buffer sizes; the part's size or
/// the rows, `done`, kb, b, and whether the tile is on the diagonal. All run on CPUs and GPUs.
/// Source: Wang et al., "Rethinking back transformation in 2-stage eigenvalue decomposition ..." (2025),
/// double-blocked reduction; ELPA2's bandred for the single-blocked form.
namespace tessera {

/// Upper triangle := adjoint of the lower one, diagonal := its real part (read-write), where GPUs work: there
/// the product with a diagonal tile is a general product of the whole square, which reads half as fast again
/// as one that expands the triangle. Needed once for each diagonal tile; where GPUs work, rank_2k_update
/// keeps both triangles valid on CPUs too (RuntimeOptions::hybrid), and the other codelets change the upper
/// triangle's part of finished panels only. Without GPUs nothing is inserted, unless `always`.
template <class T>
void insert_mirror_lower(Sequence& sequence, int priority, const Data& a, bool always = false);

/// Y_i := [Y_i +] A W_j and, off the diagonal, Y_j := [Y_j +] A^H W_i, for the part of tile (i, j) of A0
/// (lower tiles; on the diagonal the lower triangle counts, on GPUs both: see insert_mirror_lower). Buffers:
/// A, W_i, [W_j] (read), Y_i, [Y_j] (write if fresh, else read-write). W and Y are rows x b with the rows of
/// their tile row. [4 m n b; 2 m^2 b on the diagonal]
template <class T>
void insert_two_sided_product(Sequence& sequence, int priority, const Data& a, TilePart part, Index b,
                              const Data& w_i, const Data& y_i, bool fresh_i, const Data* w_j,
                              const Data* y_j, bool fresh_j);

/// Y := sum of the parts of Y that other ranks computed (`y_fresh`: Y has no part of its own), and the inner
/// products D := [Vacc^H W (done rows); at row kb: Zacc^H W (done rows); at row 2 kb: W^H Y (b rows)] of one
/// tile row (rows from `row`). Buffers: VZ, W (read), parts (read), Y (read-write, or write if y_fresh), D
/// (write, (2 kb + b) x b). [4 rows b done + 2 rows b^2]
template <class T>
void insert_inner_products(Sequence& sequence, int priority, const Data& vz, const Data& w, const Data& y,
                           bool y_fresh, std::span<const Data* const> parts, const Data& d, Index row,
                           Index rows, Index done, Index kb, Index b);

/// Sums the tile rows' D; then the b rows of D from kb + done on are 1/2 W^H (A W) with the delayed
/// corrections. pieces (read), D (write). [4 b^2 done]
template <class T>
void insert_inner_sum(Sequence& sequence, int priority, std::span<const Data* const> pieces, const Data& d,
                      Index done, Index kb, Index b);

/// Z := Y - Vacc (Zacc^H W) - Zacc (Vacc^H W) - V (1/2 W^H A W) into the panel's columns of VZ.
/// Buffers: D, Y (read), VZ (read-write). [4 rows b done + 2 rows b^2]
template <class T>
void insert_form_z(Sequence& sequence, int priority, const Data& d, const Data& y, const Data& vz, Index row,
                   Index rows, Index done, Index kb, Index b);

/// P := P - V Ztop^H - Z Vtop^H: brings the next panel's columns up to date. V, Z: the panel's rows in `vz`;
/// Vtop, Ztop: the rows [top_row, top_row + columns of P) of `vz_top`. Buffers: VZ, [VZtop if another tile
/// row] (read), tile with P (read-write). [4 done an element of P]
template <class T>
void insert_panel_update(Sequence& sequence, int priority, const Data& vz, const Data* vz_top, Index top_row,
                         Index done, Index kb, const Data& p, TilePart panel);

/// A := A - V_i Z_j^H - Z_i V_j^H on the part of tile (i, j) (vz_j null on the diagonal: the lower triangle,
/// and where GPUs work both).
/// Buffers: VZ_i, [VZ_j] (read), A (read-write), scratch of update_workspace_bytes(largest number of columns
/// of a part, kb): the GPU puts [Z V] there and makes one product [V Z] [Z V]^H. [4 m n done; half on the
/// diagonal]
template <class T>
void insert_rank_2k_update(Sequence& sequence, int priority, const Data& vz_i, const Data* vz_j, Index done,
                           Index kb, const Data& a, TilePart part, const Data& workspace);
template <class T>
std::size_t update_workspace_bytes(Index rows, Index kb) noexcept;

/// Sets a piece (matrix or bytes) to zero. (write)
template <class T>
void insert_set_zero(Sequence& sequence, int priority, const Data& a);

/// Copies into a band segment what lies within the band: entry (i, j) of the source part is entry (row0 + i,
/// col0 + j) of the band matrix, lower triangle only. The source is a tile or, with `from_factor`, the band
/// part of a PanelFactor of width b. Buffers: source (read), segment (read-write, ld x columns from
/// first_col).
template <class T>
void insert_copy_to_band(Sequence& sequence, int priority, const Data& source, TilePart part,
                         bool from_factor, Index b, Index row0, Index col0, const Data& segment,
                         Index first_col);

}  // namespace tessera
