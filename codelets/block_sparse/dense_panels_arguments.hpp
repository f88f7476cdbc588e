// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/dense_panels.hpp>
#include <tessera/codelets/block_sparse/memory_cost.hpp>

/// What the tasks of dense_panels.hpp carry beside their buffers: shared by the CPU and the CUDA
/// implementations.
namespace tessera::dense_panels_codelets {

struct ExpandArguments {
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

struct MultiplyArguments {
  bool add;
  ProductWorker* ran_on;
  double cpu_seconds, gpu_seconds;  ///< expected
  double seconds(WorkerKind kind, double) const noexcept {
    return kind == WorkerKind::gpu ? gpu_seconds : cpu_seconds;
  }
};

struct ExtractArguments {
  bool add;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

}  // namespace tessera::dense_panels_codelets
