// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/vectors/call_preconditioner.hpp>

namespace tessera::detail {

template <class T, WorkerKind kind>
void run(const HostContext& on, const CallPreconditioner<T, kind>& task) {
  const auto r = *task.r;
  const auto w = *task.w;
  la::set_zero(on, w);
  try {
    task.functions->host(task.first_row, w.cols, task.columns, r.data, r.ld, w.data, w.ld);
  } catch (...) {
    on.fail_by_callback(std::current_exception());
  }
}

#define TESSERA_DEFINE(T)                                     \
  TESSERA_DEFINE_TASK(CallPreconditioner<T, WorkerKind::cpu>) \
  TESSERA_DEFINE_TASK(CallPreconditioner<T, WorkerKind::gpu>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
