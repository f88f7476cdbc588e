// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tessera/runtime/sequence.hpp>
#include <tessera/runtime/stall_watch.hpp>
#include <tessera/runtime/starpu_detail.hpp>

/// Included by runtime/*.cpp only.
namespace tessera::detail {

/// Seconds on a steady clock.
double now() noexcept;

inline constexpr std::uint32_t max_stages = 32;

struct StageRecord {
  double begin = std::numeric_limits<double>::infinity(), end = 0, busy = 0, flops = 0;
  Index tasks = 0, device_tasks = 0;
};

/// Of one codelet; its name is Codelet::all()'s.
struct CodeletRecord {
  Index tasks = 0;
  double seconds = 0, flops = 0;
};

/// One worker's figures: written by that worker alone, read after the end.
struct alignas(64) WorkerRecord {
  double last_end = 0;
  std::vector<StageRecord> stages = std::vector<StageRecord>(max_stages);
  std::vector<CodeletRecord> codelets = std::vector<CodeletRecord>(Codelet::all().size());
  /// As a new one, but for the memory, which stays.
  void clear() noexcept;
};

/// Records of sequences that are over, for the next ones: to make them anew takes as long as some tasks.
class SpareRecords {
 public:
  std::vector<WorkerRecord> take(std::size_t workers);
  void give(std::vector<WorkerRecord>&& records) noexcept;

 private:
  static constexpr std::size_t most = 32;
  std::mutex mutex_;
  std::vector<std::vector<WorkerRecord>> spare_;
};

/// The earliest failure of a sequence: stage first, then index.
struct Failure {
  StatusCode code = StatusCode::success;
  std::uint32_t stage = 0;
  Index index = 0;
  std::string reason{};
  std::exception_ptr callback{};  ///< what a function of the user has thrown
};

/// What the tasks of a sequence have in common. They point to it, so it outlives a Sequence that an exception
/// destroys while they are still in StarPU's hands.
struct SequenceState {
  explicit SequenceState(Runtime::Detail& owner);
  ~SequenceState();

  Runtime::Detail& runtime;                          ///< outlives the Runtime if tasks may still run
  const std::uint64_t number = runtime.sequences++;  ///< the same on all ranks
  double start = now();
  double last_insertion = start;
  std::vector<std::string> stage_names;
  std::vector<WorkerRecord> workers;
  std::vector<std::shared_ptr<void>> kept;
  std::mutex mutex;
  std::condition_variable idle;
  Index pending = 0;
  bool waited = false;
  int exceptions = std::uncaught_exceptions();  ///< in flight when the sequence was made
  bool tasks_before_stages =
      false;  ///< some task was inserted before the first stage began, on whatever rank
  std::atomic<bool> failed = false;
  Failure failure;
  Status status;  ///< of all ranks, at the end

  void fail(Failure&& other) noexcept;
  /// A task has ended, whatever it did.
  void finish_task(TaskHeader& header) noexcept;
  /// Until this rank's tasks have ended. @throws what another rank has failed with, meanwhile
  void wait_here();
  /// Whether they have, within some milliseconds.
  bool ends_soon();
  /// After the last task.
  void end() noexcept;
  SequenceStatistics statistics() const;
};

/// What waits for memory in vain will not end: StarPU tries for ever. Poisons the Runtime then.
/// @throws RuntimeError, if the tasks of this rank wait so
void give_up_if_stalled(Runtime::Detail& runtime, StallWatch& watch);

/// After an exception that all ranks have thrown: waits for what it has left behind.
void finish_abandoned(const Runtime& runtime) noexcept;

}  // namespace tessera::detail
