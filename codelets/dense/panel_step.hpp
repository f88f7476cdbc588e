// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/codelets/linalg/split_hermitian.hpp>
#include <tessera/runtime/sequence.hpp>

/// The panel steps of reduce_to_band for a matrix in one tile, all of an outer block as one task on a CPU or a GPU:
/// the work of the tasks of panel_qr.hpp and two_sided.hpp on its panels. On a GPU a panel is a chain of short
/// kernels; a task for each of them would take longer than the kernel, and one for each panel would leave the GPU
/// without work for a quarter of the time, until the next has started.
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

/// For each panel of the outer block that begins with `panel`: updates it with the panels before it in the block,
/// copies its diagonal block to the band, factors the rows below, P = (I - V T V^H) [S R; 0] (S R to the band, V into
/// VZ and into P's place), and forms Z (see two_sided.hpp).
///                      [a panel with m = n - column - b: 2 m^2 b + 12 m done b + 9 m b^2]
/// | operand   | mode       | shape        | what                                                              |
/// |-----------|------------|--------------|-------------------------------------------------------------------|
/// | a         | read-write | n x n        | lower triangle; on a GPU both of the trailing part (MirrorLower)   |
/// | vz        | write      | n x 2 kb     | V and Z                                                           |
/// | segments  | read-write | ld x 2 b     | the band segments with the block's columns (BandMatrix)           |
/// | workspace | scratch    | bytes        | panel_step_workspace_bytes                                        |
/// | split     | scratch    | bytes        | GPUs: panel_step_split_bytes; absent: plain products with A0      |
/// | t         | write      | b rows       | T of the panels beside each other; the matrix' last panel has none |
/// Complex: x 4 flops. Sources: those of panel_qr.hpp and two_sided.hpp.
template <class T>
struct PanelSteps {
  static constexpr const char* name = "panel_steps";
  ReadWrite<Matrix<T>> a;
  Write<Matrix<T>> vz;
  ReadWriteAll<Matrix<T>> segments;
  Scratch<Array<char>> workspace;
  GpuScratch<Array<char>> split{};
  Write<Matrix<T>> t{};
  PanelPosition panel;  ///< the first; done = 0

  Index end() const noexcept { return std::min(panel.column + panel.kb, panel.n); }
  double flops() const noexcept {
    double sum = 0;
    for (PanelPosition p = panel; p.column < end(); p.column += p.b, p.done += p.b) {
      const double m = double(p.rows()), b = double(p.b);
      sum += m * b * (2 * m + 12 * double(p.done) + 9 * b);
    }
    return flop_factor<T> * sum;
  }
  std::uint32_t footprint() const noexcept { return panel.footprint(); }
};

template <class T>
std::size_t panel_step_workspace_bytes(Index n, Index b, Index kb);
/// For A0 in two halves (split_hermitian.hpp), which does not change within a block; 0 if it is not split.
template <class T>
std::size_t panel_step_split_bytes(Index n, Index b) noexcept {
  return worth_splitting_hermitian<T>(n) ? SplitHermitianLayout<T>(n, b).bytes() : 0;
}

}  // namespace tessera::detail
