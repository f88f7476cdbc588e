// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/runtime/matrix/panel_block.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera {

/// Elements [first_row, end_row) x [first_col, end_col) of a matrix.
struct ScaledWindow {
  Index first_row, end_row, first_col, end_col;
};

/// The elements of a panel within a window of the matrix := factor times themselves, or zero, whatever they
/// were, if factor is zero. On CPUs and GPUs, with the same bits. No flops counted; predicted by the bytes.
/// | operand | mode       | shape               | what                           |
/// |---------|------------|---------------------|--------------------------------|
/// | blocks  | read       | array of PanelBlock | the panel's                    |
/// | values  | read-write | array               | the panel's; outside they stay |
template <class T>
struct ScaleWindow {
  static constexpr const char* name = "scale_window";
  Read<Array<PanelBlock>> blocks;
  ReadWrite<Array<T>> values;
  T factor;
  ScaledWindow window;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

}  // namespace tessera
