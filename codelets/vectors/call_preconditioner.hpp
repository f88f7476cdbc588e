// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/codelets/vectors/columns.hpp>
#include <tessera/runtime/task.hpp>
#include <tessera/user_functions.hpp>

namespace tessera::detail {

template <class T>
struct PreconditionFunctions {
  PreconditionRows<T> host;
  DevicePreconditionRows<T> device;
};

/// Calls the function of the caller for one segment of rows: W := T R; columns of W from `columns` on become
/// zero. An exception of the function ends the sequence, and Sequence::wait throws it again. No flops
/// counted.
/// | operand | mode  | shape            |
/// |---------|-------|------------------|
/// | r       | read  | block of vectors |
/// | w       | write | block of vectors |
/// With WorkerKind::cpu it runs on CPUs alone; with WorkerKind::gpu on GPUs, or on CPUs where there are none
/// and a function for the host is given, too.
template <class T, WorkerKind kind>
struct CallPreconditioner {
  static constexpr const char* name =
      kind == WorkerKind::cpu ? "call_preconditioner" : "call_device_preconditioner";
  static constexpr bool gpu_instead_of_cpu = true;
  using Scalar = T;
  Read<Matrix<T>> r;
  Write<Matrix<T>> w;
  int columns = 0;
  Index first_row = 0;
  const PreconditionFunctions<T>* functions = nullptr;  ///< must outlive the task
  static double seconds(WorkerKind worker, double bytes) noexcept { return memory_seconds(worker, bytes); }
};

}  // namespace tessera::detail
