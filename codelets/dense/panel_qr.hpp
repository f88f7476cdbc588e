// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/runtime/sequence.hpp>

/// Tasks of the communication-avoiding panel factorisation P = (I - V T V^H) [S R; 0] in reduce_to_band. A
/// panel is a column of tiles, b columns wide. Steps: Gram matrix and Cholesky QR, twice; if that is not safe
/// (the second Gram matrix is not close to I, or a factorisation fails), Householder TSQR over the tiles,
/// which never fails; then Householder reconstruction. Each later task reads the decision from
/// PanelFactor::fallback.
///
/// Operands that several tasks have:
/// | operand   | shape                       | what                                                                |
/// |-----------|-----------------------------|---------------------------------------------------------------------|
/// | tile      | matrix                      | the tile with P, which is its part `panel`                          |
/// | vz        | rows x 2 kb                 | the tile row's accumulator of V and Z; its part `v` is this panel's V |
/// | gram      | b x b                       | G, upper triangle; later the triangle L of a leaf                   |
/// | factor    | bytes                       | PanelFactor<T>                                                      |
/// | t         | b x b                       | T                                                                   |
/// | workspace | array, panel_workspace_bytes | work space, on CPUs and GPUs                                       |
/// All tasks run where VZ or P live, on CPUs and GPUs; those of panels in several tiles, on GPUs, up to
/// panel_cuda::widest_cholesky_panel columns. Flops in brackets (complex: x 4). Source: Yamamoto et
/// al., "Roundoff error analysis of the CholeskyQR2 algorithm" (2015); Demmel et al., "Communication-optimal
/// parallel and sequential QR" (2012); Ballard et al. (2015).
namespace tessera::detail {

template <class T>
double panel_flops(Index rows, Index b, double passes) noexcept {
  return passes * double(rows) * double(b) * double(b) * flop_factor<T>;
}
/// Zero stands for a size that a task does not have.
struct PanelSizes {
  Index panel_rows = 0, v_rows = 0, b = 0;
  bool top = false, formed = false;
};
inline std::uint32_t panel_footprint(const PanelSizes& s) noexcept {
  return footprint_of(s.panel_rows, s.v_rows, s.b, s.top, s.formed);
}

/// G := P^H P (upper triangle).                                                                    [rows b^2]
/// | operand   | mode    |         |
/// |-----------|---------|---------|
/// | tile      | read    |         |
/// | gram      | write   |         |
/// | workspace | scratch | on GPUs |
template <class T>
struct PanelGram {
  static constexpr const char* name = "panel_gram";
  Read<Matrix<T>> tile;
  Write<Matrix<T>> gram;
  GpuScratch<Array<T>> workspace{};
  TilePart panel;

  double flops() const noexcept { return panel_flops<T>(panel.rows, panel.cols, 1); }
  std::uint32_t footprint() const noexcept { return panel_footprint({.panel_rows = panel.rows}); }
};

/// factor.r1 := Cholesky factor of the sum of the G, fallback set if there is none.               [b^3 / 3]
/// | operand | mode  |
/// |---------|-------|
/// | grams   | read  |
/// | factor  | write |
template <class T>
struct PanelCholesky {
  static constexpr const char* name = "panel_cholesky";
  ReadAll<Matrix<T>> grams;
  Write<Array<char>> factor;
  Index b = 0;

  double flops() const noexcept { return panel_flops<T>(b, b, 1. / 3); }
  std::uint32_t footprint() const noexcept { return panel_footprint({.b = b}); }
};

/// Q := P r1^-1 into V's place; G := Q^H Q.                                                      [2 rows b^2]
/// | operand   | mode         |                                                       |
/// |-----------|--------------|-------------------------------------------------------|
/// | tile      | read         |                                                       |
/// | factor    | read         |                                                       |
/// | vz        | write or add | its other columns stay if a task has written it       |
/// | gram      | write        |                                                       |
/// | workspace | scratch      | on GPUs                                               |
template <class T>
struct PanelOrthogonalize {
  static constexpr const char* name = "panel_orthogonalize";
  Read<Matrix<T>> tile;
  Read<Array<char>> factor;
  WriteOrAdd<Matrix<T>> vz;
  Write<Matrix<T>> gram;
  GpuScratch<Array<T>> workspace{};
  TilePart panel, v;

  double flops() const noexcept { return panel_flops<T>(panel.rows, panel.cols, 2); }
  std::uint32_t footprint() const noexcept {
    return panel_footprint({.panel_rows = panel.rows, .v_rows = v.rows});
  }
};

/// Second factorisation: fallback unless ||sum G - I||_F <= 0.1; r2, r := r2 r1.                  [4/3 b^3]
/// | operand | mode       |
/// |---------|------------|
/// | grams   | read       |
/// | factor  | read-write |
template <class T>
struct PanelCheck {
  static constexpr const char* name = "panel_check";
  ReadAll<Matrix<T>> grams;
  ReadWrite<Array<char>> factor;
  Index b = 0;

  double flops() const noexcept { return panel_flops<T>(b, b, 4. / 3); }
  std::uint32_t footprint() const noexcept { return panel_footprint({.b = b}); }
};

/// If fallback: Q, L := thin QR of P.                                [4 rows b^2 when it runs: not counted]
/// | operand   | mode       |                      |
/// |-----------|------------|----------------------|
/// | tile      | read       |                      |
/// | factor    | read       |                      |
/// | vz        | read-write | Q in V's place       |
/// | triangle  | write      | L, b x b             |
/// | workspace | scratch    |                      |
template <class T>
struct TsqrLeaf {
  static constexpr const char* name = "tsqr_leaf";
  Read<Matrix<T>> tile;
  Read<Array<char>> factor;
  ReadWrite<Matrix<T>> vz;
  Write<Matrix<T>> triangle;
  Scratch<Array<T>> workspace;
  TilePart panel, v;

