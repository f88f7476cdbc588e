// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string_view>

#include <tessera/runtime.hpp>
#include <tessera/statistics.hpp>
#include <tessera/status.hpp>

/// @file
/// Sequences: what operations submit their tasks to.
namespace tessera {

class Data;

namespace detail {
class Codelet;
struct Access;
struct SequenceState;
class OperandPlaces;
}  // namespace detail

/// Where and when a task runs.
struct TaskOptions {
  int priority = 0;     ///< larger runs earlier; each algorithm documents its formula
  int execute_on = -1;  ///< rank; -1: the owner of the first written piece
  /// Number of the GPU of its rank that runs it; -1: that of the first written piece (Data::gpu()), or any
  /// worker. Where there is no GPU of that number, or the task has no CUDA implementation, it says nothing.
  int gpu = -1;
};

/// The tasks of one computation: they share a status (after a failure the rest does nothing), stages and
/// statistics. Inserted from one thread; several sequences may be in flight. Destroying an unfinished one
/// waits for it, as wait() does, and forgets its status. When an exception is what destroys it, it waits for
/// this rank's tasks alone, or, within a public call of several ranks, leaves that to the end of the call:
/// the other ranks may be elsewhere.
class Sequence {
 public:
  /// A sequence without tasks; the workers of a Runtime that was idle wake up.
  explicit Sequence(Runtime& runtime);
  ~Sequence();
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  /// Where its tasks run.
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

  /// Inserts a task of the library, in one process or many (all ranks insert the same tasks in the same
  /// order; a task runs where `options.execute_on` says, by default where its first written piece lives; a
  /// rank that has no part in it skips it). A task whose pieces are all `every_rank` runs on every rank. Data
  /// of owner `every_rank` may be read by any task; a task with `execute_on = r` that writes it changes rank
  /// r's copy alone (insert one for each rank to keep them equal). What a task is, only the library's own
  /// sources know: its operations insert them.
  /// @throws RuntimeError, on all ranks, if a GPU has no room for the pieces (of several ranks: those with an
  /// owner; what every rank has for itself may be of another size on each)
  template <class Task>
  requires requires { Task::name; }
  void insert(const Task& task, const TaskOptions& options = {},
              std::source_location where = std::source_location::current());

  /// Whether this rank's tasks are over; asks without waiting. wait() may still wait for other ranks.
  bool ready() const;
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
  friend class detail::OperandPlaces;
  /// @throws RuntimeError for a piece that was never made, or is released
  static void require_data(const Data& data);
  /// A task of this sequence that was inserted before writes the piece.
  bool has_written(const Data& data) const noexcept;
  void insert_block(detail::Codelet& codelet, const void* block, std::size_t bytes,
                    const TaskOptions& options, std::span<const detail::Access> accesses,
                    const std::source_location& where);
  Status wait_guarded();
  void wait_for_all_ranks();
  void agree_on_failure();
  Runtime& runtime_;
  std::uint32_t current_stage_ = 0;
  std::unique_ptr<detail::SequenceState> state_;
};

}  // namespace tessera
