// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tessera/data.hpp>
#include <tessera/runtime/operands.hpp>
#include <tessera/status.hpp>

/// Codelets: what StarPU knows of a task (task.hpp), one object for each kind of task and scalar type, with a
/// body for CPUs and maybe one for GPUs. A codelet registers itself at load time, so the program can list
/// them all.
namespace tessera::detail {

struct SequenceState;

/// Precedes the arguments in every task's argument block.
struct TaskHeader {
  SequenceState* sequence;
  std::uint32_t stage;
  int codelet;  ///< Codelet::index()
  double flops;
  double start = 0;  ///< when the task began, seconds; written by the worker
  bool on_device =
      false;  ///< its work continues when the codelet's function has returned; StarPU detects the end
  void (*at_end)(TaskHeader&) = nullptr;  ///< called when it has ended, if not null (DeviceFailure)
  void* failure = nullptr;                ///< argument of at_end
};

/// How the run time is predicted: by the history of equal footprints, by a cost in flops at a codelet's own
/// rate, or by the task itself (Task::seconds).
enum class PerformanceModel { history, regression, cost };

/// What runs a task.
enum class WorkerKind { cpu, gpu };

/// Where a body runs: it reports a numerical failure by `on.fail(code, index)`. What it throws becomes the
/// status of its sequence.
class TaskContext {
 public:
  explicit TaskContext(const TaskHeader& header) : header_(&header) {}
  /// Records a failure: tasks of the same sequence that have not started do nothing from then on.
  void fail(StatusCode code, Index index) const noexcept;
  /// Records why the task could not be carried out (StatusCode::task_failed).
  void fail(std::string_view reason) const noexcept;
  /// Records an exception of a function of the caller: Sequence::wait throws it again.
  void fail_by_callback(std::exception_ptr thrown) const noexcept;

  const TaskHeader& header() const noexcept { return *header_; }

 private:
  const TaskHeader* header_;
};

class Codelet {
 public:
  using Function = void (*)(void** buffers, void* arguments);
  using Footprint = std::uint32_t (*)(const void* arguments);
  /// Seconds that a task takes whose buffers have `bytes` bytes.
  using Cost = double (*)(const void* arguments, WorkerKind kind, double bytes);

  /// Made by TESSERA_DEFINE_TASK; lives for the whole program.
  Codelet(std::string name, Function cpu, Footprint footprint, PerformanceModel model);
  Codelet(std::string name, Function cpu, Footprint footprint, Cost cost);
  Codelet(const Codelet&) = delete;
  Codelet& operator=(const Codelet&) = delete;
  ~Codelet();

  const std::string& name() const noexcept { return name_; }
  bool has_cuda() const noexcept;
  /// Index in all(), for statistics.
  int index() const noexcept { return index_; }
  PerformanceModel model() const noexcept { return model_; }
  /// Every codelet of the library, in order of registration.
  static const std::vector<Codelet*>& all();

  struct Detail;
  Detail& detail() const noexcept { return *detail_; }

 private:
  std::string name_;
  int index_;
  PerformanceModel model_;
  std::unique_ptr<Detail> detail_;
};

/// What StarPU must know of a CUDA implementation.
struct CudaOptions {
  int host_buffers = 0;         ///< number of leading buffers that are in host memory
  bool instead_of_cpu = false;  ///< with GPUs no CPU runs the codelet, RuntimeOptions::hybrid or not
};

/// Adds a CUDA implementation to a codelet; called at load time, when the codelet may not have been
/// constructed yet. The two meet when the runtime starts.
bool register_cuda_implementation(const std::string& codelet_name, Codelet::Function function,
                                  const CudaOptions& options, const Codelet* codelet);

/// Notes the start; false when the sequence has failed: the task does nothing.
bool begin_task(TaskHeader& header) noexcept;
/// Counts a task that has ended for its worker.
void end_task(const TaskHeader& header) noexcept;
/// The exception that is being handled ends the task.
void fail_task(const TaskHeader& header) noexcept;

template <class Task>
struct TaskBlock {
  TaskHeader header;
  Task task;
};

template <class Task>
std::uint32_t footprint_entry(const void* argument) {
  if constexpr (requires(const Task& a) { a.footprint(); })
    return static_cast<const TaskBlock<Task>*>(argument)->task.footprint();
  else
    return 0;
}

template <class Task>
double cost_entry(const void* argument, WorkerKind kind, double bytes) {
  return static_cast<const TaskBlock<Task>*>(argument)->task.seconds(kind, bytes);
}

}  // namespace tessera::detail
