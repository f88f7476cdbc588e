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

#include <tessera/runtime/data.hpp>
#include <tessera/runtime/operands.hpp>
#include <tessera/runtime/status.hpp>

/// Codelets: one object per operation and scalar type, with a CPU implementation and, from the file
/// `<name>_cuda.cu`, a CUDA one. A codelet registers itself at load time, so the program can list them all.
namespace tessera {

namespace internal {
struct SequenceState;
}

/// The buffers of a running task, in the order of its accesses.
class TaskBuffers {
 public:
  TaskBuffers(void** buffers, int count) : buffers_(buffers), count_(count) {}
  /// Number of buffers, where it varies.
  int count() const noexcept { return count_; }
  template <class T>
  MatrixView<T> matrix(int i) const noexcept {
    const internal::RawBuffer raw = raw_matrix(i);
    return {static_cast<T*>(raw.pointer), raw.rows, raw.cols, raw.ld};
  }
  template <class T>
  std::span<T> array(int i) const noexcept {
    const internal::RawBuffer raw = raw_matrix(i);
    return {static_cast<T*>(raw.pointer), static_cast<std::size_t>(raw.rows) / sizeof(T)};
  }

 private:
  internal::RawBuffer raw_matrix(int i) const noexcept;
  void** buffers_;
  int count_;
};

/// Precedes the arguments in every task's argument block.
struct TaskHeader {
  internal::SequenceState* sequence;
  std::uint32_t stage;
  std::uint32_t buffers;
  int codelet;  ///< Codelet::index()
  double flops;
  double start = 0;  ///< when the task began, seconds; written by the worker
  bool on_device =
      false;  ///< its work goes on when the codelet's function has returned: StarPU tells the end
  void (*at_end)(TaskHeader&) = nullptr;  ///< called when it has ended, if not null (DeviceFailure)
  void* failure = nullptr;                ///< what at_end looks at
};

/// How the run time is predicted: by the history of equal footprints, by a cost in flops at a codelet's own
/// rate, or by the arguments themselves (make_codelet).
enum class PerformanceModel { history, regression, cost };

/// What runs a task.
enum class WorkerKind { cpu, gpu };

/// A kernel of a codelet: plain function on buffers and arguments. It reports a numerical failure by
/// `task.fail(code, index)`; what it throws becomes the status of its sequence.
class TaskContext {
 public:
  explicit TaskContext(const TaskHeader& header) : header_(&header) {}
  /// Records a failure: tasks of the same sequence that have not started do nothing from then on.
  void fail(StatusCode code, Index index) const noexcept;
  /// Records why the task could not be carried out (StatusCode::task_failed).
  void fail(std::string_view reason) const noexcept;
  /// Records what a function of the user has thrown: Sequence::wait throws it again.
  void fail_by_callback(std::exception_ptr thrown) const noexcept;

  const TaskHeader& header() const noexcept { return *header_; }

 private:
  const TaskHeader* header_;
};

class Codelet {
 public:
  using Function = void (*)(void** buffers, void* arguments);
  using Footprint = std::uint32_t (*)(const void* arguments);
  /// Seconds that a task takes whose buffers have so many bytes.
  using Cost = double (*)(const void* arguments, WorkerKind kind, double bytes);

  /// Made by make_codelet; lives for the whole program.
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
  int host_buffers = 0;         ///< so many leading buffers are found in host memory
  bool instead_of_cpu = false;  ///< with GPUs no CPU runs the codelet, RuntimeOptions::hybrid or not
};

/// Adds a CUDA implementation to the codelet of that name; called at load time. The two meet when the runtime
/// starts, which fails if the codelet is missing, or another one (`expected`, if not null).
bool register_cuda_implementation(const std::string& codelet_name, Codelet::Function function,
                                  const CudaOptions& options, const Codelet* expected = nullptr);

namespace internal {

/// Notes the start; false when the sequence has failed: the task does nothing.
bool begin_task(TaskHeader& header) noexcept;
/// Counts a task that has ended for its worker.
void end_task(const TaskHeader& header) noexcept;
/// The exception that is being handled ends the task.
void fail_task(const TaskHeader& header) noexcept;

template <class Arguments>
struct TaskBlock {
  TaskHeader header;
  Arguments arguments;
};

template <class Arguments, void (*Kernel)(const TaskContext&, TaskBuffers, const Arguments&)>
void cpu_entry(void** buffers, void* argument) noexcept {
  auto& block = *static_cast<TaskBlock<Arguments>*>(argument);
  if (!begin_task(block.header)) return;
  try {
    Kernel(TaskContext(block.header), TaskBuffers(buffers, static_cast<int>(block.header.buffers)),
           block.arguments);
  } catch (...) {  // StarPU's frames know no exceptions
    fail_task(block.header);
  }
  end_task(block.header);
}

template <class Arguments>
std::uint32_t footprint_entry(const void* argument) {
  if constexpr (requires(const Arguments& a) { a.footprint(); })
    return static_cast<const TaskBlock<Arguments>*>(argument)->arguments.footprint();
  else
    return 0;
}

template <class Arguments>
double cost_entry(const void* argument, WorkerKind kind, double bytes) {
  return static_cast<const TaskBlock<Arguments>*>(argument)->arguments.seconds(kind, bytes);
}

}  // namespace internal

/// A codelet with kernel `void kernel(const TaskContext&, TaskBuffers, const Arguments&)`. `Arguments` is
/// trivially copyable; a member `std::uint32_t footprint() const` adds to the performance model's key what
/// the buffer sizes do not tell (operations, counts). A member `double seconds(WorkerKind, double bytes of
/// the buffers) const` predicts the time, instead of the model: for tasks of which hardly two are alike.
/// Define it as an explicitly instantiated variable template:
///   template <class T> Codelet gemm_codelet = make_codelet<GemmArguments<T>, gemm_task<T>>("gemm",
///   type_letter<T>);
template <class Arguments, void (*Kernel)(const TaskContext&, TaskBuffers, const Arguments&)>
Codelet make_codelet(const std::string& name, char letter = 0,
                     PerformanceModel model = PerformanceModel::history) {
  static_assert(std::is_trivially_copyable_v<Arguments>);
  const std::string full_name = letter ? name + "_" + letter : name;
  if constexpr (requires(const Arguments& a) { a.seconds(WorkerKind::cpu, 0.0); })
    return Codelet(full_name, &internal::cpu_entry<Arguments, Kernel>, &internal::footprint_entry<Arguments>,
                   &internal::cost_entry<Arguments>);
  else
    return Codelet(full_name, &internal::cpu_entry<Arguments, Kernel>, &internal::footprint_entry<Arguments>,
                   model);
}

}  // namespace tessera
