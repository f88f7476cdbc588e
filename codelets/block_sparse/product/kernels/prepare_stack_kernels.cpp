// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/product/kernels/stack_compiler.hpp>
#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>

#if TESSERA_WITH_CUDA
#include <future>
#include <system_error>

#include <cuda_runtime.h>
#endif

namespace tessera {

#if TESSERA_WITH_CUDA

namespace {

/// Runs `work` on a thread of its own whose current device is the GPU. To set the caller's back afterwards
/// would make a context on a device that it may never use.
/// @returns false without a thread for it
template <class Work>
bool on_device(int device, const Work& work) {
  std::future<void> done;
  try {
    done = std::async(std::launch::async, [&] {
      cudaSetDevice(device);
      work();
    });
  } catch (const std::system_error&) {
    return false;
  }
  done.get();
  return true;
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
  // Without a thread each kernel is made when a task first asks for it.
  on_device(gpu, [&] { device::StackCompiler::shared().prepare(shapes, runtime.workers()); });
  report_stack_kernels(runtime);
}

std::string describe_stack_kernels(const Runtime& runtime) {
  const int gpu = runtime.first_gpu();
  if (gpu < 0) return {};
  std::string description;
  if (!on_device(gpu, [&] { description = device::StackCompiler::shared().description(); }))
    return "unknown: no thread can be made";
  return description;
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
