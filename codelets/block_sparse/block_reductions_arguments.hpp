// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/block_reductions.hpp>
#include <tessera/codelets/block_sparse/memory_cost.hpp>

/// What the tasks of block_reductions.hpp carry beside their buffers: shared by the CPU and the CUDA
/// implementations.
namespace tessera::block_reductions_codelets {

/// On a GPU so many blocks of threads have a partial result each, of two doubles.
inline constexpr int reduction_parts = 528;
inline constexpr std::size_t reduction_bytes = 2 * sizeof(double) * reduction_parts;

struct ReduceArguments {
  PanelSum sum;
  Symmetry symmetry;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

struct DotArguments {
  Symmetry x, y;
  bool same;  ///< y is x
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

}  // namespace tessera::block_reductions_codelets
