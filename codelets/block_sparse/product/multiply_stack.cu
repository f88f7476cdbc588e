// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/product/kernels/multiply_stack_cuda.hpp>
#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera {
namespace device {

template <class T>
void launch_stack_kernel(cudaStream_t stream, const StackKernel& kernel, const StackClass& shape,
                         const StackEntry* entries, const StackRun* runs, const T* a, const T* b, T* c) {
  int count = shape.runs;
  if (count == 0) return;
  void* arguments[] = {&runs, &count, &entries, &a, &b, &c};
  cudaLaunchKernel(kernel.function, dim3(static_cast<unsigned>(count)),
                   dim3(static_cast<unsigned>(kernel.plan.threads)), arguments,
                   static_cast<std::size_t>(kernel.plan.shared_bytes), stream);
}

template <class T>
void launch_stack(cudaStream_t stream, StackCompiler& compiler, std::span<const StackClass> classes,
                  const StackEntry* entries, const StackRun* runs, const T* a, const T* b, T* c) {
  for (const StackClass& shape : classes) {
    const StackKernel* const kernel =
        has_own_kernel(shape) ? compiler.kernel({type_letter<T>, shape.m, shape.n, shape.k}) : nullptr;
    if (kernel)
      launch_stack_kernel<T>(stream, *kernel, shape, entries, runs + shape.first_run, a, b, c);
    else
      launch_generic_stack<T>(stream, shape, entries, runs + shape.first_run, a, b, c);
  }
}

#define TESSERA_INSTANTIATE(T)                                                                      \
  template void launch_stack_kernel<T>(cudaStream_t, const StackKernel&, const StackClass&,         \
                                       const StackEntry*, const StackRun*, const T*, const T*, T*); \
  template void launch_stack<T>(cudaStream_t, StackCompiler&, std::span<const StackClass>,          \
                                const StackEntry*, const StackRun*, const T*, const T*, T*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace device

template <class T>
void run(const DeviceContext& on, const MultiplyStack<T>& task) {
  const std::span<T> c = *task.c;
  if (task.c.first()) cudaMemsetAsync(c.data(), 0, c.size_bytes(), on.stream);
  const StackEntry* const entries = task.stack.view().data();
  const auto* const runs = reinterpret_cast<const StackRun*>(entries + stack_products(task.classes));
  device::launch_stack<T>(on.stream, device::StackCompiler::shared(), task.classes, entries, runs,
                          task.a.view().data(), task.b.view().data(), c.data());
  *task.ran_on = ProductWorker::gpu;
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(MultiplyStack<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
