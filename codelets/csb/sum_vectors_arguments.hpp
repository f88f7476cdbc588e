// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/memory_cost.hpp>

/// What the tasks of sum_vectors.hpp carry beside their buffers: shared by the CPU and the CUDA
/// implementations.
namespace tessera::csb_codelets {

struct SumVectorsArguments {
  int columns, inputs;
  bool overwrite;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

}  // namespace tessera::csb_codelets
