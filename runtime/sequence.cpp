// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>

#include <fmt/format.h>

#include <tessera/runtime/error.hpp>
#include <tessera/runtime/gpu_messages.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/runtime/stall_watch.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera {
namespace {

double now() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr std::uint32_t max_stages = 32;

struct StageRecord {
  double begin = std::numeric_limits<double>::infinity(), end = 0, busy = 0, flops = 0;
  Index tasks = 0, device_tasks = 0;
};

/// One worker's figures: written by that worker alone, read after the end.
struct alignas(64) WorkerRecord {
  double last_end = 0;
  std::vector<StageRecord> stages = std::vector<StageRecord>(max_stages);
  std::vector<CodeletStatistics> codelets = std::vector<CodeletStatistics>(Codelet::all().size());
};

starpu_data_access_mode starpu_mode(AccessMode mode) {
  switch (mode) {
    case AccessMode::read:
      return STARPU_R;
    case AccessMode::write:
      return STARPU_W;
    case AccessMode::read_write:
      return STARPU_RW;
    case AccessMode::accumulate:
      return static_cast<starpu_data_access_mode>(STARPU_RW | STARPU_COMMUTE);
    case AccessMode::scratch:
      return STARPU_SCRATCH;
  }
  return STARPU_RW;
}

bool writes(AccessMode mode) {
  return mode == AccessMode::write || mode == AccessMode::read_write || mode == AccessMode::accumulate;
}
bool reads(AccessMode mode) {
  return mode == AccessMode::read || mode == AccessMode::read_write || mode == AccessMode::accumulate;
}

/// What a GPU must have room for, the same on all ranks.
void require_room(const Runtime& runtime, const Codelet& codelet, std::span<const Access> accesses) {
  const starpu_codelet& cl = codelet.detail().codelet;
  if (runtime.info().gpu_memory_bytes == 0 || !cl.cuda_funcs[0]) return;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const bool on_host = cl.specific_nodes && i < STARPU_NMAXBUFS && cl.nodes[i] == STARPU_SPECIFIC_NODE_CPU;
    const bool everywhere = runtime.size() > 1 && accesses[i].data->owner() == Data::every_rank;
    if (!on_host && !everywhere) bytes += starpu_data_get_size(starpu_handle(*accesses[i].data));
  }
  require_gpu_memory(runtime, codelet.name(), bytes);
}

/// Where a task runs; every_rank for tasks on replicated data alone.
int execution_rank(const TaskOptions& options, std::span<const Access> accesses) {
  if (options.execute_on >= 0) return options.execute_on;
  for (const Access& access : accesses)
    if (writes(access.mode)) return access.data->owner();
  return Data::every_rank;
}

/// Number of the GPU of this rank that alone may run the task; -1: any worker.
int execution_gpu(const Runtime& runtime, const Codelet& codelet, const TaskOptions& options,
                  std::span<const Access> accesses) {
  if (!codelet.detail().codelet.cuda_funcs[0]) return -1;
  int gpu = options.gpu;
  if (gpu < 0) {
    const auto written = std::find_if(accesses.begin(), accesses.end(),
                                      [](const Access& access) { return writes(access.mode); });
    if (written != accesses.end()) gpu = written->data->gpu();
  }
  return gpu < runtime.info().cuda_workers ? gpu : -1;
}

/// Whether StarPU-MPI has anything to do on this rank for the task: it runs here, sends a piece, gets a
/// written piece back, or must forget a received copy that is now out of date.
bool concerns(int me, int where, std::span<const Access> accesses) {
  if (where == me) return true;
  for (const Access& access : accesses) {
    if (access.data->owner() == me && access.mode != AccessMode::scratch) return true;
    if (writes(access.mode) && access.data->owner() != Data::every_rank &&
        starpu_mpi_cached_receive(starpu_handle(*access.data)))
      return true;
  }
  return false;
}

