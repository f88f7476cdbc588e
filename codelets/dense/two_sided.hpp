// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/common/host_device.hpp>
#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/codelets/linalg/split_products.hpp>
#include <tessera/runtime/sequence.hpp>

/// Tasks of the two-sided, double-blocked update in reduce_to_band. With H = I - V T V^H, W = V T and Y =
/// A W:
///   H^H A H = A - V Z^H - Z V^H,  Z = Y - 1/2 V (W^H Y).
/// Within an outer block of kb columns the trailing matrix A0 is not updated: with the accumulated V and Z of
/// the earlier panels, A = A0 - Vacc Zacc^H - Zacc Vacc^H, so Y = A0 W - Vacc (Zacc^H W) - Zacc (Vacc^H W).
///
/// VZ is a tile row's accumulator, rows x 2 kb, panel by panel: b columns of V, then b of Z. With `done` columns of V
/// from the panels before it, a panel's V begins at column v_column(done), its Z at z_column(done, b), and Vacc and
/// Zacc are the first 2 done columns, so that a product with both of them is one product.
///
/// All tasks run on CPUs and GPUs. Flops in brackets (complex: x 4).
/// Source: Wang et al., "Rethinking back transformation in 2-stage eigenvalue decomposition ..." (2025),
/// double-blocked reduction; ELPA2's bandred for the single-blocked form.
namespace tessera::detail {

TESSERA_HOST_DEVICE constexpr Index v_column(Index done) noexcept {
  return 2 * done;
}
TESSERA_HOST_DEVICE constexpr Index z_column(Index done, Index b) noexcept {
  return 2 * done + b;
}
/// The column of Z that belongs to a column of V in VZ, and the other way round.
TESSERA_HOST_DEVICE constexpr Index partner_column(Index column, Index b) noexcept {
  return column / b % 2 == 0 ? column + b : column - b;
}

/// The rows of a tile row from the panel's first reflector on, `rows` from number `row`; `done` columns of
/// Vacc and Zacc are in use in this outer block of kb columns; the panel has b.
struct PanelWindow {
  Index row = 0, rows = 0, done = 0, kb = 0, b = 0;
};

/// Upper triangle := adjoint of the lower one, diagonal := its real part.
/// | operand | mode       | shape           | what                                                               |
/// |---------|------------|-----------------|--------------------------------------------------------------------|
/// | a       | read-write | square matrix   | a diagonal tile                                                    |
/// With GPUs (keeps_both_triangles) the product with a diagonal tile is a general product of the whole
/// square, which reads memory faster than a product that expands the triangle. Each diagonal tile needs this
/// task once: Rank2kUpdate keeps both triangles valid, and the other tasks change the upper triangle in
/// finished panels only.
template <class T>
struct MirrorLower {
  static constexpr const char* name = "mirror_lower";
  ReadWrite<Matrix<T>> a;
};

/// Whether a GPU of any rank may run tasks on a diagonal tile, which read both of its triangles there. The
/// answer is the same on all ranks, because all insert the same tasks.
template <class T>
bool keeps_both_triangles(const Runtime& runtime) noexcept;

/// Y_i := [Y_i +] A W_j and, off the diagonal, Y_j := [Y_j +] A^H W_i, for the part of tile (i, j) of A0
/// (lower tiles).                                                    [4 m n b; 2 m^2 b on the diagonal]
/// | operand  | mode         | shape               | what                                                      |
/// |----------|--------------|---------------------|-----------------------------------------------------------|
/// | a        | read         | matrix              | the tile; on the diagonal its lower triangle, on GPUs both |
/// | w_i, w_j | read         | rows x b            | W of the tile's rows and of its columns                   |
/// | y_i, y_j | write or add | rows x b            | partial sums of Y, of the rows and of the columns         |
/// w_j and y_j are absent on the diagonal. W and Y have the rows of their tile rows. The task runs on the
/// tile's owner (execute_on), and the partial sums belong to that rank.
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
///   D := [the first 2 done columns of VZ, adjoint, times W; W^H Y (b rows)].
///                                                                          [4 rows b done + 2 rows b^2]
/// | operand | mode         | shape             | what                                                         |
/// |---------|--------------|-------------------|--------------------------------------------------------------|
/// | vz      | read         | rows x 2 kb       | accumulator of the tile row                                  |
/// | w       | read         | rows x b          | W                                                            |
/// | y       | write or add | rows x b          | the part of Y of this rank, if any, then all of Y            |
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

/// D := sum of the tile rows' D, where the rows of V and of Z change places panel by panel, so that they are the
/// factors of VZ's columns; its last b rows, from 2 done on, become 1/2 W^H (A W) with the delayed corrections.
///                                                                                              [4 b^2 done]
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

/// P := P - V Ztop^H - Z Vtop^H: updates the next panel's columns.                [4 done an element of P]
/// | operand   | mode       | shape       | what                                                                 |
/// |-----------|------------|-------------|----------------------------------------------------------------------|
/// | vz        | read       | rows x 2 kb | V and Z: the panel's rows                                            |
/// | vz_top    | read       | rows x 2 kb | Vtop, Ztop: rows from top_row on, as many as P has columns; absent: in vz |
/// | p         | read-write | matrix      | the tile with P                                                      |
/// | workspace | scratch    | array       | update_workspace_bytes(columns of P, kb)                             |
template <class T>
struct PanelUpdate {
  static constexpr const char* name = "panel_update";
  Read<Matrix<T>> vz;
  Read<Matrix<T>> vz_top{};
  ReadWrite<Matrix<T>> p;
  Scratch<Array<T>> workspace;
  TilePart part;  ///< of the tile: P
  Index top_row = 0, done = 0, b = 0;

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
/// | workspace | scratch    | array       | update_workspace_bytes(largest number of columns of a part, kb)       |
/// | split     | scratch    | array       | GPUs: split_update_bytes of the largest part; absent: plain products  |
/// `done` columns of V and of Z count. With V and Z exchanged in the work space the update is one product.
template <class T>
struct Rank2kUpdate {
  static constexpr const char* name = "rank_2k_update";
  Read<Matrix<T>> vz_i;
  Read<Matrix<T>> vz_j{};
  ReadWrite<Matrix<T>> a;
  Scratch<Array<T>> workspace;
  GpuScratch<Array<char>> split{};
  TilePart part;
  Index done = 0, b = 0;
  bool both_triangles = false;  ///< keeps_both_triangles: also updates the upper triangle of a diagonal tile

