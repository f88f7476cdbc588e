// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/codelets/vectors/user_function.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

template <class T>
void run(const DeviceContext& on, const CallUserFunction<T, WorkerKind::gpu>& task) {
  const auto bytes = [](Index count) { return static_cast<std::size_t>(count) * sizeof(T); };
  MatrixView<const T> x = task.x[0];
  if (task.gathered) {
    T* to = task.gathered.view().data();
    x = {to, 0, 0, task.columns};
    for (int s = 0; s < task.x.size(); ++s) {
      const auto part = task.x[s];
      cudaMemcpy2DAsync(to, bytes(x.ld), part.data, bytes(part.ld), bytes(task.columns),
                        static_cast<std::size_t>(part.cols), cudaMemcpyDeviceToDevice, on.stream);
      to += x.ld * part.cols;
    }
  }
  const auto y = *task.y;
  la::set_zero(on, y);
  try {
    task.functions->device(task.first_row, task.end_row, task.columns, x.data, x.ld, y.data, y.ld, on.stream);
  } catch (...) {
    on.fail_by_callback(std::current_exception());
  }
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(CallUserFunction<T, WorkerKind::gpu>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