/// What a task of a GPU reads of other ranks comes straight to its memory: of the GPU that alone may run it
/// (`gpu`), or of one in turn.
void receive_on_gpus(const Runtime& runtime, const Codelet& codelet, int gpu,
                     std::span<const Access> accesses) {
  const starpu_codelet& cl = codelet.detail().codelet;
  if (!runtime.detail().sends_from_gpus || !cl.cuda_funcs[0]) return;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Data& data = *accesses[i].data;
    const bool on_host = cl.specific_nodes && i < STARPU_NMAXBUFS && cl.nodes[i] == STARPU_SPECIFIC_NODE_CPU;
    if (data.local() || on_host || !reads(accesses[i].mode) || starpu_mpi_cached_receive(starpu_handle(data)))
      continue;
    const auto gpus = static_cast<unsigned>(runtime.info().cuda_workers);
    receive_on_gpu(data, gpu >= 0 ? gpu : static_cast<int>(runtime.detail().next_receiver++ % gpus));
  }
}

}  // namespace

void require_gpu_memory(const Runtime& runtime, std::string_view task, std::size_t bytes) {
  // A sixteenth is left for rounding.
  const std::int64_t memory = runtime.info().gpu_memory_bytes / 16 * 15;
  if (memory > 0 && bytes > static_cast<std::size_t>(memory))
    throw RuntimeError(
        fmt::format("the task '{}' needs {} MiB of a GPU's memory at once, and may use {} MiB: smaller tiles "
                    "or slabs, or another solver, are needed",
                    task, (bytes >> 20) + 1, memory >> 20));
}

struct Sequence::Detail {
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
  Status status;
  std::uint32_t failed_stage = 0;
};

Sequence::Sequence(Runtime& runtime) : runtime_(runtime), detail_(new Detail) {
  detail_->workers.resize(starpu_worker_get_count());
  detail_->stage_names.emplace_back("start");
  runtime.detail().activate();
}

Sequence::~Sequence() {
  if (detail_->waited) return;
  try {
    if (std::uncaught_exceptions() <= detail_->exceptions) {
      wait();
      return;
    }
    wait_here();
    end();
  } catch (const RuntimeError&) {
    // Abandoned: nobody hears of it here, but the Runtime knows.
  }
}

void Sequence::begin_stage(std::string_view name) {
  if (detail_->stage_names.size() >= max_stages) throw RuntimeError("a sequence has at most 32 stages");
  current_stage_ = static_cast<std::uint32_t>(detail_->stage_names.size());
  detail_->stage_names.emplace_back(name);
}

void Sequence::resume_stage(std::string_view name) {
  const auto& names = detail_->stage_names;
  const auto found = std::find(names.begin() + 1, names.end(), name);
  if (found == names.end()) return begin_stage(name);
  current_stage_ = static_cast<std::uint32_t>(found - names.begin());
}

double Sequence::busy_seconds(std::string_view stage) const {
  double sum = 0;
  Index workers = 0;
  for (WorkerRecord& worker : detail_->workers) {
    double any = 0;
    for (std::size_t s = 0; s < detail_->stage_names.size(); ++s) {
      const double busy = std::atomic_ref(worker.stages[s].busy).load(std::memory_order_relaxed);
      any += busy;
      if (detail_->stage_names[s] == stage) sum += busy;
    }
    if (any > 0) ++workers;
  }
  return workers > 0 ? sum / static_cast<double>(workers) : 0;
}

void Sequence::keep(std::shared_ptr<void> object) {
  detail_->kept.push_back(std::move(object));
}

bool Sequence::failed() const noexcept {
  return detail_->failed.load(std::memory_order_relaxed);
}

void Sequence::fail(StatusCode code, std::uint32_t stage, Index index) noexcept {
  std::lock_guard lock(detail_->mutex);
  const bool first = detail_->status.ok();
  if (first || stage < detail_->failed_stage ||
      (stage == detail_->failed_stage && index < detail_->status.index)) {
    detail_->status.code = code;
    detail_->status.index = index;
    detail_->failed_stage = stage;
  }
  detail_->failed.store(true);
}

