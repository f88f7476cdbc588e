// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <tessera/runtime/codelet.hpp>
#include <tessera/runtime/status.hpp>

/// For `<name>_cuda.cu` files: how a codelet gets its CUDA implementation. Such a file defines kernels and,
/// for each type,
///   static const bool registered = register_cuda<GemmArguments<double>, gemm_cuda<double>>("gemm", 'd');
/// Nothing else changes: the codelet meets its implementation when the runtime starts.
namespace tessera {

/// The worker's stream, and library handles that are bound to it.
struct CudaContext {
  cudaStream_t stream;
  cublasHandle_t cublas;
  cusolverDnHandle_t cusolver;
};

namespace internal {

CudaContext cuda_context() noexcept;
/// Fails the task if a call of the CUDA runtime since `forget_cuda_errors` has failed on this thread: a
/// kernel that was not launched would leave its task's output as it was.
void require_cuda_success(const TaskHeader& header) noexcept;
void forget_cuda_errors() noexcept;

template <class Arguments,
          void (*Kernel)(const TaskContext&, const CudaContext&, TaskBuffers, const Arguments&)>
void cuda_entry(void** buffers, void* argument) noexcept {
  auto& block = *static_cast<TaskBlock<Arguments>*>(argument);
  if (!begin_task(block.header)) return;
  block.header.on_device = true;
  forget_cuda_errors();
  try {
    Kernel(TaskContext(block.header), cuda_context(),
           TaskBuffers(buffers, static_cast<int>(block.header.buffers)), block.arguments);
  } catch (...) {  // StarPU's frames know no exceptions
    fail_task(block.header);
  }
  require_cuda_success(block.header);
}

}  // namespace internal

/// A failure that only the device finds. A kernel stores a number > 0 in `*index` (device-visible host
/// memory, zero before); what `report` enqueues reads it once the stream gets there, and records the failure
/// of the task's sequence. One for each task that needs it:
///   DeviceFailure failure(task, context, StatusCode::not_finite);
///   my_kernel<<<..., context.stream>>>(..., failure.index());
///   failure.report(first_row);   // Status::index = first_row + *index
class DeviceFailure {
 public:
  DeviceFailure(const TaskContext& task, StatusCode code) noexcept;
  long long* index() const noexcept;
  void report(Index offset = 0) noexcept;

 private:
  struct Slot;
  static void finish(TaskHeader& header) noexcept;
  Slot* slot_;
};

/// Registers `Kernel(task, context, buffers, arguments)`: it enqueues on context.stream and returns, without
/// synchronising or allocating. Buffers are device memory, but for the first `options.host_buffers`: those it
/// only reads, and it finds them in host memory (sizes that an earlier task computed; then the codelet has at
/// most STARPU_NMAXBUFS buffers).
///
/// With RuntimeOptions::hybrid any small task may run on either side: what the two implementations leave in a
/// buffer must be the same to every reader, also what is stored and of no meaning to one of them. Where that
/// is not so, or where a task is made for a whole GPU, `options.instead_of_cpu` keeps CPUs away.
template <class Arguments,
          void (*Kernel)(const TaskContext&, const CudaContext&, TaskBuffers, const Arguments&)>
bool register_cuda(const std::string& name, char letter = 0, const CudaOptions& options = {}) {
  return register_cuda_implementation(letter ? name + "_" + letter : name,
                                      &internal::cuda_entry<Arguments, Kernel>, options);
}

}  // namespace tessera

#endif  // TESSERA_WITH_CUDA
