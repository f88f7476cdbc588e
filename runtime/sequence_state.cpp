// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/sequence_state.hpp>
#include <tessera/runtime/starpu_detail.hpp>
#include <tessera/runtime/starpu_surroundings.hpp>

namespace tessera::detail {

double now() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void WorkerRecord::clear() noexcept {
  if (last_end == 0) return;  // it has recorded nothing
  last_end = 0;
  std::fill(stages.begin(), stages.end(), StageRecord());
  std::fill(codelets.begin(), codelets.end(), CodeletRecord());
}

std::vector<WorkerRecord> SpareRecords::take(std::size_t workers) {
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      std::vector<WorkerRecord> records = std::move(spare_.back());
      spare_.pop_back();
      return records;
    }
  }
  return std::vector<WorkerRecord>(workers);
}

void SpareRecords::give(std::vector<WorkerRecord>&& records) noexcept {
  for (WorkerRecord& record : records) record.clear();
  const std::lock_guard lock(mutex_);
  if (spare_.size() >= most) return;
  try {
    spare_.push_back(std::move(records));
  } catch (...) {  // no memory to keep them in
  }
}

SequenceState::SequenceState(Runtime::Detail& owner)
    : runtime(owner), workers(owner.spare_records->take(starpu_worker_get_count())) {
  stage_names.emplace_back("start");
}

SequenceState::~SequenceState() {
  runtime.spare_records->give(std::move(workers));
}

void SequenceState::fail(Failure&& other) noexcept {
  const std::lock_guard lock(mutex);
  const bool earlier = failure.code == StatusCode::success || other.stage < failure.stage ||
                       (other.stage == failure.stage && other.index < failure.index);
  if (earlier) failure = std::move(other);
  failed.store(true);
}

void SequenceState::finish_task(TaskHeader& header) noexcept {
  if (header.at_end) header.at_end(header);
  if (header.on_device) end_task(header);
  const std::lock_guard lock(mutex);
  if (--pending == 0) idle.notify_all();
}

/// Looks for the end of the tasks for a while: a GPU would have nothing to do until a thread that sleeps wakes up.
/// Next to CPU workers alone it would take their time.
bool SequenceState::ends_soon() {
  constexpr double a_while = 3e-3;
  if (starpu_cuda_worker_get_count() == 0) return false;
  for (const double begin = now(); now() - begin < a_while; std::this_thread::yield()) {
    const std::lock_guard lock(mutex);
    if (pending == 0) return true;
  }
  return false;
}

void SequenceState::wait_here() {
  constexpr auto alarm_pause = std::chrono::milliseconds(20);
  constexpr int stall_rounds = 50;
  if (last_insertion != start) ++runtime.waits;
  if (!runtime.alarm.raised()) runtime.retired.release();
  if (ends_soon()) return;
  std::unique_lock lock(mutex);
  const auto none = [&] { return pending == 0; };
  StallWatch watch(runtime);
  // Nothing wakes this thread when another rank fails, or a GPU, or when memory is short: it looks now and
  // then.
  for (int round = 1; !idle.wait_for(lock, alarm_pause, none); ++round) {
    lock.unlock();
    runtime.require_no_alarm();
    if (round % stall_rounds == 0) give_up_if_stalled(runtime, watch);
    lock.lock();
  }
}

void give_up_if_stalled(Runtime::Detail& runtime, StallWatch& watch) {
  try {
    watch.check();
  } catch (...) {
    runtime.alarm.raise(parts_of(std::current_exception(), runtime.rank));
    runtime.stop_kernels();
    refuse_host_memory();
    throw;
  }
}

void SequenceState::end() noexcept {
  waited = true;
  kept.clear();
  runtime.deactivate();
}

