// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime/sequence.hpp>

/// A whole panel step of reduce_to_band for a matrix in one tile, as one task on a CPU or a GPU: what the
/// codelets of panel_qr.hpp and two_sided.hpp do for one panel. On a GPU the steps of a panel are a chain of
/// kernels of some ten microseconds each; a task for each of them would cost more than they do.
namespace tessera {

/// The panel in the columns [column, column + b) of an n x n matrix; `done` columns of V and Z are in use in
/// this outer block of kb columns.
struct PanelStep {
  Index n, column, done, kb, b;
  bool last() const noexcept { return column + b >= n; }  ///< nothing below: only the diagonal block is left
};

/// Brings the panel up to date with the panels before it in the outer block, copies its diagonal block to the
/// band, factors what is below, P = (I - V T V^H) [S R; 0] (S R to the band, V into VZ and into P's place),
/// and forms Z (see two_sided.hpp).
///
/// Buffers: A (read-write, n x n, lower triangle; on a GPU both triangles of the trailing part, see
/// insert_mirror_lower), VZ (n x 2 kb: write if nothing is done yet, else read-write), band segment that
/// holds the panel's columns (read-write, its first column is first_col), workspace (scratch of
/// panel_step_workspace_bytes), T (b x b, write; null if step.last()). Flops: with m = n - column - b: 2 m^2
/// b + 12 m done b + 9 m b^2 (complex: x 4). Footprint: buffer sizes, column, done, kb, b. Sources: those of
/// panel_qr.hpp and two_sided.hpp.
template <class T>
void insert_panel_step(Sequence& sequence, int priority, const PanelStep& step, const Data& a, const Data& vz,
                       const Data& segment, Index first_col, const Data* t, const Data& workspace);

template <class T>
std::size_t panel_step_workspace_bytes(Index n, Index b, Index kb);

}  // namespace tessera
