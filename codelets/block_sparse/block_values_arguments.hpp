// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/block_values.hpp>
#include <tessera/codelets/block_sparse/memory_cost.hpp>

/// What the tasks of block_values.hpp carry beside their buffers: shared by the CPU and the CUDA
/// implementations.
namespace tessera::block_values_codelets {

struct NoArguments {
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

template <class T>
struct FillArguments {
  T value;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

template <class T>
struct MoveArguments {
  Op op;
  bool conjugated, add;
  T factor;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

template <class T>
struct CopyArguments {
  bool conjugated, add;
  T factor;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

}  // namespace tessera::block_values_codelets
