// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/vectors/user_function.hpp>

namespace tessera::detail {

template <class T, WorkerKind kind>
void run(const HostContext& on, const CallUserFunction<T, kind>& task) {
  MatrixView<const T> x = task.x[0];
  if (task.gathered) {
    T* to = task.gathered.view().data();
    x = {to, 0, 0, task.columns};
    for (int s = 0; s < task.x.size(); ++s) {
      const auto part = task.x[s];
      for (Index i = 0; i < part.cols; ++i, to += x.ld) std::copy_n(&part(0, i), task.columns, to);
    }
  }
  const auto y = *task.y;
  la::set_zero(on, y);
  try {
    task.functions->host(task.first_row, task.end_row, task.columns, x.data, x.ld, y.data, y.ld);
  } catch (...) {
    on.fail_by_callback(std::current_exception());
  }
}

#define TESSERA_DEFINE(T)                                   \
  TESSERA_DEFINE_TASK(CallUserFunction<T, WorkerKind::cpu>) \
  TESSERA_DEFINE_TASK(CallUserFunction<T, WorkerKind::gpu>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