void finish_abandoned(const Runtime& runtime) noexcept {
  Runtime::Detail& detail = runtime.detail();
  auto states = std::move(detail.abandoned);
  detail.abandoned.clear();
  detail.finishes_abandoned = true;  // of what the sequences keep
  for (auto& state : states) {
    try {
      state->wait_here();
      state->end();
    } catch (...) {  // another rank has failed: its messages will not come
      (void)state.release();
    }
  }
  detail.finishes_abandoned = false;
  if (detail.alarm.raised()) return;  // tasks that use the abandoned data may still come
  for (const starpu_data_handle_t handle : detail.abandoned_data)
    starpu_data_unregister_no_coherency(handle);  // the memory behind it may be gone
  const std::lock_guard lock(detail.abandoned_mutex);
  detail.abandoned_data.clear();
  detail.any_abandoned_data = false;
}

SequenceStatistics SequenceState::statistics() const {
  SequenceStatistics result;
  result.submit_seconds = last_insertion - start;
  std::vector<StageRecord> stages(stage_names.size());
  std::vector<CodeletRecord> codelets(Codelet::all().size());
  std::vector<double> longest(stage_names.size());
  double last = start, busy = 0;
  for (const WorkerRecord& worker : workers) {
    if (worker.last_end == 0) continue;  // it has run nothing
    for (std::size_t s = 0; s < stages.size(); ++s) {
      stages[s].begin = std::min(stages[s].begin, worker.stages[s].begin);
      stages[s].end = std::max(stages[s].end, worker.stages[s].end);
      stages[s].busy += worker.stages[s].busy;
      longest[s] = std::max(longest[s], worker.stages[s].busy);
      stages[s].flops += worker.stages[s].flops;
      stages[s].tasks += worker.stages[s].tasks;
      stages[s].device_tasks += worker.stages[s].device_tasks;
    }
    for (std::size_t c = 0; c < codelets.size(); ++c) {
      codelets[c].tasks += worker.codelets[c].tasks;
      codelets[c].seconds += worker.codelets[c].seconds;
      codelets[c].flops += worker.codelets[c].flops;
    }
  }
  double previous = start;
  for (std::size_t s = tasks_before_stages ? 0 : 1; s < stages.size(); ++s) {
    const double end = std::max(stages[s].end, previous);
    result.stages.push_back({stage_names[s], end - previous, stages[s].busy, stages[s].flops, stages[s].tasks,
                             stages[s].device_tasks, longest[s]});
    previous = end;
    last = std::max(last, end);
    busy += stages[s].busy;
    result.tasks += stages[s].tasks;
  }
  for (std::size_t c = 0; c < codelets.size(); ++c) {
    if (codelets[c].tasks == 0) continue;
    result.codelets.push_back(
        {Codelet::all()[c]->name(), codelets[c].tasks, codelets[c].seconds, codelets[c].flops});
  }
  result.total_seconds = last - start;
  if (result.total_seconds > 0)
    result.busy_share =
        busy / (result.total_seconds * static_cast<double>(std::max<std::size_t>(workers.size(), 1)));
  return result;
}

bool begin_task(TaskHeader& header) noexcept {
  SequenceState& sequence = *header.sequence;
  const int worker = starpu_worker_get_id();
  Runtime::Detail& detail = sequence.runtime;
  // Counted first: whoever forbids kernels, and then waits for those that are counted, waits for this one.
  if (worker >= 0) detail.running[static_cast<std::size_t>(worker)].count.fetch_add(1);
  const bool abandoned = detail.any_abandoned_data.load() && detail.uses_abandoned_data();
  if (abandoned) sequence.fail({StatusCode::task_failed, header.stage});
  if (abandoned || sequence.failed.load() || detail.idle_kernels.load()) {
    if (worker >= 0) detail.running[static_cast<std::size_t>(worker)].count.fetch_sub(1);
    return false;
  }
  header.start = now();
  return true;
}

