// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/multiply_stack.hpp>
#include <tessera/codelets/block_sparse/stack_compiler.hpp>

#if TESSERA_WITH_CUDA
#include <future>

#include <cuda_runtime.h>
#endif

namespace tessera {

#if TESSERA_WITH_CUDA

namespace {

/// Runs `work` on a thread of its own whose current device is the GPU. To set the caller's back afterwards
/// would make a context on a device that it may never use.
template <class Work>
auto on_device(int device, const Work& work) {
  return std::async(std::launch::async,
                    [&] {
                      cudaSetDevice(device);
                      return work();
                    })
      .get();
}

}  // namespace

void report_stack_kernels(const Runtime& runtime) {
  if (runtime.first_gpu() < 0) return;
  if (const std::string failures = device::StackCompiler::shared().take_failures(); !failures.empty())
    runtime.log(LogLevel::warning, failures);
  if (const std::string flaws = device::StackCompiler::shared().take_flaws(); !flaws.empty())
    runtime.log(LogLevel::warning, flaws);
}

template <class T>
void prepare_stack_kernels(const Runtime& runtime, std::span<const StackClass> classes) {
  const int gpu = runtime.first_gpu();
  if (gpu < 0) return;
  std::vector<device::StackShape> shapes;
  for (const StackClass& shape : classes)
    if (device::has_own_kernel(shape)) shapes.push_back({type_letter<T>, shape.m, shape.n, shape.k});
  if (shapes.empty()) return;
  on_device(gpu, [&] { device::StackCompiler::shared().prepare(shapes, runtime.workers()); });
  report_stack_kernels(runtime);
}

std::string describe_stack_kernels(const Runtime& runtime) {
  const int gpu = runtime.first_gpu();
  if (gpu < 0) return {};
  return on_device(gpu, [] { return device::StackCompiler::shared().description(); });
}

#else

void report_stack_kernels(const Runtime&) {}

template <class T>
void prepare_stack_kernels(const Runtime&, std::span<const StackClass>) {}

std::string describe_stack_kernels(const Runtime&) {
  return {};
}

#endif

#define TESSERA_INSTANTIATE(T) \
  template void prepare_stack_kernels<T>(const Runtime&, std::span<const StackClass>);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