  bool diagonal() const noexcept { return !vz_j; }
  double flops() const noexcept {
    return 4 * double(part.rows) * double(part.cols) * double(done) * flop_factor<T> / (diagonal() ? 2 : 1);
  }
  std::uint32_t footprint() const noexcept { return footprint_of(part.rows, part.cols, done, diagonal()); }
};
template <class T>
std::size_t update_workspace_bytes(Index rows, Index kb) noexcept;
/// For an update of rows x cols elements by split operands (split_products.hpp).
template <class T>
std::size_t split_update_bytes(Index rows, Index cols, Index kb) noexcept {
  if constexpr (by_three_products<T>) return split_products::header_bytes;
  return split_product_bytes<T>({rows, cols, 2 * kb});
}

/// A := 0.
/// | operand | mode  | shape                    | what                                                         |
/// |---------|-------|--------------------------|--------------------------------------------------------------|
/// | a       | write | matrix                   | A                                                            |
template <class T>
struct SetZero {
  static constexpr const char* name = "set_zero";
  Write<Matrix<T>> a;
};

/// The place of a block in a band matrix: its entry (i, j) is entry (row + i, column + j), and the segment
/// that holds it begins with column `first_column`.
struct BandPlace {
  Index row = 0, column = 0, first_column = 0, bandwidth = 0;
};

/// Copies the entries of the source that lie within the band's lower triangle into a band segment.
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

// The steps of these tasks and of panel_step.hpp beside BLAS, on plain memory, by context.

/// Y := beta Y + sum of the parts, beta 0 or 1.
template <class T>
void sum_parts(const HostContext& on, std::span<const MatrixView<const T>> parts, int beta,
               MatrixView<T> y) noexcept;
template <class T>
void sum_parts(const CudaContext& on, std::span<const MatrixView<const T>> parts, int beta,
               MatrixView<T> y) noexcept;

/// Entry (i, j) of the source is entry (place.row + i, place.column + j) of the band matrix; entries outside
/// of the band are left out.
template <class T>
void copy_to_band(const HostContext& on, MatrixView<const T> source, const BandPlace& place,
                  MatrixView<T> segment) noexcept;
template <class T>
void copy_to_band(const CudaContext& on, MatrixView<const T> source, const BandPlace& place,
                  MatrixView<T> segment) noexcept;

/// The columns of VZ in another order: V and Z of each panel exchanged, or first all of V, then all of Z.
enum class PairOrder { exchanged, separated };
/// OUT := the columns of VZ (all in use) in this order.
template <class T>
void reorder_pairs(const HostContext& on, MatrixView<const T> vz, Index b, PairOrder order,
                   MatrixView<T> out) noexcept;
template <class T>
void reorder_pairs(const CudaContext& on, MatrixView<const T> vz, Index b, PairOrder order,
                   MatrixView<T> out) noexcept;

/// D := sum of the pieces, V and Z exchanged; the rows [2 done, 2 done + b) become 1/2 W^H A W. On a GPU one kernel
/// makes the sums and the small products.
template <class T>
void inner_sum(const HostContext& on, std::span<const MatrixView<const T>> pieces, Index done, Index b,
               MatrixView<T> d) noexcept;
template <class T>
void inner_sum(const CudaContext& on, std::span<const MatrixView<const T>> pieces, Index done, Index b,
               MatrixView<T> d) noexcept;

/// C := C - V Z^H - Z V^H, C Hermitian: its lower triangle on a CPU, both on a GPU, and with `both_triangles`. VZ: the
/// columns in use. workspace: rows x cols of VZ.
template <class T>
void hermitian_update(const HostContext& on, MatrixView<const T> vz, Index b, bool both_triangles,
                      T* workspace, std::span<char> split, MatrixView<T> c) noexcept;
template <class T>
void hermitian_update(const CudaContext& on, MatrixView<const T> vz, Index b, bool both_triangles,
                      T* workspace, std::span<char> split, MatrixView<T> c) noexcept;

// On a GPU only:

/// The inner products of a panel step, for double and float, in double on the tensor cores. One kernel
/// computes all products with long sums: D := [VZ^H W; W^H Y], VZ: the columns in use.
///
/// A cluster of 16 thread blocks computes 64 x 64 results: each block sums over a sixteenth of the rows
/// (eight warps of 32 x 16 results, m16n8k16, rows fetched four steps ahead), and then the blocks add their
/// parts in a fixed order through distributed shared memory. [4 rows done b + 2 rows b^2]
template <class T>
void launch_tall_inner_products(const CudaContext& on, MatrixView<const T> vz, MatrixView<const T> w,
                                MatrixView<const T> y, MatrixView<T> d) noexcept;

}  // namespace tessera::detail