void Sequence::insert_block(Codelet& codelet, const void* block, std::size_t bytes,
                            const TaskOptions& options, std::span<const Access> accesses,
                            const std::source_location& where) {
  require_room(runtime_, codelet, accesses);
  if (current_stage_ == 0) detail_->tasks_before_stages = true;
  const int rank = execution_rank(options, accesses);
  const bool here = rank == Data::every_rank || rank == runtime_.rank();
  const bool distributed = runtime_.size() > 1 && rank != Data::every_rank;
  if (distributed && !concerns(runtime_.rank(), rank, accesses)) return;

  const int gpu = execution_gpu(runtime_, codelet, options, accesses);
  if (distributed && here) receive_on_gpus(runtime_, codelet, gpu, accesses);

  constexpr std::size_t usual_count = 16;
  starpu_data_descr few[usual_count];
  std::vector<starpu_data_descr> many;
  starpu_data_descr* descriptors = few;
  if (accesses.size() > usual_count) {
    many.resize(accesses.size());
    descriptors = many.data();
  }
  int count = 0;
  for (const Access& access : accesses) {
    // Replicated data is no business of the ranks that do not run the task: StarPU-MPI must not see it there.
    if (!here && access.data->owner() == Data::every_rank) continue;
    descriptors[count].handle = starpu_handle(*access.data);
    descriptors[count].mode = starpu_mode(access.mode);
    ++count;
  }

  void* arguments = nullptr;
  if (here) {
    arguments = std::malloc(bytes);  // StarPU frees it with the task
    if (!arguments) throw RuntimeError("out of memory for a task's arguments");
    std::memcpy(arguments, block, bytes);
    std::lock_guard lock(detail_->mutex);
    ++detail_->pending;
  }
  const auto finished = [](void* argument) {
    TaskHeader& header = *static_cast<TaskHeader*>(argument);
    internal::note_task_end();
    if (header.at_end) header.at_end(header);
    if (header.on_device) internal::end_task(header);
    auto& detail = header.sequence->detail();
    std::lock_guard lock(detail.mutex);
    if (--detail.pending == 0) detail.idle.notify_all();
  };
  void (*callback)(void*) = finished;
  starpu_codelet* cl = &codelet.detail().codelet;
  const int worker = gpu < 0 ? -1 : starpu_worker_get_by_type(STARPU_CUDA_WORKER, gpu);
  // The one variadic call: StarPU's and StarPU-MPI's insertion take the same list.
#define TESSERA_TASK                                                                                      \
  STARPU_CL_ARGS, arguments, bytes, STARPU_DATA_MODE_ARRAY, descriptors, count, STARPU_PRIORITY,          \
      options.priority, STARPU_FLOPS, options.flops, STARPU_CALLBACK_WITH_ARG_NFREE, callback, arguments, \
      STARPU_EXECUTE_ON_WORKER, worker, STARPU_TASK_SYNCHRONOUS, runtime_.synchronous() ? 1 : 0,          \
      STARPU_TASK_FILE, where.file_name(), STARPU_TASK_LINE, static_cast<int>(where.line())
  const int result = distributed ? (starpu_mpi_task_insert)(runtime_.detail().communicator, cl,
                                                            STARPU_EXECUTE_ON_NODE, rank, TESSERA_TASK, 0)
                                 : (starpu_task_insert)(cl, TESSERA_TASK, 0);
#undef TESSERA_TASK
  if (result < 0) {
    std::lock_guard lock(detail_->mutex);
    if (here) --detail_->pending;
    throw RuntimeError(fmt::format("no worker can run the task '{}' (error {})", codelet.name(), result));
  }
  detail_->last_insertion = now();
}

