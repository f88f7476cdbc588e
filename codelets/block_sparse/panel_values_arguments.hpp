// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/memory_cost.hpp>
#include <tessera/codelets/block_sparse/panel_values.hpp>

/// What the tasks of panel_values.hpp carry beside their buffers: shared by the CPU and the CUDA
/// implementations.
namespace tessera::panel_values_codelets {

template <class T>
struct ScaleArguments {
  T factor;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

template <class T>
struct AddArguments {
  T alpha, beta;
  bool conjugated;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

struct NoArguments {
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

template <class T>
struct FunctionArguments {
  ElementFunction f;
  T first, second;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

}  // namespace tessera::panel_values_codelets