void end_task(const TaskHeader& header) noexcept {
  const double end = now();
  const int worker = starpu_worker_get_id();
  if (worker < 0) return;
  WorkerRecord& record = header.sequence->workers[static_cast<std::size_t>(worker)];
  // Tasks of a GPU are queued ahead of their time: what counts begins when the one before has ended.
  const double start = header.on_device ? std::max(header.start, record.last_end) : header.start;
  record.last_end = end;
  StageRecord& stage = record.stages[header.stage];
  stage.begin = std::min(stage.begin, start);
  stage.end = std::max(stage.end, end);
  std::atomic_ref(stage.busy).store(stage.busy + (end - start), std::memory_order_relaxed);
  stage.flops += header.flops;
  ++stage.tasks;
  if (header.on_device) ++stage.device_tasks;
  CodeletRecord& codelet = record.codelets[static_cast<std::size_t>(header.codelet)];
  ++codelet.tasks;
  codelet.seconds += end - start;
  codelet.flops += header.flops;
  RunningKernels& running = header.sequence->runtime.running[static_cast<std::size_t>(worker)];
  running.ended.fetch_add(1, std::memory_order_release);
  running.count.fetch_sub(1);
}

void fail_task(const TaskHeader& header) noexcept {
  const std::exception_ptr caught = std::current_exception();
  try {
    TaskContext(header).fail(text_of(caught));
  } catch (...) {  // no memory for the text
    header.sequence->fail({StatusCode::task_failed, header.stage});
  }
}

}  // namespace tessera::detail

namespace tessera::detail {

void TaskContext::fail(StatusCode code, Index index) const noexcept {
  header_->sequence->fail({code, header_->stage, index});
}

void TaskContext::fail(std::string_view reason) const noexcept {
  Failure failure{StatusCode::task_failed, header_->stage};
  try {
    const Codelet& codelet = *Codelet::all()[static_cast<std::size_t>(header_->codelet)];
    failure.reason = fmt::format("{}: {}", codelet.name(), reason);
  } catch (...) {  // no memory for the text
  }
  header_->sequence->fail(std::move(failure));
}

void TaskContext::fail_by_callback(std::exception_ptr thrown) const noexcept {
  Failure failure{StatusCode::task_failed, header_->stage};
  try {
    failure.reason = text_of(thrown);
  } catch (...) {  // no memory for the text
  }
  failure.callback = std::move(thrown);
  header_->sequence->fail(std::move(failure));
}

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

Runtime::Detail::Detail() : spare_records(std::make_unique<detail::SpareRecords>()) {}
Runtime::Detail::~Detail() = default;

void Runtime::Detail::stop_kernels() noexcept {
  idle_kernels.store(true);
  wait_for_running_kernels();
}

void Runtime::Detail::wait_for_running_kernels() noexcept {
  for (std::size_t worker = 0; worker < running.size(); ++worker) {
    RunningKernels& kernels = running[worker];
    // In this order: one that ends meanwhile makes the wait longer, not shorter.
    const auto all = static_cast<unsigned>(kernels.count.load());
    const unsigned before = kernels.ended.load();
    while (kernels.count.load() > 0 && kernels.ended.load() - before < all &&
           !(gpu_lost.load() && starpu_worker_get_type(static_cast<int>(worker)) == STARPU_CUDA_WORKER))
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void Runtime::Detail::abandon_data(starpu_data_handle_t handle) noexcept {
  try {
    const std::lock_guard lock(abandoned_mutex);
    abandoned_data.push_back(handle);
    any_abandoned_data.store(true);
  } catch (...) {  // no memory to remember it: then no task at all goes on
    idle_kernels.store(true);
  }
  wait_for_running_kernels();
}

bool Runtime::Detail::uses_abandoned_data() noexcept {
  const starpu_task* const task = starpu_task_get_current();
  if (!task) return false;
  const std::lock_guard lock(abandoned_mutex);
  for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); ++i)
    if (std::find(abandoned_data.begin(), abandoned_data.end(), STARPU_TASK_GET_HANDLE(task, i)) !=
        abandoned_data.end())
      return true;
  return false;
}

void Runtime::Detail::lose_gpu(const std::string& reason) noexcept {
  gpu_lost.store(true);
  alarm.raise({ErrorKind::runtime, rank, 0, {reason, {}, {}}});
}

void Runtime::Detail::require_no_alarm() {
  if (!alarm.look()) return;
  stop_kernels();
  throw_parts(alarm.failure());
}

}  // namespace tessera
