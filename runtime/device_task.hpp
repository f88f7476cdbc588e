// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <tessera/runtime/task.hpp>
#include <tessera/status.hpp>

/// For the op.cu of a task (task.hpp): its body for GPUs, `void run(const DeviceContext&, const Task&)`,
/// which enqueues on on.stream and returns, without synchronising or allocating, and after it
/// TESSERA_DEFINE_ON_GPU(Task) for each type. Views are of device memory but those of ReadOnHost operands.
///
/// With RuntimeOptions::hybrid any small task may run on either side: what the two bodies leave in a piece
/// must be the same to every reader, also what is stored and of no meaning to one of them. Where that is not
/// so, or where a task is made for a whole GPU, the task's `gpu_instead_of_cpu` keeps CPUs away.
namespace tessera::detail {

/// The worker's stream, and library handles that are bound to it.
struct CudaContext {
  cudaStream_t stream;
  cublasHandle_t cublas;
  cusolverDnHandle_t cusolver;
};

/// Where a task's body runs: a GPU, the worker's stream on it and library handles that are bound to that.
class DeviceContext : public TaskContext, public CudaContext {
 public:
  DeviceContext(const TaskHeader& header, const CudaContext& cuda) : TaskContext(header), CudaContext(cuda) {}
};

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

CudaContext cuda_context() noexcept;
/// Fails the task if a call of the CUDA runtime since `forget_cuda_errors` has failed on this thread: a
/// kernel that was not launched would leave its task's output as it was.
void require_cuda_success(const TaskHeader& header) noexcept;
void forget_cuda_errors() noexcept;

template <class Task>
void device_entry(void** buffers, void* argument) noexcept {
  auto& block = *static_cast<TaskBlock<Task>*>(argument);
  if (!begin_task(block.header)) return;
  block.header.on_device = true;
  forget_cuda_errors();
  try {
    bind_operands(block.task, buffers);
    run(DeviceContext(block.header, cuda_context()), std::as_const(block.task));
  } catch (...) {  // StarPU's frames know no exceptions
    fail_task(block.header);
  }
  require_cuda_success(block.header);
}

/// ReadOnHost operands, which come before the others.
template <class Task>
int host_operands() {
  int count = 0;
  bool leading = true;
  Task task{};
  for_each_member(task, [&]<class Member>(const Member&) {
    if constexpr (requires { Member::kind; }) {
      leading = leading && Member::kind == OperandKind::on_host;
      if (leading) ++count;
    } else if constexpr (std::is_base_of_v<OperandBase, Member>) {
      leading = false;
    }
  });
  return count;
}

template <class Task>
struct TaskOnGpu {
  static const bool defined;
};
template <class Task>
const bool TaskOnGpu<Task>::defined = [] {
  CudaOptions options{.host_buffers = host_operands<Task>()};
  if constexpr (requires { Task::gpu_instead_of_cpu; }) options.instead_of_cpu = Task::gpu_instead_of_cpu;
  // Its address alone: it may not have been constructed yet.
  return register_cuda_implementation(task_name<Task>(), &device_entry<Task>, options,
                                      &TaskCodelet<Task>::codelet);
}();

}  // namespace tessera::detail

#define TESSERA_DEFINE_ON_GPU(...) template struct ::tessera::detail::TaskOnGpu<__VA_ARGS__>;

#endif  // TESSERA_WITH_CUDA
