// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/codelets/vectors/columns.hpp>
#include <tessera/runtime/task.hpp>
#include <tessera/user_functions.hpp>

namespace tessera::detail {

template <class T>
struct UserFunctions {
  UserFunction<T> host;
  UserDeviceFunction<T> device;
};

/// Calls the function of the caller for one segment of rows of a block of row-major vectors, from all rows of
/// X:
///   Y(first_row : end_row, :) := f(X).
/// | operand  | mode    | shape                    | what                                   |
/// |----------|---------|--------------------------|----------------------------------------|
/// | x        | read    | blocks of vectors        | the segments of X in order             |
/// | y        | write   | block of vectors         | columns from `columns` on become zero  |
/// | gathered | scratch | array: rows of X x width | X in one piece; absent for one segment |
/// No flops counted; the bytes of the vectors predict the time, since the time of the function itself is
/// unknown. An exception of the function ends the sequence, and Sequence::wait throws it again. With
/// WorkerKind::cpu it runs on CPUs alone; with WorkerKind::gpu on GPUs, or on CPUs where there are none and a
/// function for the host is given, too.
template <class T, WorkerKind kind>
struct CallUserFunction {
  static constexpr const char* name = kind == WorkerKind::cpu ? "user_function" : "user_device_function";
  static constexpr bool gpu_instead_of_cpu = true;
  using Scalar = T;
  ReadAll<Matrix<T>> x;
  Write<Matrix<T>> y;
  Scratch<Array<T>> gathered{};
  const UserFunctions<T>* functions = nullptr;  ///< must outlive the task
  Index first_row = 0, end_row = 0, columns = 0;
  static double seconds(WorkerKind worker, double bytes) noexcept { return memory_seconds(worker, bytes); }
};

}  // namespace tessera::detail
