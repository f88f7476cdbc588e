// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/block_elementwise.hpp>
#include <tessera/codelets/block_sparse/memory_cost.hpp>

/// What the tasks of block_elementwise.hpp carry beside their buffers: shared by the CPU and the CUDA
/// implementations.
namespace tessera::block_elementwise_codelets {

struct NoArguments {
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

struct SymmetryArguments {
  Symmetry symmetry;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

struct SideArguments {
  Side side;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

template <class T>
struct AddArguments {
  T alpha;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

}  // namespace tessera::block_elementwise_codelets
