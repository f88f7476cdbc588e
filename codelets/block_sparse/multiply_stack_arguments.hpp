// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/multiply_stack.hpp>

/// What the tasks of multiply_stack.hpp carry beside their buffers: shared by the CPU and the CUDA
/// implementations.
namespace tessera::multiply_stack_codelets {

struct MultiplyStackArguments {
  const StackClass* classes;
  std::int32_t class_count;
  bool clear;
  ProductWorker* ran_on;
  double cpu_seconds, gpu_seconds;  ///< expected
  std::span<const StackClass> shapes() const noexcept {
    return {classes, static_cast<std::size_t>(class_count)};
  }
  double seconds(WorkerKind kind, double) const noexcept {
    return kind == WorkerKind::gpu ? gpu_seconds : cpu_seconds;
  }
};

}  // namespace tessera::multiply_stack_codelets
