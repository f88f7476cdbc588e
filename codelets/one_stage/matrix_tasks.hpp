// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/one_stage/panel_tasks.hpp>

/// Tasks of the one-stage tridiagonalisation on whole groups of work tiles, and its last tasks (layout and
/// panels: panel_tasks.hpp). They run where the group lives unless stated otherwise. A task without flops
/// moves data; complex: x 4. All run on CPUs only.
namespace tessera::detail {

/// Copies the part of tile (i, j) of A that belongs to a group into the group.
/// | operand | mode         | shape         | what                           |
/// |---------|--------------|---------------|--------------------------------|
/// | tile    | read         | a tile of A   |                                |
/// | group   | write or add | w x (w tiles) | other tiles of A give the rest |
template <class T>
struct TridiagonalizePack {
  static constexpr const char* name = "tridiagonalize_pack";
  Read<Matrix<T>> tile;
  WriteOrAdd<Matrix<T>> group;
  const WorkTiles* tiles = nullptr;
  Index group_number = 0, i = 0, j = 0;
};

/// columns := the `count` columns of the group's tiles from padded index `column` on, from the diagonal's
/// work row down (the trailing height); zero where the group has no tile. It also extracts the square that
/// remains at the end, with all its columns.
/// | operand | mode  | shape                            | what           |
/// |---------|-------|----------------------------------|----------------|
/// | group   | read  | w x (w tiles)                    | the work tiles |
/// | columns | write | trailing height x at least count |                |
template <class T>
struct TridiagonalizeExtract {
  static constexpr const char* name = "tridiagonalize_extract";
  Read<Matrix<T>> group;
  Write<Matrix<T>> columns;
  const WorkTiles* tiles = nullptr;
  Index group_number = 0, column = 0, count = 0;
};

/// A0 := A0 - V W^H - W V^H in the group's tiles from work column `first_column` on.     [4 k flops x area]
/// | operand | mode       | shape                      | what              |
/// |---------|------------|----------------------------|-------------------|
/// | v       | read       | matrices: chunk rows x 3 k | V_c of all chunks |
/// | group   | read-write | w x (w tiles)              | the work tiles    |
template <class T>
struct TridiagonalizeUpdate {
  static constexpr const char* name = "tridiagonalize_update";
  ReadAll<Matrix<T>> v;
  ReadWrite<Matrix<T>> group;
  const WorkTiles* tiles = nullptr;
  RowChunks chunks;
  Index group_number = 0, k = 0, first_column = 0;

  double flops() const noexcept {
    const double w = double(tiles->layout().w);
    const double count = double(static_cast<Index>(tiles->group(group_number).size()) -
                                tiles->first_slot(group_number, first_column));
    return 4.0 * count * w * w * double(k) * flop_factor<T>;
  }
  /// k, and the work columns that remain.
  std::uint32_t footprint() const noexcept { return footprint_of(k, (chunks.end - first_column)); }
};

/// Keeps a panel's reflectors: columns [at, at + k) of a piece of the back-transform's block := V_c without
/// the padding.
/// | operand | mode         | shape                                         | what                              |
/// |---------|--------------|-----------------------------------------------|-----------------------------------|
/// | v       | read         | chunk rows x 3 k                              | V_c                               |
/// | piece   | write or add | rows of A in the chunk x columns of the block | other columns are of other panels |
template <class T>
struct TridiagonalizeStore {
  static constexpr const char* name = "tridiagonalize_store";
  Read<Matrix<T>> v;
  WriteOrAdd<Matrix<T>> piece;
  WorkLayout layout;
  RowChunks chunks;
  Index chunk = 0, k = 0, at = 0;
};

/// Reduces the square that remains, of order m from work row `first` on, by LAPACK hetrd. [4/3 m^3 flops]
/// | operand   | mode    | shape                         | what                                              |
/// |-----------|---------|-------------------------------|---------------------------------------------------|
/// | scalars   | write   | array: ScalarPiece of m       |                                                   |
/// | v         | write   | m x (m - 1)                   | reflectors, with ones and zeros; absent: not kept |
/// | workspace | scratch | array: rest_workspace_bytes   |                                                   |
/// | squares   | read    | matrices: the trailing height | their sum is the square                           |
template <class T>
struct TridiagonalizeRest {
  static constexpr const char* name = "tridiagonalize_rest";
  Write<Array<char>> scalars;
  Write<Matrix<T>> v{};
  Scratch<Array<T>> workspace;
  ReadAll<Matrix<T>> squares;
  WorkLayout layout;
  Index first = 0;

  double flops() const noexcept {
    const double m = double(layout.n - layout.start(first));
    return 4.0 / 3.0 * m * m * m * flop_factor<T>;
  }
};
template <class T>
std::size_t rest_workspace_bytes(Index m);

/// d[at ..] and e[at ..] := one piece of scalars.
/// | operand | mode         | shape                       | what                               |
/// |---------|--------------|-----------------------------|------------------------------------|
/// | scalars | read         | array: ScalarPiece of count | its e has `elements` elements      |
/// | d, e    | write or add | arrays of reals             | other elements are of other panels |
template <class T>
struct TridiagonalizePlace {
  static constexpr const char* name = "tridiagonalize_place";
  Read<Array<char>> scalars;
  WriteOrAdd<Array<RealOf<T>>> d, e;
  Index at = 0, count = 0, elements = 0;
};

/// T := the triangular factor of H_0 H_1 ... = I - V T V^H (LAPACK larft).    [rows k^2 + k^3 / 3 flops]
/// | operand | mode  | shape               | what                                        |
/// |---------|-------|---------------------|---------------------------------------------|
/// | v       | read  | matrices, k columns | V in pieces of its rows                     |
/// | scalars | read  | arrays: ScalarPiece | of the panels; their first k columns in all |
/// | t       | write | k x k               | zeros below the diagonal                    |
template <class T>
struct TridiagonalizeFactor {
  static constexpr const char* name = "tridiagonalize_factor";
  ReadAll<Matrix<T>> v;
  ReadAll<Array<char>> scalars;
  Write<Matrix<T>> t;
  Index rows = 0, k = 0;

  double flops() const noexcept {
    return (double(rows) * double(k) * double(k) + double(k) * double(k) * double(k) / 3) * flop_factor<T>;
  }
};

}  // namespace tessera::detail
