// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/fault_points.hpp>
#include <tessera/runtime/gpu_messages.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/runtime/sequence_state.hpp>
#include <tessera/runtime/starpu_surroundings.hpp>

namespace tessera::detail {

namespace {

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

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

Sequence::Sequence(Runtime& runtime) : runtime_(runtime) {
  require_same_process(runtime.detail().process);
  runtime.detail().require_no_alarm();
  state_ = std::make_unique<detail::SequenceState>(runtime.detail());
  runtime.detail().activate();
}

Sequence::~Sequence() {
  if (state_->waited) return;
  Runtime::Detail& detail = runtime_.detail();
  try {
    const bool thrown = std::uncaught_exceptions() > state_->exceptions;
    if (!thrown && !detail.alarm.raised()) {
      wait();
      return;
    }
    if (!detail.leaving_call(runtime_.size(), state_->exceptions)) {
      state_->wait_here();
      state_->end();
      return;
    }
    state_->failed = true;              // what has not begun does nothing
    detail.wait_for_running_kernels();  // what the exception destroys next may be theirs
    detail.abandoned.push_back(std::move(state_));
  } catch (...) {
    // Another rank has failed, or there is no memory to remember the tasks: they may stay for ever.
    (void)state_.release();
  }
}

void Sequence::begin_stage(std::string_view name) {
  if (state_->stage_names.size() >= detail::max_stages)
    throw RuntimeError("a sequence has at most 32 stages");
  current_stage_ = static_cast<std::uint32_t>(state_->stage_names.size());
  state_->stage_names.emplace_back(name);
}

void Sequence::resume_stage(std::string_view name) {
  const auto& names = state_->stage_names;
  const auto found = std::find(names.begin() + 1, names.end(), name);
  if (found == names.end()) return begin_stage(name);
  current_stage_ = static_cast<std::uint32_t>(found - names.begin());
}

double Sequence::busy_seconds(std::string_view stage) const {
  double sum = 0;
  Index workers = 0;
  for (detail::WorkerRecord& worker : state_->workers) {
    double any = 0;
    for (std::size_t s = 0; s < state_->stage_names.size(); ++s) {
      const double busy = std::atomic_ref(worker.stages[s].busy).load(std::memory_order_relaxed);
      any += busy;
      if (state_->stage_names[s] == stage) sum += busy;
    }
    if (any > 0) ++workers;
  }
  return workers > 0 ? sum / static_cast<double>(workers) : 0;
}

void Sequence::keep(std::shared_ptr<void> object) {
  state_->kept.push_back(std::move(object));
}

bool Sequence::failed() const noexcept {
  return state_->failed.load(std::memory_order_relaxed);
}

void Sequence::fail(StatusCode code, std::uint32_t stage, Index index) noexcept {
  state_->fail({code, stage, index});
}

void Sequence::insert_block(Codelet& codelet, const void* block, std::size_t bytes,
                            const TaskOptions& options, std::span<const Access> accesses,
                            const std::source_location& where) {
  if (runtime_.detail().alarm.raised()) runtime_.detail().require_no_alarm();
  detail::fault_point();
  require_room(runtime_, codelet, accesses);
  if (current_stage_ == 0) state_->tasks_before_stages = true;
  const int rank = execution_rank(options, accesses);
  const bool here = rank == Data::every_rank || rank == runtime_.rank();
  // Of a piece of `every_rank` another rank's task writes another copy.
  for (const Access& access : accesses)
    if (writes(access.mode) && (here || access.data->owner() != Data::every_rank))
      access.data->written_in_ = state_->number + 1;
  const bool distributed = runtime_.size() > 1 && rank != Data::every_rank;
  if (distributed && !concerns(runtime_.rank(), rank, accesses)) return;

  const int gpu = execution_gpu(runtime_, codelet, options, accesses);
  if (distributed && here) {
    receive_on_gpus(runtime_, codelet, gpu, accesses);
    for (const Access& access : accesses)
      if (reads(access.mode) && !access.data->local()) access.data->receives();
  }

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
    std::lock_guard lock(state_->mutex);
    ++state_->pending;
  }
  const auto finished = [](void* argument) {
    TaskHeader& header = *static_cast<TaskHeader*>(argument);
    header.sequence->finish_task(header);
  };
  void (*callback)(void*) = finished;
  starpu_codelet* cl = &codelet.detail().codelet;
  runtime_.detail().surroundings->fetch_model(codelet.index());
  const int worker = gpu < 0 ? -1 : starpu_worker_get_by_type(STARPU_CUDA_WORKER, gpu);
  // The one variadic call: StarPU's and StarPU-MPI's insertion take the same list.
#define TESSERA_TASK                                                                                \
  STARPU_CL_ARGS, arguments, bytes, STARPU_DATA_MODE_ARRAY, descriptors, count, STARPU_PRIORITY,    \
      options.priority, STARPU_FLOPS, static_cast<const TaskHeader*>(block)->flops,                 \
      STARPU_CALLBACK_WITH_ARG_NFREE, callback, arguments, STARPU_EXECUTE_ON_WORKER, worker,        \
      STARPU_TASK_SYNCHRONOUS, runtime_.synchronous() ? 1 : 0, STARPU_TASK_FILE, where.file_name(), \
      STARPU_TASK_LINE, static_cast<int>(where.line())
  const int result = distributed ? (starpu_mpi_task_insert)(runtime_.detail().communicator, cl,
                                                            STARPU_EXECUTE_ON_NODE, rank, TESSERA_TASK, 0)
                                 : (starpu_task_insert)(cl, TESSERA_TASK, 0);
#undef TESSERA_TASK
  if (result < 0) {
    std::lock_guard lock(state_->mutex);
    if (here) --state_->pending;
    throw RuntimeError(fmt::format("no worker can run the task '{}' (error {})", codelet.name(), result));
  }
  // StarPU-MPI has dropped copies that are out of date now.
  if (distributed)
    for (const Access& access : accesses)
      if (writes(access.mode) && access.data->received_) access.data->forget_received({});
  state_->last_insertion = detail::now();
}

void Sequence::require_data(const Data& data) {
  if (!data.valid())
    throw RuntimeError("a task is inserted with a piece of data that was never made, or is released");
}

bool Sequence::has_written(const Data& data) const noexcept {
  return data.written_in_ == state_->number + 1;
}

bool Sequence::ready() const {
  if (runtime_.detail().alarm.look()) return true;  // wait() throws what has failed
  std::lock_guard lock(state_->mutex);
  return state_->pending == 0;
}

Status Sequence::wait() {
  if (state_->waited) return state_->status;
  return guarded(runtime_, [&] { return wait_guarded(); });
}

Status Sequence::wait_guarded() {
  detail::fault_point();
  wait_for_all_ranks();
  const detail::Failure& failure = state_->failure;
  if (failure.code != StatusCode::success) {
    state_->failed = true;
    const auto& names = state_->stage_names;
    state_->status = {failure.code, failure.stage < names.size() ? names[failure.stage] : "", failure.index,
                      failure.reason};
  }
  state_->end();
  if (failure.callback) throw_agreed(runtime_, failure.callback);
  return state_->status;
}

/// Until all tasks of all ranks are over and all ranks know of the earliest failure. No rank can fail between
/// the agreement and the wait for what is still on its way: so that wait needs no look at the alarm.
void Sequence::wait_for_all_ranks() {
  state_->wait_here();
  if (runtime_.size() == 1) return;
  agree_on_failure();
  starpu_mpi_wait_for_all(runtime_.detail().communicator);
}

/// The earliest failure of all ranks becomes everybody's: stage first, then index. Ranks that wait for
/// different sequences, or do something else, notice it.
void Sequence::agree_on_failure() {
  detail::Failure& failure = state_->failure;
  const detail::Votes votes = detail::vote(runtime_, failure.code != StatusCode::success,
                                           argument_hash(hash_of("Sequence::wait"), state_->number));
  if (!votes.equal) detail::throw_different(runtime_);
  if (votes.failed == runtime_.size()) return;
  double key[3] = {0, 0, 0};
  if (failure.code != StatusCode::success) {
    key[0] = -(1.0 + failure.stage);
    key[1] = -static_cast<double>(failure.index);
    key[2] = static_cast<double>(static_cast<int>(failure.code));
  }
  const int rank = runtime_.all_reduce_first_failure(key);
  if (rank < 0) return;
  failure.code = static_cast<StatusCode>(static_cast<int>(key[2]));
  failure.stage = static_cast<std::uint32_t>(-key[0] - 1.0);
  failure.index = static_cast<Index>(-key[1]);
  if (failure.code != StatusCode::task_failed) return;
  // Its text, and whether it is a callback's.
  Index head[2] = {static_cast<Index>(failure.reason.size()), failure.callback ? 1 : 0};
  runtime_.broadcast(head, sizeof head, rank);
  failure.reason.resize(static_cast<std::size_t>(head[0]));
  runtime_.broadcast(failure.reason.data(), head[0], rank);
  if (rank == runtime_.rank()) return;
  failure.callback = head[1] ? std::make_exception_ptr(RemoteError(rank, failure.reason)) : nullptr;
}

SequenceStatistics Sequence::statistics() const {
  return state_->statistics();
}

}  // namespace tessera
