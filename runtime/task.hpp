// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <type_traits>

#include <tessera/runtime/codelet.hpp>
#include <tessera/runtime/members.hpp>
#include <tessera/runtime/operands.hpp>
#include <tessera/types.hpp>

/// A task is one struct: operands (operands.hpp) and parameters, in any order. It is what is inserted, and
/// what its body gets, on a CPU and on a GPU: no position of a buffer is written anywhere.
///
///   /// C := C - A B^H                                       [2 m n k flops]
///   template <class T>
///   struct SubtractProduct {
///     static constexpr const char* name = "subtract_product";
///     Read<Matrix<T>> a, b;
///     ReadWrite<Matrix<T>> c;
///     Index m, n, k;
///     double flops() const { return flop_factor<T> * 2.0 * m * n * k; }
///   };
///   sequence.insert(SubtractProduct<T>{.a = a, .b = b, .c = c, .m = m, .n = n, .k = k}, {.priority = 3});
///
/// Its body for CPUs, in op.cpp: `void run(const HostContext&, const SubtractProduct<T>&)`, and after it
/// TESSERA_DEFINE_TASK(SubtractProduct<T>) for each type. That for GPUs, in op.cu, takes a DeviceContext
/// (device_task.hpp). Where both are the same text, it is one template over the context.
///
/// Members that the runtime looks for:
/// | member                                         | default                                               |
/// |------------------------------------------------|-------------------------------------------------------|
/// | static name, without the letters of the types  | none: required                                        |
/// | Scalar: the name gets its letter alone         | a letter for each template parameter if all are types |
/// | double flops() const                           | 0: none counted                                       |
/// | std::uint32_t footprint() const                | 0; more than the operands' sizes decides the time     |
/// | double seconds(WorkerKind, double bytes) const | the performance model's prediction                    |
/// | static PerformanceModel model                  | history                                               |
/// | static bool gpu_instead_of_cpu                 | false; true: with GPUs no CPU runs it                 |
/// The runtime calls flops and footprint before the operands have views.
namespace tessera::detail {

/// Where a task's body runs: a CPU.
class HostContext : public TaskContext {
 public:
  using TaskContext::TaskContext;
};

/// A GPU with its task, and the part of it that needs no task (device_task.hpp).
class DeviceContext;
struct CudaContext;

template <class Task>
std::string task_name() {
  const auto letters = []<template <class...> class Template, class... Types>(const Template<Types...>*) {
    std::string text;
    ((text += type_letter<Types>), ...);
    return text;
  };
  if constexpr (requires { typename Task::Scalar; })
    return std::string(Task::name) + '_' + type_letter<typename Task::Scalar>;
  else if constexpr (requires { letters(static_cast<const Task*>(nullptr)); })
    return std::string(Task::name) + '_' + letters(static_cast<const Task*>(nullptr));
  else
    return Task::name;
}

template <class Task>
void bind_operands(Task& task, void** buffers) noexcept {
  const auto bind = [&]<class Member>(Member& member) {
    if constexpr (requires { member.bind(buffers); })
      member.bind(buffers);
    else if constexpr (requires { member.front().bind(buffers); })
      for (auto& one : member) one.bind(buffers);
  };
  for_each_member(task, bind);
}

template <class Task>
void host_entry(void** buffers, void* argument) noexcept {
  auto& block = *static_cast<TaskBlock<Task>*>(argument);
  if (!begin_task(block.header)) return;
  try {
    bind_operands(block.task, buffers);
    run(HostContext(block.header), std::as_const(block.task));
  } catch (...) {  // StarPU's frames know no exceptions
    fail_task(block.header);
  }
  end_task(block.header);
}

/// The codelet of a task: defined in its op.cpp alone. A GPU's half of a task that has none does not link.
template <class Task>
struct TaskCodelet {
  static Codelet codelet;
};

template <class Task>
Codelet make_task_codelet() {
  static_assert(std::is_trivially_copyable_v<Task>, "a task is copied as bytes");
  if constexpr (requires(const Task& task) { task.seconds(WorkerKind::cpu, 0.0); })
    return Codelet(task_name<Task>(), &host_entry<Task>, &footprint_entry<Task>, &cost_entry<Task>);
  else if constexpr (requires { Task::model; })
    return Codelet(task_name<Task>(), &host_entry<Task>, &footprint_entry<Task>, Task::model);
  else
    return Codelet(task_name<Task>(), &host_entry<Task>, &footprint_entry<Task>, PerformanceModel::history);
}

/// The pieces of a task in the order of its operands, each once.
class AccessList {
 public:
  /// Position of the piece; a piece that is in the list already gets the union of both modes.
  int add(const Data& data, AccessMode mode);
  std::span<const Access> accesses() const noexcept { return {begin(), static_cast<std::size_t>(count_)}; }
  int append(const Data& data, AccessMode mode);

 private:
  Access* begin() noexcept { return many_.empty() ? few_.data() : many_.data(); }
  const Access* begin() const noexcept { return many_.empty() ? few_.data() : many_.data(); }
  std::array<Access, 16> few_;
  std::vector<Access> many_;
  int count_ = 0;
};

#define TESSERA_DEFINE_TASK(...)                                                  \
  template <>                                                                     \
  ::tessera::detail::Codelet tessera::detail::TaskCodelet<__VA_ARGS__>::codelet = \
      ::tessera::detail::make_task_codelet<__VA_ARGS__>();

}  // namespace tessera::detail
