// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/multiply_stack.hpp>
#include <tessera/codelets/block_sparse/stack_compiler.hpp>

#if TESSERA_WITH_CUDA
#include <cuda_runtime.h>
#endif

namespace tessera {

#if TESSERA_WITH_CUDA

namespace {

/// Makes a GPU the current device of this thread, and afterwards the one from before.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    cudaGetDevice(&before_);
    cudaSetDevice(device);
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace

template <class T>
void prepare_stack_kernels(const Runtime& runtime, std::span<const StackClass> classes) {
  const int gpu = runtime.first_gpu();
  if (gpu < 0) return;
  std::vector<device::StackShape> shapes;
  for (const StackClass& shape : classes)
    if (device::has_own_kernel(shape)) shapes.push_back({type_letter<T>, shape.m, shape.n, shape.k});
  if (shapes.empty()) return;
  const CurrentDevice current(gpu);
  device::StackCompiler& compiler = device::StackCompiler::shared();
  compiler.prepare(shapes, runtime.workers());
  if (const std::string failures = compiler.take_failures(); !failures.empty())
    runtime.log(LogLevel::warning, failures);
}

std::string describe_stack_kernels(const Runtime& runtime) {
  const int gpu = runtime.first_gpu();
  if (gpu < 0) return {};
  const CurrentDevice current(gpu);
  return device::StackCompiler::shared().description();
}

#else

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
