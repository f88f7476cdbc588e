// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/runtime/sequence.hpp>

/// A whole panel step of reduce_to_band for a matrix in one tile, as one task on a CPU or a GPU: the work of
/// the tasks of panel_qr.hpp and two_sided.hpp on one panel. On a GPU a panel is a chain of short kernels; a
/// task for each of them would take longer than the kernel.
namespace tessera::detail {

/// The panel in the columns [column, column + b) of an n x n matrix; `done` columns of V and Z are in use in
/// this outer block of kb columns.
struct PanelPosition {
  Index n = 0, column = 0, done = 0, kb = 0, b = 0;
  Index row() const noexcept { return column + b; }  ///< of the first reflector: below the diagonal block
  Index rows() const noexcept { return std::max<Index>(n - row(), 0); }  ///< from row() on
  bool last() const noexcept { return row() >= n; }                      ///< only the diagonal block is left
  std::uint32_t footprint() const noexcept { return footprint_of(column, done, kb, b); }
};

/// Updates the panel with the panels before it in the outer block, copies its diagonal block to the band,
/// factors the rows below, P = (I - V T V^H) [S R; 0] (S R to the band, V into VZ and into P's place), and
/// forms Z
/// (see two_sided.hpp).                       [with m = n - column - b: 2 m^2 b + 12 m done b + 9 m b^2]
/// | operand   | mode         | shape        | what                                                            |
/// |-----------|--------------|--------------|-----------------------------------------------------------------|
/// | a         | read-write   | n x n        | lower triangle; on a GPU both of the trailing part (MirrorLower) |
/// | vz        | write or add | n x 2 kb     | [V, Z] of the outer block, whose first panel writes it          |
/// | segment   | read-write   | ld x columns | band segment with the panel's columns, from first_column on      |
/// | workspace | scratch      | bytes        | panel_step_workspace_bytes                                      |
/// | t         | write        | b x b        | T; absent if panel.last()                                       |
/// Complex: x 4 flops. Sources: those of panel_qr.hpp and two_sided.hpp.
template <class T>
struct PanelStep {
  static constexpr const char* name = "panel_step";
  ReadWrite<Matrix<T>> a;
  WriteOrAdd<Matrix<T>> vz;
  ReadWrite<Matrix<T>> segment;
  Scratch<Array<char>> workspace;
  Write<Matrix<T>> t{};
  PanelPosition panel;
  Index first_column = 0;

  double flops() const noexcept {
    const double m = double(panel.rows()), b = double(panel.b);
    return flop_factor<T> * m * b * (2 * m + 12 * double(panel.done) + 9 * b);
  }
  std::uint32_t footprint() const noexcept { return panel.footprint(); }
};

template <class T>
std::size_t panel_step_workspace_bytes(Index n, Index b, Index kb);

}  // namespace tessera::detail
