// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/multiply_stack_arguments.hpp>
#include <tessera/codelets/block_sparse/multiply_stack_cuda.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

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

namespace {

using namespace multiply_stack_codelets;

template <class T>
void multiply_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                   const MultiplyStackArguments& arguments) {
  const std::span<T> c = buffers.array<T>(3);
  if (arguments.clear) cudaMemsetAsync(c.data(), 0, c.size_bytes(), context.stream);
  const auto* const entries = buffers.array<const StackEntry>(0).data();
  const auto* const runs = reinterpret_cast<const StackRun*>(entries + stack_products(arguments.shapes()));
  device::launch_stack<T>(context.stream, device::StackCompiler::shared(), arguments.shapes(), entries, runs,
                          buffers.array<const T>(1).data(), buffers.array<const T>(2).data(), c.data());
  *arguments.ran_on = ProductWorker::gpu;
}

#define TESSERA_REGISTER(T) \
  register_cuda<MultiplyStackArguments, multiply_cuda<T>>("multiply_stack", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
