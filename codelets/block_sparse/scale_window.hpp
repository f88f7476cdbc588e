// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/memory_cost.hpp>
#include <tessera/codelets/block_sparse/panel_block.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelet scale_window: the elements of a panel within a window of the matrix := factor times themselves,
/// or zero, whatever they were, if factor is zero.
///
/// Arguments: factor, the window [first_row, end_row) x [first_col, end_col) of elements.
/// Buffers:   blocks (read; array of PanelBlock), values (read-write; array of T).
/// Flops:     none counted.
/// Cost:      that of its bytes. On CPUs and GPUs, with the same bits.
namespace tessera {

template <class T>
struct ScaleWindowArguments {
  T factor;
  Index first_row, end_row, first_col, end_col;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

template <class T>
void insert_scale_window(Sequence& sequence, int priority, const ScaleWindowArguments<T>& arguments,
                         const Data& blocks, const Data& values);

}  // namespace tessera