Status Sequence::wait() {
  if (!detail_->waited) {
    if (runtime_.size() > 1) {
      starpu_mpi_wait_for_all(runtime_.detail().communicator);
      starpu_mpi_barrier(runtime_.detail().communicator);
    }
    wait_here();
    // The earliest failure of all ranks becomes everybody's: stage first, then index.
    double key[3] = {0, 0, 0};
    if (!detail_->status.ok()) {
      key[0] = -(1.0 + detail_->failed_stage);
      key[1] = -static_cast<double>(detail_->status.index);
      key[2] = static_cast<double>(static_cast<int>(detail_->status.code));
    }
    if (runtime_.size() > 1) runtime_.all_reduce_first_failure(key);
    if (key[2] != 0) {
      const auto stage = static_cast<std::uint32_t>(-key[0] - 1.0);
      detail_->status.code = static_cast<StatusCode>(static_cast<int>(key[2]));
      detail_->status.index = static_cast<Index>(-key[1]);
      detail_->status.stage = stage < detail_->stage_names.size() ? detail_->stage_names[stage] : "";
      detail_->failed = true;
    }
    end();
  }
  return detail_->status;
}

/// Until this rank's tasks have ended.
void Sequence::wait_here() {
  std::unique_lock lock(detail_->mutex);
  StallWatch watch(runtime_);
  const auto done = [&] { return detail_->pending == 0; };
  try {
    while (!detail_->idle.wait_for(lock, std::chrono::seconds(1), done)) watch.check();
  } catch (const RuntimeError&) {
    detail_->waited = true;
    runtime_.detail().abandon();
    throw;
  }
}

/// After the last task.
void Sequence::end() {
  detail_->waited = true;
  detail_->kept.clear();
  runtime_.detail().deactivate();
}

SequenceStatistics Sequence::statistics() const {
  SequenceStatistics result;
  result.submit_seconds = detail_->last_insertion - detail_->start;
  std::vector<StageRecord> stages(detail_->stage_names.size());
  std::vector<CodeletStatistics> codelets(Codelet::all().size());
  double last = detail_->start, busy = 0;
  for (const WorkerRecord& worker : detail_->workers) {
    for (std::size_t s = 0; s < stages.size(); ++s) {
      stages[s].begin = std::min(stages[s].begin, worker.stages[s].begin);
      stages[s].end = std::max(stages[s].end, worker.stages[s].end);
      stages[s].busy += worker.stages[s].busy;
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
  double previous = detail_->start;
  for (std::size_t s = detail_->tasks_before_stages ? 0 : 1; s < stages.size(); ++s) {
    const double end = std::max(stages[s].end, previous);
    result.stages.push_back({detail_->stage_names[s], end - previous, stages[s].busy, stages[s].flops,
                             stages[s].tasks, stages[s].device_tasks});
    previous = end;
    last = std::max(last, end);
    busy += stages[s].busy;
    result.tasks += stages[s].tasks;
  }
  for (std::size_t c = 0; c < codelets.size(); ++c) {
    if (codelets[c].tasks == 0) continue;
    codelets[c].name = Codelet::all()[c]->name();
    result.codelets.push_back(codelets[c]);
  }
  result.total_seconds = last - detail_->start;
  if (result.total_seconds > 0)
    result.busy_share = busy / (result.total_seconds *
                                static_cast<double>(std::max<std::size_t>(detail_->workers.size(), 1)));
  return result;
}

void TaskContext::fail(StatusCode code, Index index) const noexcept {
  header_->sequence->fail(code, header_->stage, index);
}

namespace internal {

bool begin_task(TaskHeader& header) noexcept {
  note_task_begin();
  if (header.sequence->failed()) return false;
  header.start = now();
  return true;
}

void end_task(const TaskHeader& header) noexcept {
  const double end = now();
  const int worker = starpu_worker_get_id();
  if (worker < 0) return;
  WorkerRecord& record = header.sequence->detail().workers[static_cast<std::size_t>(worker)];
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
  CodeletStatistics& codelet = record.codelets[static_cast<std::size_t>(header.codelet)];
  ++codelet.tasks;
  codelet.seconds += end - start;
  codelet.flops += header.flops;
}

}  // namespace internal
}  // namespace tessera
