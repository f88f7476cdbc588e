// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/vectors/user_function.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

template <class T>
void user_cuda(const TaskContext& task, const CudaContext& context, TaskBuffers buffers,
               const UserFunctionArguments<T>& a) {
  const bool gathers = buffers.count() > 2;
  const int segments = gathers ? buffers.count() - 2 : 1;
  const auto y = buffers.matrix<T>(segments);
  const auto first = buffers.matrix<const T>(0);
  const T* x = first.data;
  Index ldx = first.ld;
  const auto bytes = [](Index count) { return static_cast<std::size_t>(count) * sizeof(T); };
  if (gathers) {
    T* to = buffers.array<T>(segments + 1).data();
    x = to;
    ldx = a.columns;
    for (int s = 0; s < segments; ++s) {
      const auto part = buffers.matrix<const T>(s);
      cudaMemcpy2DAsync(to, bytes(ldx), part.data, bytes(part.ld), bytes(a.columns),
                        static_cast<std::size_t>(part.cols), cudaMemcpyDeviceToDevice, context.stream);
      to += ldx * part.cols;
    }
  }
  cudaMemset2DAsync(y.data, bytes(y.ld), 0, bytes(y.rows), static_cast<std::size_t>(y.cols), context.stream);
  try {
    a.functions->device(a.first_row, a.end_row, a.columns, x, ldx, y.data, y.ld, context.stream);
  } catch (...) {
    task.fail_by_callback(std::current_exception());
  }
}

#define TESSERA_REGISTER(T)                                                                     \
  register_cuda<UserFunctionArguments<T>, user_cuda<T>>("user_device_function", type_letter<T>, \
                                                        {.instead_of_cpu = true}),
const bool registered[] = {TESSERA_FOR_REALS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
