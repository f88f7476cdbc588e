// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/bus_measurement.hpp>
#include <tessera/runtime/default_runtime.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/machine.hpp>
#include <tessera/runtime/starpu_detail.hpp>
#include <tessera/runtime/starpu_environment.hpp>
#include <tessera/runtime/starpu_surroundings.hpp>
#include <tessera/runtime/start.hpp>

namespace tessera::detail {

namespace {

/// Of the one Runtime of a process.
enum class Life { none, alive, poisoned };
std::atomic<Life> life = Life::none;
std::atomic<pid_t> alive_in = 0;  ///< a forked process has `life` from the one before

/// @throws RuntimeError unless this process may have a Runtime
void claim_process() {
  Life before = Life::none;
  if (life.compare_exchange_strong(before, Life::alive)) {
    alive_in = ::getpid();
    return;
  }
  require_same_process(alive_in);
  if (before == Life::poisoned)
    throw RuntimeError("a Runtime of this process was ended by a failure that StarPU does not survive");
  if (default_runtime_alive())
    throw RuntimeError("the default Runtime is alive: end_default_runtime() makes room for another one");
  throw RuntimeError("a Runtime is alive already: there can be one at a time in a process");
}

/// The process ends, and its Runtime does not: the other ranks hear of it, and get the time to say so.
void leave_alive(const Runtime& runtime) noexcept {
  try {
    runtime.detail().alarm.raise(
        {ErrorKind::runtime, runtime.rank(), 0, {fmt::format("rank {} has ended", runtime.rank())}});
    std::this_thread::sleep_for(std::chrono::seconds(1));
  } catch (...) {  // no memory for the text
  }
  life = Life::poisoned;
}

void initialise_mpi() {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised) return require_unfinished_mpi();
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  static const pid_t process = ::getpid();
  std::atexit([] {
    if (::getpid() != process) return;  // MPI is not the forked process's
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (finalised) return;
    // The other ranks may wait for this process.
    if (const Runtime* const alive = alive_runtime; alive && alive->size() > 1) leave_alive(*alive);
    // The other ranks do not come to the end: to wait for them would last for ever.
    if (life == Life::poisoned) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Finalize();
  });
}

/// Number of this rank among those on the same host, and how many they are.
std::pair<int, int> place_on_this_host(MPI_Comm communicator) {
  MPI_Comm local;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
  int rank = 0, count = 1;
  MPI_Comm_rank(local, &rank);
  MPI_Comm_size(local, &count);
  MPI_Comm_free(&local);
  return {rank, count};
}

void describe_machine(const Machine& machine, RuntimeInfo& info) {
  info.physical_cores = machine.physical_cores;
  info.numa_nodes = machine.numa_nodes;
  info.memory_bytes = machine.memory_bytes;
  info.l2_bytes = machine.l2_bytes;
  info.l3_bytes = machine.l3_bytes;
  info.cpu_model = machine.cpu_model;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

Communicator Communicator::world() {
  initialise_mpi();
  return from_fortran(static_cast<int>(MPI_Comm_c2f(MPI_COMM_WORLD)));
}

Runtime::Runtime(const RuntimeOptions& options, Communicator communicator)
    : options_(options), detail_(new Detail) {
  require_usable_mpi(communicator);
  join(communicator);
  try {
    start(options);
  } catch (...) {
    const std::exception_ptr caught = std::current_exception();
    if (size_ > 1 && caught != detail_->agreed) {
      detail_->alarm.raise(parts_of(caught, rank_));
      abandon();
    } else {
      if (workers_ > 0) stop_starpu();
      leave();
      if (detail_->claimed) life = Life::none;
    }
    throw;
  }
}

/// What one rank cannot do keeps all from starting.
void Runtime::start(const RuntimeOptions& options) {
  const bool traced = !options.trace_directory.empty();
  Machine machine;
  agree(*this, argument_hash(hash_of("Runtime"), options.hybrid, options.synchronous, traced), [&] {
    claim_process();
    detail_->claimed = true;
    require_stopped_starpu();
    require_sound_starpu_environment();
    require_scheduler("scheduler", options_.scheduler);
    machine = inspect_machine();
    describe_machine(machine, info_);
    require_gpus();
  });
  // Ranks that share this host and that the launcher has not bound would all bind their workers to the same
  // first cores: they share the cores out unbound. A rank that was bound has its mask for itself.
  const auto [local_rank, local_ranks] =
      size_ > 1 ? place_on_this_host(detail_->host_communicator) : std::pair(0, 1);
  const bool own_mask = local_ranks == 1 || machine.physical_cores < machine.total_cores;
  Start how;
  agree(*this, 0, [&, local = local_rank, ranks = local_ranks] {
    how = plan_start(own_mask ? machine.physical_cores : std::max(1, machine.physical_cores / ranks),
                     own_mask, local, ranks);
  });
  prepare_buses(*detail_->surroundings, how.host, how.uses_gpus, detail_->host_communicator, options_.log);
  agree(*this, 0, [&] {
    start_starpu(how);
    choose_host_memory_limit(machine.memory_restricted);
  });
  agree_on_workers();
  starpu_pause();
  detail_->paused = true;
  fill_info();
  log(LogLevel::info, fmt::format("{} CPU and {} CUDA workers, scheduler {}, rank {} of {}",
                                  info_.cpu_workers, info_.cuda_workers, info_.scheduler, rank_, size_));
  detail::alive_runtime = this;
}

/// Rank, size and communicators of our own.
void Runtime::join(Communicator communicator) {
  if (communicator.alone()) return;
  MPI_Comm comm = MPI_Comm_f2c(communicator.fortran_handle());
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
  if (size_ == 1) return;
  for (MPI_Comm* own : {&detail_->communicator, &detail_->host_communicator, &detail_->alarm_communicator})
    MPI_Comm_dup(comm, own);
  detail_->rank = rank_;
  detail_->ranks = size_;
  detail_->alarm.start(detail_->alarm_communicator, rank_, size_);
}

void Runtime::leave() noexcept {
  stop_host_memory();
  detail_->alarm.stop();
  for (MPI_Comm* own : {&detail_->communicator, &detail_->host_communicator, &detail_->alarm_communicator})
    if (*own != MPI_COMM_NULL) MPI_Comm_free(own);
}

/// With a failure that the other ranks know of, or will find when they look: nothing waits for anything.
void Runtime::abandon() noexcept {
  if (workers_ > 0 && !detail_->paused) starpu_pause();
  detail_->one_blas_thread.reset();
  life = Life::poisoned;
  detail_->surroundings.reset();  // StarPU writes no more
  (void)detail_.release();        // StarPU's threads still look at it
}

void Runtime::agree_on_workers() {
  const auto gpus = double(starpu_cuda_worker_get_count());
  double numbers[3] = {-double(std::max(workers_, 1)), -gpus, gpus};
  all_reduce_max(numbers, 3);
  common_workers_ = static_cast<int>(-numbers[0]);
  gpus_ = static_cast<int>(-numbers[1]);
  any_gpus_ = numbers[2] > 0;
}

Runtime::~Runtime() {
  if (::getpid() != detail_->process) return;  // a process forked from ours has none of StarPU's threads
  detail_->kept.clear();
  detail::alive_runtime = nullptr;
  if (!agrees_to_end()) {
    abandon();
    return;
  }
  starpu_resume();
  detail_->retired.release();
  if (size_ == 1) starpu_task_wait_for_all();
  stop_starpu();
  leave();
  life = Life::none;
}

/// Whether all ranks end their Runtimes now, and none by an exception.
bool Runtime::agrees_to_end() noexcept {
  Alarm& alarm = detail_->alarm;
  if (alarm.look()) return false;
  if (size_ == 1) return true;
  try {
    if (std::uncaught_exceptions() > detail_->exceptions)
      throw RuntimeError(fmt::format("rank {} has ended its Runtime by an exception", rank_));
    agree(*this, hash_of("~Runtime"), [] {});
    return true;
  } catch (...) {
    alarm.raise(parts_of(std::current_exception(), rank_));
    return false;
  }
}

/// Collective over the ranks on which it has started: no task and no message is left.
void Runtime::stop_starpu() noexcept {
#if TESSERA_WITH_CUDA
  if (info_.cuda_workers > 0) close_cuda_handles();
#endif
  if (detail_->surroundings) detail_->surroundings->prepare_shutdown();
  size_ > 1 ? (void)starpu_mpi_shutdown() : starpu_shutdown();
  if (detail_->surroundings) detail_->surroundings->keep();
  workers_ = 0;
}

bool Runtime::poisoned() const noexcept {
  return detail_->alarm.look();
}

int Runtime::failed_rank() const noexcept {
  return poisoned() ? detail_->alarm.failure().rank : -1;
}

void Runtime::abort_ranks(int exit_code) {
  abandon_temporaries();
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (initialised && !finalised) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

void Runtime::log(LogLevel level, std::string_view message) const {
  if (options_.log) options_.log(level, message);
}

}  // namespace tessera
