// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/codelets/vectors/call_preconditioner.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

template <class T>
void run(const DeviceContext& on, const CallPreconditioner<T, WorkerKind::gpu>& task) {
  const MatrixView<const T> r = *task.r;
  const MatrixView<T> w = *task.w;
  la::set_zero(on, w);
  try {
    task.functions->device(task.first_row, w.cols, task.columns, r.data, r.ld, w.data, w.ld, on.stream);
  } catch (...) {
    on.fail_by_callback(std::current_exception());
  }
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(CallPreconditioner<T, WorkerKind::gpu>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
