// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include <tessera/runtime/codelet.hpp>
#include <tessera/runtime/task.hpp>
#include <tessera/status.hpp>

namespace tessera {

/// Larger runs earlier. Each algorithm documents its formula.
struct TaskOptions {
  int priority = 0;
  int execute_on = -1;  ///< rank; -1: the owner of the first written piece
  int gpu = -1;         ///< number of the GPU of its rank that runs it; -1: that of the first written piece
                        ///< (Data::gpu()), or any worker. Where there is no GPU of that number, or the
                        ///< codelet has no CUDA implementation, it says nothing
};

/// Whether every GPU has room for the buffers of a task, so many bytes: StarPU would wait for it for ever.
/// @throws RuntimeError, naming the task, if not
void require_gpu_memory(const Runtime& runtime, std::string_view task, std::size_t bytes);

/// Per-stage and per-codelet figures of a finished sequence, of this rank.
struct StageStatistics {
  std::string name;
  double seconds = 0;  ///< from the end of the stage before (or the first task) to the end of this one: they
                       ///< add up to the whole
  double busy_seconds = 0;  ///< summed over the workers
  double flops = 0;         ///< as counted by the tasks
  Index tasks = 0;
  Index device_tasks = 0;  ///< of these, tasks that ran on GPUs
  /// Of the worker that was busy longest. Stages overlap, so a stage may take longer than `seconds`, but never
  /// less than this.
  double longest_busy_seconds = 0;
};
struct CodeletStatistics {
  std::string name;
  Index tasks = 0;
  double seconds = 0, flops = 0;
};
struct SequenceStatistics {
  double submit_seconds = 0;  ///< from construction to the last insertion
  double total_seconds = 0;   ///< from construction to the end of the last task
  double busy_share = 0;      ///< busy seconds / (workers x total)
  Index tasks = 0;
  std::vector<StageStatistics>
      stages;  ///< every stage begun, the same on all ranks, also without tasks on this one
  std::vector<CodeletStatistics> codelets;
};

/// The tasks of one computation: they share a status (after a failure the rest does nothing), stages and
/// statistics. Inserted from one thread; several sequences may be in flight. Destroying an unfinished one
/// waits for it, as wait() does, and forgets its status. When an exception is what destroys it, it waits for
/// this rank's tasks alone, or, within a public call of several ranks, leaves that to the end of the call
/// (agreement.hpp): the other ranks may be elsewhere.
class Sequence {
 public:
  explicit Sequence(Runtime& runtime);
  ~Sequence();
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  Runtime& runtime() const noexcept { return runtime_; }

  /// Tasks inserted from now on belong to the named stage.
  void begin_stage(std::string_view name);
  /// Tasks inserted from now on belong to the stage of that name, which may have begun before: for
  /// iterations, whose stages follow each other again and again (of their statistics only busy seconds, flops
  /// and tasks tell much).
  void resume_stage(std::string_view name);
  /// Seconds so far that a worker of this rank has spent in tasks of the named stage, in the mean of the
  /// workers that have run any task of the sequence. Also while tasks run.
  double busy_seconds(std::string_view stage) const;

  /// Inserts a task, in one process or many (all ranks insert the same tasks in the same order; a task runs
  /// where `options.execute_on` says, by default where its first written piece lives; a rank that has no part
  /// in it skips it). A task whose pieces are all `every_rank` runs on every rank. Data of owner `every_rank`
  /// may be read by any task; a task with `execute_on = r` that writes it changes rank r's copy alone (insert
  /// one for each rank to keep them equal).
  /// @throws RuntimeError, on all ranks, if a GPU has no room for the pieces (of several ranks: those with an
  /// owner; what every rank has for itself may be of another size on each)
  template <class Task>
  requires requires { Task::name; }
  void insert(const Task& task, const TaskOptions& options = {},
              std::source_location where = std::source_location::current()) {
    double flops = 0;
    if constexpr (requires { task.flops(); }) flops = task.flops();
    Codelet& codelet = detail::TaskCodelet<Task>::codelet;
    detail::TaskBlock<Task> block{
        {.sequence = state_.get(), .stage = current_stage_, .codelet = codelet.index(), .flops = flops},
        task};
    detail::AccessList list;
    place_operands(block.task, list);
    insert_block(codelet, &block, sizeof block, options, list.accesses(), where);
  }