  std::uint32_t footprint() const noexcept {
    return panel_footprint({.panel_rows = panel.rows, .v_rows = v.rows});
  }
};

/// If fallback: stacks the triangles L of the leaves, QR of the stack: r, and the stacked factor M.
///                                                             [4 b^2 a row of M when it runs: not counted]
/// | operand   | mode       | shape                  | what                                                  |
/// |-----------|------------|------------------------|-------------------------------------------------------|
/// | triangles | read       | each b x b             | L of leaf i, of which min(rows of its panel, b) rows are used |
/// | factor    | read-write | bytes                  |                                                       |
/// | stack     | write      | sum of leaf rows x b   | M                                                     |
/// | workspace | scratch    |                        |                                                       |
template <class T>
struct TsqrCombine {
  static constexpr const char* name = "tsqr_combine";
  ReadAll<Matrix<T>> triangles;
  ReadWrite<Array<char>> factor;
  Write<Matrix<T>> stack;
  Scratch<Array<T>> workspace;
  Index first_rows = 0, last_rows = 0;  ///< of the first and of the last leaf; the others have b
  Index b = 0;

  Index rows_of(int leaf) const noexcept {
    return leaf == 0 ? first_rows : leaf == triangles.size() - 1 ? last_rows : b;
  }
  std::uint32_t footprint() const noexcept { return panel_footprint({.b = b}); }
};

/// Q := Q r2^-1, or, if fallback, Q times its rows of M.                                           [rows b^2]
/// | operand   | mode       |                          |
/// |-----------|------------|--------------------------|
/// | factor    | read       |                          |
/// | stack     | read       | M                        |
/// | vz        | read-write | Q in V's place           |
/// | workspace | scratch    |                          |
template <class T>
struct PanelFinish {
  static constexpr const char* name = "panel_finish";
  Read<Array<char>> factor;
  Read<Matrix<T>> stack;
  ReadWrite<Matrix<T>> vz;
  Scratch<Array<T>> workspace;
  TilePart v;
  Index stack_row = 0;  ///< the first of Q's rows of M

  double flops() const noexcept { return panel_flops<T>(v.rows, v.cols, 1); }
  std::uint32_t footprint() const noexcept { return panel_footprint({.v_rows = v.rows}); }
};

/// Householder reconstruction from the top of Q: v1, x, band in factor, and T.                       [2 b^3]
/// | operand | mode       |                          |
/// |---------|------------|--------------------------|
/// | vz      | read       | Q in V's place           |
/// | factor  | read-write |                          |
/// | t       | write      |                          |
template <class T>
struct PanelReconstruct {
  static constexpr const char* name = "panel_reconstruct";
  Read<Matrix<T>> vz;
  ReadWrite<Array<char>> factor;
  Write<Matrix<T>> t;
  TilePart v;
  Index b = 0;

  double flops() const noexcept { return panel_flops<T>(b, b, 2); }
  std::uint32_t footprint() const noexcept { return panel_footprint({.v_rows = v.rows, .b = b}); }
};

/// Whole factorisation of a panel in one tile, of any shape. On a CPU by Householder reflections; on a GPU by
/// all
/// steps above in one task, with Householder reflections as the fall-back.                       [3 rows b^2]
/// | operand   | mode         |                                                                              |
/// |-----------|--------------|------------------------------------------------------------------------------|
/// | tile      | read         |                                                                              |
/// | vz        | write or add | V with explicit ones and zeros; its other columns stay if a task has written it |
/// | factor    | write        | band                                                                         |
/// | t         | write        |                                                                              |
/// | workspace | scratch      |                                                                              |
template <class T>
struct PanelHouseholder {
  static constexpr const char* name = "panel_householder";
  Read<Matrix<T>> tile;
  WriteOrAdd<Matrix<T>> vz;
  Write<Array<char>> factor;
  Write<Matrix<T>> t;
  Scratch<Array<T>> workspace;
  TilePart panel, v;
  Index b = 0;

  double flops() const noexcept { return panel_flops<T>(panel.rows, b, 3); }
  std::uint32_t footprint() const noexcept {
    return panel_footprint({.panel_rows = panel.rows, .v_rows = v.rows, .b = b});
  }
};

/// V := Q x, copied into the panel's place in P; W := V T.                      [2 rows b^2, half if formed]
/// | operand | mode       | shape    | what                                                                     |
/// |---------|------------|----------|--------------------------------------------------------------------------|
/// | factor  | read       | bytes    |                                                                          |
/// | t       | read       | b x b    |                                                                          |
/// | vz      | read-write |          | Q, then V                                                                |
/// | tile    | read-write |          | V in P's place                                                           |
/// | w       | write      | rows x b | W, the same rows as the panel's in its tile                              |
template <class T>
struct PanelVectors {
  static constexpr const char* name = "panel_vectors";
  Read<Array<char>> factor;
  Read<Matrix<T>> t;
  ReadWrite<Matrix<T>> vz, tile;
  Write<Matrix<T>> w;
  TilePart panel, v;
  bool top = false;     ///< the first b rows are v1
  bool formed = false;  ///< vz holds V already

  double flops() const noexcept { return panel_flops<T>(v.rows, v.cols, formed ? 1 : 2); }
  std::uint32_t footprint() const noexcept {
    return panel_footprint({.panel_rows = panel.rows, .v_rows = v.rows, .top = top, .formed = formed});
  }
};

/// Bytes of the work space that these tasks share on CPUs and GPUs, for tiles of `rows` rows and panels of b
/// columns.
template <class T>
std::size_t panel_workspace_bytes(Index rows, Index b);

}  // namespace tessera::detail
