// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/codelets/linalg/split_products.hpp>
#include <tessera/runtime/task.hpp>

/// Tasks of back_band and of the back-transform of a generalized problem. The panels of one tile column make
/// one block reflector H = I - V T V^H of up to a tile's width, which is applied to slabs; V (rows x k) is
/// one piece or several pieces below each other. Flops in brackets (complex: x 4).
/// Source: LAPACK larft, larfb; Bischof and Van Loan's WY accumulation.
namespace tessera::detail {

/// V := the reflectors of the columns [first_col, first_col + k) of a tile column (or column group), from row
/// `first_row` of the first tile on, in one piece: a slab then takes two large products instead of two small
/// ones for each tile. Column j of V is zero above row (j / b + 1) b.
/// | operand | mode  | shape                                              |
/// |---------|-------|----------------------------------------------------|
/// | tiles   | read  | those of the column, from its diagonal downwards   |
/// | v       | write | rows x k                                           |
template <class T>
struct GatherReflectors {
  static constexpr const char* name = "gather_reflectors";
  ReadAll<Matrix<T>> tiles;
  Write<Matrix<T>> v;
  Index b = 0, first_row = 0, first_col = 0;
  std::uint32_t footprint() const noexcept { return footprint_of(0, 0, tiles.size()); }
};

/// T := the factor of the whole column from those of its panels of b columns: block by block,
/// T12 = -T1 (V1^H V2) T2, and zeros below the diagonal.                        [rows k^2 + k^3 / 3]
/// | operand  | mode  | shape           | what              |
/// |----------|-------|-----------------|-------------------|
/// | v        | read  | k columns       | the pieces of V                                                    |
/// | t_panels | read  | b rows          | pieces of some factors beside each other: k / b from number `first` on |
/// | t        | write | k x k           |                                                                    |
template <class T>
struct MergeT {
  static constexpr const char* name = "merge_t";
  ReadAll<Matrix<T>> v, t_panels;
  Write<Matrix<T>> t;
  Index rows = 0, k = 0, b = 0, first = 0;
  double flops() const noexcept { return (double(rows) * k * k + double(k) * k * k / 3) * flop_factor<T>; }
  std::uint32_t footprint() const noexcept { return footprint_of(rows, k, v.size()); }
};

/// C := (I - V T V^H) C for the rows [first_row, first_row + rows) of a slab of `cols` columns. [4 rows k
/// cols]
/// | operand | mode       | shape        | what                                                        |
/// |---------|------------|--------------|-------------------------------------------------------------|
/// | v       | read       | k columns    | the pieces of V                                             |
/// | t       | read       | k x k        | zeros below the diagonal, which GPUs multiply by            |
/// | c       | read-write | cols columns | the slab                                                    |
/// | work    | scratch    | array of T   | of block_reflector_workspace_bytes(k, cols)                 |
/// | split   | scratch    | array        | GPUs: split_reflector_bytes; absent: plain products         |
template <class T>
struct ApplyBlockReflector {
  static constexpr const char* name = "apply_block_reflector";
  ReadAll<Matrix<T>> v;
  Read<Matrix<T>> t;
  ReadWrite<Matrix<T>> c;
  Scratch<Array<T>> work;
  GpuScratch<Array<char>> split{};
  Index first_row = 0, rows = 0, k = 0, cols = 0;
  double flops() const noexcept { return 4.0 * double(rows) * k * cols * flop_factor<T>; }
  std::uint32_t footprint() const noexcept { return footprint_of(rows, k, v.size()); }
};
template <class T>
std::size_t block_reflector_workspace_bytes(Index k, Index cols) noexcept {
  return 2 * sizeof(T) * static_cast<std::size_t>(k) * static_cast<std::size_t>(cols);
}
/// For products by split operands (split_products.hpp).
template <class T>
std::size_t split_reflector_bytes(Index rows, Index k, Index cols) noexcept {
  return std::max(split_product_bytes<T>({k, cols, rows}), split_product_bytes<T>({rows, cols, k}));
}

/// One step of X := L^-H X, with block row k of the lower Cholesky factor: X_k := L_kk^-H X_k, and
/// X_i := X_i - L_ki^H X_k for i < k. Block rows have `tile` rows, X_k has `rows`.
///                                                                [2 k tile rows cols + rows^2 cols]
/// | operand | mode       | shape        | what                                           |
/// |---------|------------|--------------|------------------------------------------------|
/// | l_row   | read       | tiles        | L_k0, ..., L_kk                                |
/// | x       | read-write | cols columns | the slab                                       |
template <class T>
struct SolveAdjointRow {
  static constexpr const char* name = "solve_adjoint_row";
  ReadAll<Matrix<T>> l_row;
  ReadWrite<Matrix<T>> x;
  Index tile = 0, rows = 0, cols = 0;
  double flops() const noexcept {
    const double above = double(l_row.size() - 1) * tile;
    return (2 * above + rows) * double(rows) * cols * flop_factor<T>;
  }
};

}  // namespace tessera::detail