  /// Waits for all tasks (collective over the ranks) and returns the combined status, equal on all ranks.
  /// @throws what a function of the user has thrown in a task: on its rank itself, on the others as a
  /// RemoteError; and what another rank has failed with, meanwhile: then the Runtime is poisoned
  Status wait();
  /// A failure has been seen on this rank.
  bool failed() const noexcept;
  /// Records a failure; of several the earliest stage and lowest index is kept.
  void fail(StatusCode code, std::uint32_t stage, Index index) noexcept;
  /// After wait().
  SequenceStatistics statistics() const;
  /// Keeps an object alive until the sequence has ended.
  void keep(std::shared_ptr<void> object);

 private:
  template <class Task>
  void place_operands(Task& task, detail::AccessList& list) const {
    const auto place = [&]<class Member>(Member& member) {
      if constexpr (requires { place_operand(member, list); })
        place_operand(member, list);
      else if constexpr (requires { place_operand(member.front(), list); })
        for (auto& one : member) place_operand(one, list);
    };
    detail::for_each_member(task, place);
  }
  template <class Shape, AccessMode mode, detail::OperandKind kind>
  void place_operand(Operand<Shape, mode, kind>& operand, detail::AccessList& list) const {
    using enum detail::OperandKind;
    const Data* const data = operand.data();
    if (!data || (kind == gpu_scratch && !runtime_.any_gpus())) return;
    require_data(*data);
    const bool first = kind == write_or_add && !operand.keeps() && !has_written(*data);
    operand.place(list.add(*data, first ? AccessMode::write : mode), first);
  }
  template <AccessMode mode, class... Shapes>
  void place_operand(OperandList<mode, Shapes...>& operands, detail::AccessList& list) const {
    operands.place(static_cast<int>(list.accesses().size()));
    for (const Data* piece : operands.pieces()) {
      require_data(*piece);
      list.append(*piece, mode);
    }
  }
  /// @throws RuntimeError for a piece that was never made, or is released
  static void require_data(const Data& data) {
    if (!data.valid()) throw_no_data();
  }
  [[noreturn]] static void throw_no_data();
  /// A task of this sequence that was inserted before writes the piece (of `every_rank`: this rank's copy).
  bool has_written(const Data& data) const noexcept;
  void insert_block(Codelet& codelet, const void* block, std::size_t bytes, const TaskOptions& options,
                    std::span<const Access> accesses, const std::source_location& where);
  Status wait_guarded();
  void wait_for_all_ranks();
  void agree_on_failure();
  Runtime& runtime_;
  std::uint32_t current_stage_ = 0;
  std::unique_ptr<detail::SequenceState> state_;
};

/// What a submitting call returns: the result is there after wait().
template <class Result>
class Completion {
 public:
  Completion(std::unique_ptr<Sequence> sequence, std::shared_ptr<Result> result)
      : result_(std::move(result)), sequence_(std::move(sequence)) {}
  Completion(Completion&&) noexcept = default;
  /// Waits for what this one stood for, whose tasks may still write its result.
  Completion& operator=(Completion&& other) noexcept {
    sequence_.reset();
    result_ = std::move(other.result_);
    sequence_ = std::move(other.sequence_);
    status_ = std::move(other.status_);
    statistics_ = std::move(other.statistics_);
    done_ = other.done_;
    return *this;
  }
  /// Blocks until done; collective. The status tells whether the result is valid.
  const Status& wait() {
    if (!done_) {
      status_ = sequence_->wait();
      statistics_ = sequence_->statistics();
      done_ = true;
    }
    return status_;
  }
  Result& result() { return *result_; }
  const SequenceStatistics& statistics() const { return statistics_; }
  Sequence& sequence() { return *sequence_; }

 private:
  // Destroyed in reverse order: the sequence waits before the result goes.
  std::shared_ptr<Result> result_;
  std::unique_ptr<Sequence> sequence_;
  Status status_;
  SequenceStatistics statistics_;
  bool done_ = false;
};

}  // namespace tessera
