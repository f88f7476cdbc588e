// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/runtime/sequence.hpp>

/// Tasks of the two-sided, double-blocked update in reduce_to_band. With H = I - V T V^H, W = V T and Y =
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

/// The rows of a tile row from the panel's first reflector on, `rows` from number `row`; `done` columns of
/// Vacc and Zacc are in use in this outer block of kb columns; the panel has b.
struct PanelWindow {
  Index row = 0, rows = 0, done = 0, kb = 0, b = 0;
};

/// Upper triangle := adjoint of the lower one, diagonal := its real part.
/// | operand | mode       | shape           | what                                                               |
/// |---------|------------|-----------------|--------------------------------------------------------------------|
/// | a       | read-write | square matrix   | a diagonal tile                                                    |
/// Where GPUs work (keeps_both_triangles), the product with a diagonal tile is a general product of the whole
/// square, which reads half as fast again as one that expands the triangle. Needed once for each diagonal tile
/// there: Rank2kUpdate keeps both triangles valid, and the other tasks change the upper triangle's part of
/// finished panels only.
template <class T>
struct MirrorLower {
  static constexpr const char* name = "mirror_lower";
  ReadWrite<Matrix<T>> a;
};

/// Some of the tasks on a diagonal tile may be a GPU's, which read both of its triangles: on whatever rank,
/// since all ranks insert the same tasks.
template <class T>
bool keeps_both_triangles(const Runtime& runtime) noexcept;

/// Y_i := [Y_i +] A W_j and, off the diagonal, Y_j := [Y_j +] A^H W_i, for the part of tile (i, j) of A0
/// (lower tiles).                                                    [4 m n b; 2 m^2 b on the diagonal]
/// | operand  | mode         | shape               | what                                                      |
/// |----------|--------------|---------------------|-----------------------------------------------------------|
/// | a        | read         | matrix              | the tile; on the diagonal its lower triangle, on GPUs both |
/// | w_i, w_j | read         | rows x b            | W of the tile's rows and of its columns                   |
/// | y_i, y_j | write or add | rows x b            | partial sums of Y, of the rows and of the columns         |
/// w_j and y_j are absent on the diagonal. W and Y have the rows of their tile rows. The tile stays where it is
/// (execute_on its owner): the partial sums are that rank's own.
template <class T>
struct TwoSidedProduct {
  static constexpr const char* name = "two_sided_product";
  Read<Matrix<T>> a, w_i;
  Read<Matrix<T>> w_j{};
  WriteOrAdd<Matrix<T>> y_i;
  WriteOrAdd<Matrix<T>> y_j{};
  TilePart part;
  Index b = 0;

  bool diagonal() const noexcept { return !w_j; }
  double flops() const noexcept {
    return 4 * double(part.rows) * double(part.cols) * (diagonal() ? double(b) / 2 : double(b)) *
           flop_factor<T>;
  }
  std::uint32_t footprint() const noexcept { return footprint_of(part.rows, part.cols, diagonal()); }
};

/// Y := [Y +] sum of the parts of Y that other ranks computed, and the inner products of one tile row
///   D := [Vacc^H W (done rows); at row kb: Zacc^H W (done rows); at row 2 kb: W^H Y (b rows)].
///                                                                          [4 rows b done + 2 rows b^2]
/// | operand | mode         | shape             | what                                                         |
/// |---------|--------------|-------------------|--------------------------------------------------------------|
/// | vz      | read         | rows x 2 kb       | accumulator of the tile row                                  |
/// | w       | read         | rows x b          | W                                                            |
/// | y       | write or add | rows x b          | its rank's part of Y, if it has one, then all of Y           |
/// | d       | write        | (2 kb + b) x b    | D                                                            |
/// | parts   | read         | each rows x b     | parts of Y of other ranks                                    |
template <class T>
struct InnerProducts {
  static constexpr const char* name = "inner_products";
  Read<Matrix<T>> vz, w;
  WriteOrAdd<Matrix<T>> y;
  Write<Matrix<T>> d;
  ReadAll<Matrix<T>> parts{};
  PanelWindow window;

  double flops() const noexcept {
    const auto& [row, rows, done, kb, b] = window;
    return (4 * double(rows) * double(b) * double(done) + 2 * double(rows) * double(b) * double(b)) *
           flop_factor<T>;
  }
  std::uint32_t footprint() const noexcept {
    return footprint_of(window.rows, window.done, window.kb, window.b);
  }
};

/// D := sum of the tile rows' D; then its b rows from kb + done on are 1/2 W^H (A W) with the delayed
/// corrections.                                                                                 [4 b^2 done]
/// | operand | mode  | shape               | what                                                              |
/// |---------|-------|---------------------|-------------------------------------------------------------------|
/// | pieces  | read  | each (2 kb + b) x b | D of InnerProducts, by tile row                                   |
/// | d       | write | (2 kb + b) x b      | D                                                                 |
template <class T>
struct InnerSum {
  static constexpr const char* name = "inner_sum";
  ReadAll<Matrix<T>> pieces;
  Write<Matrix<T>> d;
  Index done = 0, kb = 0, b = 0;  ///< as in PanelWindow

  double flops() const noexcept { return 4 * double(b) * double(b) * double(done) * flop_factor<T>; }
  std::uint32_t footprint() const noexcept { return footprint_of(0, done, kb, b); }
};

