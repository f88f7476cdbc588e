// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <tessera/runtime/cuda_codelet.hpp>
#include <tessera/runtime/task.hpp>

/// For the op.cu of a task (task.hpp): its body for GPUs, `void run(const DeviceContext&, const Task&)`, which
/// enqueues on on.stream and returns, without synchronising or allocating, and after it
/// TESSERA_DEFINE_ON_GPU(Task) for each type. Views are of device memory but those of ReadOnHost operands.
///
/// With RuntimeOptions::hybrid any small task may run on either side: what the two bodies leave in a piece must
/// be the same to every reader, also what is stored and of no meaning to one of them. Where that is not so, or
/// where a task is made for a whole GPU, the task's `gpu_instead_of_cpu` keeps CPUs away.
namespace tessera {

/// Where a task's body runs: a GPU, the worker's stream on it and library handles that are bound to that.
class DeviceContext : public TaskContext, public CudaContext {
 public:
  DeviceContext(const TaskHeader& header, const CudaContext& cuda) : TaskContext(header), CudaContext(cuda) {}
};

namespace internal {

template <class Task>
void device_entry(void** buffers, void* argument) noexcept {
  auto& block = *static_cast<TaskBlock<Task>*>(argument);
  if (!begin_task(block.header)) return;
  block.header.on_device = true;
  forget_cuda_errors();
  try {
    bind_operands(block.arguments, buffers);
    run(DeviceContext(block.header, cuda_context()), std::as_const(block.arguments));
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

}  // namespace internal

}  // namespace tessera

#define TESSERA_DEFINE_ON_GPU(...) template struct ::tessera::internal::TaskOnGpu<__VA_ARGS__>;

#endif  // TESSERA_WITH_CUDA
