// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/dense/panel_step.hpp>
#include <tessera/codelets/tile_part.hpp>
#include <tessera/runtime/codelet.hpp>
#include <tessera/runtime/column_groups.hpp>

/// What the tasks of column_groups.hpp carry beside their buffers, and how they see them: shared by the CPU
/// and the CUDA implementations.
namespace tessera::column_group_codelets {

struct GroupPanelArguments {
  PanelStep step;
  Index local;      ///< number of the panel's first column in its group
  Index first_col;  ///< of the band segment
  std::uint32_t footprint() const noexcept { return footprint_of(step.column, step.done, step.kb, step.b); }
};

struct GroupProductArguments {
  Index row, first, b;  ///< first row of A0, number of its first column in the group
  std::uint32_t footprint() const noexcept { return footprint_of(row, first); }
};

struct GroupZArguments {
  PanelStep step;
  CyclicColumns columns;
  std::uint32_t footprint() const noexcept { return footprint_of(step.column, step.done, step.kb, step.b); }
};

struct GroupUpdateArguments {
  CyclicColumns columns;
  int number;
  Index row, b;
  std::int32_t pieces;  ///< of V, and as many of Z
  std::uint32_t footprint() const noexcept { return footprint_of(columns.block, row, number, pieces); }
};

/// The matrix in a piece of bytes: ld = rows.
template <class T>
MatrixView<T> piece(const TaskBuffers& buffers, int i, Index rows, Index cols) noexcept {
  return {buffers.array<T>(i).data(), rows, cols, rows};
}

/// Where a piece of V or Z of panel p goes in VZ: it holds the rows from `top` on, of which those from
/// arguments.row on are wanted.
struct PiecePlace {
  Index top, rows, skipped, column;
};
inline PiecePlace place_of(const GroupUpdateArguments& a, int p, bool z) noexcept {
  const Index kb = a.columns.block, top = a.row - kb + (p + 1) * a.b;
  return {top, a.columns.n - top, a.row - top, p * a.b + (z ? kb : 0)};
}

}  // namespace tessera::column_group_codelets