/// Z := Y - Vacc (Zacc^H W) - Zacc (Vacc^H W) - V (1/2 W^H A W) into the panel's columns of VZ.
///                                                                          [4 rows b done + 2 rows b^2]
/// | operand | mode       | shape          | what                                                              |
/// |---------|------------|----------------|-------------------------------------------------------------------|
/// | d       | read       | (2 kb + b) x b | D of InnerSum                                                     |
/// | y       | read       | rows x b       | Y                                                                 |
/// | vz      | read-write | rows x 2 kb    | accumulator of the tile row, V in it                              |
template <class T>
struct FormZ {
  static constexpr const char* name = "form_z";
  Read<Matrix<T>> d, y;
  ReadWrite<Matrix<T>> vz;
  PanelWindow window;

  double flops() const noexcept {
    const auto& [row, rows, done, kb, b] = window;
    return (4 * double(rows) * double(b) * double(done) + 2 * double(rows) * double(b) * double(b)) *
           flop_factor<T>;
  }
  std::uint32_t footprint() const noexcept {
    return footprint_of(window.rows, window.done, window.kb, window.b);
  }
};

/// P := P - V Ztop^H - Z Vtop^H: brings the next panel's columns up to date.      [4 done an element of P]
/// | operand | mode       | shape       | what                                                                 |
/// |---------|------------|-------------|----------------------------------------------------------------------|
/// | vz      | read       | rows x 2 kb | V and Z: the panel's rows                                            |
/// | vz_top  | read       | rows x 2 kb | Vtop, Ztop: rows from top_row on, as many as P has columns; absent: in vz |
/// | p       | read-write | matrix      | the tile with P                                                      |
template <class T>
struct PanelUpdate {
  static constexpr const char* name = "panel_update";
  Read<Matrix<T>> vz;
  Read<Matrix<T>> vz_top{};
  ReadWrite<Matrix<T>> p;
  TilePart part;  ///< of the tile: P
  Index top_row = 0, done = 0, kb = 0;

  double flops() const noexcept {
    return 4 * double(part.rows) * double(part.cols) * double(done) * flop_factor<T>;
  }
  std::uint32_t footprint() const noexcept { return footprint_of(part.rows, part.cols, done, !vz_top); }
};

/// A := A - V_i Z_j^H - Z_i V_j^H on the part of tile (i, j).             [4 m n done; half on the diagonal]
/// | operand   | mode       | shape       | what                                                               |
/// |-----------|------------|-------------|--------------------------------------------------------------------|
/// | vz_i      | read       | rows x 2 kb | V_i and Z_i                                                        |
/// | vz_j      | read       | rows x 2 kb | V_j and Z_j; absent on the diagonal                                |
/// | a         | read-write | matrix      | the tile; on the diagonal the lower triangle                       |
/// | workspace | scratch    | array       | update_workspace_bytes(largest number of columns of a part, kb)    |
/// The GPU puts [Z V] into the work space and makes one product [V Z] [Z V]^H.
template <class T>
struct Rank2kUpdate {
  static constexpr const char* name = "rank_2k_update";
  Read<Matrix<T>> vz_i;
  Read<Matrix<T>> vz_j{};
  ReadWrite<Matrix<T>> a;
  Scratch<Array<T>> workspace;
  TilePart part;
  Index done = 0, kb = 0;
  bool both_triangles = false;  ///< keeps_both_triangles: on the diagonal the upper triangle is needed, too

  bool diagonal() const noexcept { return !vz_j; }
  double flops() const noexcept {
    return 4 * double(part.rows) * double(part.cols) * double(done) * flop_factor<T> / (diagonal() ? 2 : 1);
  }
  std::uint32_t footprint() const noexcept { return footprint_of(part.rows, part.cols, done, diagonal()); }
};
template <class T>
std::size_t update_workspace_bytes(Index rows, Index kb) noexcept;

/// A := 0.
/// | operand | mode  | shape                    | what                                                         |
/// |---------|-------|--------------------------|--------------------------------------------------------------|
/// | a       | write | matrix                   | A                                                            |
template <class T>
struct SetZero {
  static constexpr const char* name = "set_zero";
  Write<Matrix<T>> a;
};

/// Where entry (i, j) of a block is in a band matrix, (row + i, column + j), and the segment that holds its
/// columns, from number `first_column` on.
struct BandPlace {
  Index row = 0, column = 0, first_column = 0, bandwidth = 0;
};

/// Copies into a band segment what of the source part lies within the band's lower triangle.
/// | operand | mode       | shape                 | what                                                       |
/// |---------|------------|-----------------------|------------------------------------------------------------|
/// | tile    | read       | matrix                | the source is a tile                                       |
/// | factor  | read       | bytes                 | or the band part of a PanelFactor of the bandwidth's width |
/// | segment | read-write | ld x columns          | the segment                                                |
template <class T>
struct CopyToBand {
  static constexpr const char* name = "copy_to_band";
  Read<Matrix<T>> tile{};
  Read<Array<char>> factor{};
  ReadWrite<Matrix<T>> segment;
  TilePart part;
  BandPlace place;

  std::uint32_t footprint() const noexcept { return footprint_of(part.rows, part.cols, bool(factor)); }
};

}  // namespace tessera
