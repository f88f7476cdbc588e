// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/blas_threads.hpp>
#include <tessera/runtime/default_runtime.hpp>
#include <tessera/runtime/gpu_messages.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/machine.hpp>
#include <tessera/runtime/performance_models.hpp>
#include <tessera/runtime/starpu_detail.hpp>
#include <tessera/runtime/starpu_environment.hpp>
#include <tessera/runtime/starpu_surroundings.hpp>
#include <tessera/runtime/system_memory.hpp>
#if TESSERA_WITH_CUDA
#include <cuda_runtime.h>
#endif

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

/// An environment variable for the time of StarPU's start; what the user set stays.
class TemporaryVariable {
 public:
  TemporaryVariable(const char* name, const std::string& value, bool wanted = true) : name_(name) {
    set_ = wanted && !std::getenv(name);
    if (set_) setenv(name, value.c_str(), 0);
  }
  ~TemporaryVariable() {
    if (set_) unsetenv(name_);
  }

 private:
  const char* name_;
  bool set_;
};

std::optional<int> environment_number(const char* name) {
  const char* text = std::getenv(name);
  if (!text || !*text) return std::nullopt;
  return std::atoi(text);
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
  std::atexit([] {
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

int visible_gpus() {
  int count = 0;
#if TESSERA_WITH_CUDA
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
#endif
  return count;
}

#if TESSERA_WITH_CUDA
/// The calling thread's current GPU; -1 if there is none.
int current_gpu() noexcept {
  int gpu = -1;
  return cudaGetDevice(&gpu) == cudaSuccess ? gpu : -1;
}
#endif

/// CUDA's name of the visible GPUs, if it is one.
std::string gpu_model() {
  std::string model;
#if TESSERA_WITH_CUDA
  for (int gpu = 0; gpu < visible_gpus(); ++gpu) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, gpu) != cudaSuccess) return {};
    if (gpu > 0 && model != properties.name) return {};
    model = properties.name;
  }
#endif
  return model;
}

/// The policies that place tasks by their expected times.
bool uses_performance_models(std::string_view scheduler) {
  return scheduler.starts_with("dm") || scheduler.find("heft") != std::string_view::npos;
}

/// Ranks on one host take the GPUs in turn: as many as asked for, else an equal share (at least one). Ranks
/// that have one in common are neighbours: what they exchange stays there, and a neighbour's share of the
/// work tends to be another size (CsbPartition: of two sub-matrices one is on the diagonal, and has half of
/// the entries).
void share_out_gpus(starpu_conf& conf, int local_rank, int local_ranks) {
  const int visible = visible_gpus();
  if (visible == 0) return;
  if (conf.ncuda < 0) conf.ncuda = std::max(1, visible / local_ranks);
  conf.ncuda = std::min(conf.ncuda, visible);
  conf.use_explicit_workers_cuda_gpuid = 1;
  const int first = first_gpu_of_rank(local_rank, local_ranks, conf.ncuda, visible);
  for (int k = 0; k < conf.ncuda; ++k)
    conf.workers_cuda_gpuid[k] = static_cast<unsigned>((first + k) % visible);
}

/// Beside GPUs there are no more workers than those that make stacks need: the locks that the others look at
/// in vain are the GPUs' and the messages', too. (Dense n = 32768 on four H200s takes 3.3 s with 59 CPU
/// workers and 3.05 s with 6; lobpcg on three ranks with a GPU each 1.6 s with 14 and 1.2 s with 2.)
int max_cpu_workers(int gpus, int ranks, bool hybrid) {
  if (gpus == 0 || hybrid) return std::numeric_limits<int>::max();
  return ranks > 1 ? 4 : 14;
}

void describe_machine(const Machine& machine, RuntimeInfo& info) {
  info.physical_cores = machine.physical_cores;
  info.numa_nodes = machine.numa_nodes;
  info.memory_bytes = machine.memory_bytes;
  info.l2_bytes = machine.l2_bytes;
  info.l3_bytes = machine.l3_bytes;
  info.cpu_model = machine.cpu_model;
}

bool any_cuda_codelet() {
  return std::any_of(Codelet::all().begin(), Codelet::all().end(),
                     [](const Codelet* c) { return c->has_cuda(); });
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
  agree(*this, 0, [&, local = local_rank, ranks = local_ranks] {
    start_starpu(own_mask ? machine.physical_cores : std::max(1, machine.physical_cores / ranks), own_mask,
                 local, ranks);
    choose_host_memory_limit(machine.memory_restricted);
  });
  agree_on_workers();
  detail_->saved_blas_threads = blas_threads();
  set_blas_threads(1);
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
  set_blas_threads(detail_->saved_blas_threads);
  life = Life::poisoned;
  detail_->surroundings.reset();  // StarPU writes no more
  (void)detail_.release();        // StarPU's threads still look at it
}

/// GPUs that are asked for and are not there are an error before StarPU starts.
void Runtime::require_gpus() const {
  if (options_.gpus <= 0) return;
  const std::string asked = fmt::format("{} GPU{} asked for", options_.gpus, options_.gpus == 1 ? "" : "s");
  if (!any_cuda_codelet()) throw RuntimeError(asked + ", but this build has no CUDA codelet");
  if (const int found = visible_gpus(); found < options_.gpus)
    throw RuntimeError(fmt::format("{}, {} found", asked, found));
}

/// Finds models, notes where they come from, and gives StarPU its directory.
void Runtime::prepare_surroundings(const std::string& host) {
  std::vector<std::string> codelets;
  for (const Codelet* codelet : Codelet::all())
    if (codelet->model() != PerformanceModel::cost) codelets.push_back(codelet->name());
  const PerformanceModels models = find_performance_models({info_.gpu_model, info_.cpu_model}, codelets);
  if (uses_performance_models(info_.scheduler)) {
    if (rank_ == 0)
      for (const std::string& warning : models.warnings) log(LogLevel::warning, warning);
    info_.performance_models = models.source.string();
    info_.shipped_performance_models = models.origin == ModelOrigin::shipped;
  }
  std::vector<std::string> read(Codelet::all().size());
  if (needs_codelet_models(info_.scheduler))
    for (const Codelet* codelet : Codelet::all())
      if (codelet->model() != PerformanceModel::cost)
        read[static_cast<std::size_t>(codelet->index())] = codelet->name();
  detail_->surroundings = std::make_unique<StarpuSurroundings>(models, read, host, options_.log);
}

/// Workers, scheduler and tracing as asked for, else from the environment, else from the machine.
void Runtime::start_starpu(int available_cores, bool own_mask, int local_rank, int local_ranks) {
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.precedence_over_environment_variables = 1;  // what the caller asks for wins; the rest is read here
  conf.catch_signals = 0;
  const bool compiled = any_cuda_codelet();
  conf.ncuda = !compiled || options_.gpus == 0 ? 0
               : options_.gpus > 0             ? options_.gpus
                                               : environment_number("STARPU_NCUDA").value_or(-1);
  const bool use_cuda = conf.ncuda != 0 && visible_gpus() > 0;
  if (use_cuda && local_ranks > 1) share_out_gpus(conf, local_rank, local_ranks);
  const int gpus = !use_cuda ? 0 : conf.ncuda < 0 ? visible_gpus() : std::min(conf.ncuda, visible_gpus());
  const int free = cores_for_workers(available_cores, gpus, size_);
  const int asked = options_.cores >= 0 ? options_.cores : environment_number("STARPU_NCPU").value_or(-1);
  conf.ncpus = asked >= 0 ? asked : std::min(free, max_cpu_workers(gpus, size_, options_.hybrid));
  info_.host_threads = std::max(1, asked >= 0 ? asked : free);
  conf.nopencl = 0;
  const char* scheduler = std::getenv("STARPU_SCHED");
  info_.scheduler = !options_.scheduler.empty() ? options_.scheduler
                    : scheduler && *scheduler   ? scheduler
                    : use_cuda                  ? "dmdas"
                                                : "lws";
  conf.sched_policy_name = info_.scheduler.c_str();
  if (use_cuda) info_.gpu_model = gpu_model();
  const std::string host = starpu_host_name(rank_);
  prepare_surroundings(host);
  const bool crowded = !options_.bind || !own_mask || conf.ncpus + gpus > available_cores;
  // The thread that brings the messages has no core to itself. (On 15 cores 15 ranks, six of two workers and
  // three of five took as long with 100 us between its looks as with 50, and 4 to 9 % longer with 200.)
  const bool no_core_to_spare = size_ > 1 && conf.ncpus + gpus + 1 > available_cores;
  const bool traced = !options_.trace_directory.empty();
  const TemporaryVariable silent("STARPU_SILENT", "1");
  // StarPU carves small buffers out of chunks of 32 MiB, of which it keeps four even when they are empty: too
  // much of a small memory.
  const int gpu_limit = environment_number("STARPU_LIMIT_CUDA_MEM").value_or(-1);
  const TemporaryVariable no_chunks("STARPU_SUBALLOCATOR", "0", gpu_limit >= 0 && gpu_limit < 2048);
  // It counts the host's memory where there are GPUs, and knows of the machine's alone.
  const SystemMemory memory = system_memory();
  const std::size_t most = std::min(memory.most, memory.own_most);
  const TemporaryVariable host_limit("STARPU_LIMIT_CPU_MEM", fmt::to_string((most - most / 10) >> 20),
                                     use_cuda && most < physical_memory());
  const TemporaryVariable no_bind("STARPU_WORKERS_NOBIND", "1", crowded);
  const TemporaryVariable no_mpi_bind("STARPU_MPI_NOBIND", "1", crowded || no_core_to_spare);
  const TemporaryVariable polling_pause("STARPU_MPI_POLLING_PAUSE", "50", no_core_to_spare);
  const TemporaryVariable trace("STARPU_FXT_TRACE", "1", traced);
  // StarPU puts this before the names of its files.
  const TemporaryVariable trace_prefix("STARPU_FXT_PREFIX", options_.trace_directory + '/', traced);
  const TemporaryVariable trace_suffix("STARPU_FXT_SUFFIX", fmt::format("prof_file_{}", rank_), traced);
  const StarpuVariables places(*detail_->surroundings, host);
  // GPUs of one kind learn from each other, and what a GPU has done three times alike is known: an unknown
  // task is placed without regard to where its data are.
  const TemporaryVariable one_kind("STARPU_PERF_MODEL_HOMOGENEOUS_CUDA", "1", !info_.gpu_model.empty());
  const TemporaryVariable few_samples("STARPU_CALIBRATE_MINIMUM", "3", use_cuda);
  starpu_fxt_autostart_profiling(traced ? 1 : 0);

  prepare_codelets(use_cuda, options_.hybrid);
  if (!use_cuda) start_host_memory();
#if TESSERA_WITH_CUDA
  const int gpu = use_cuda ? current_gpu() : -1;
#endif
  const int result = size_ > 1 ? starpu_mpi_init_conf(nullptr, nullptr, 0, detail_->communicator, &conf)
                               : starpu_init(&conf);
#if TESSERA_WITH_CUDA
  // StarPU leaves another one behind when it has measured the buses. Not chosen in vain: that takes memory.
  if (gpu >= 0 && current_gpu() != gpu) cudaSetDevice(gpu);
#endif
  if (result != 0)
    throw RuntimeError(fmt::format("StarPU cannot start with {} CPU and {} CUDA workers (error {})",
                                   conf.ncpus, conf.ncuda, result));
  detail_->surroundings->keep();  // buses take long to measure
  workers_ = static_cast<int>(starpu_worker_get_count());
  info_.cuda_workers = static_cast<int>(starpu_cuda_worker_get_count());
  static bool ever_with_gpus = false;
  ever_with_gpus = ever_with_gpus || info_.cuda_workers > 0;
  detail_->workers_copy = ever_with_gpus;
  const auto give_up = [this](const std::string& why) {
    size_ > 1 ? (void)starpu_mpi_shutdown() : starpu_shutdown();
    throw RuntimeError(why);
  };
  if (options_.gpus > 0 && info_.cuda_workers < options_.gpus)
    give_up(fmt::format("{} GPUs asked for, {} found", options_.gpus, info_.cuda_workers));
  if (info_.cuda_workers > 0) {
#if TESSERA_WITH_CUDA
    if (const std::string failure = open_cuda_handles(*detail_); !failure.empty()) give_up(failure);
    detail_->sends_from_gpus = size_ > 1 && sends_from_gpus(*this);
    // A CUDA-aware MPI also moves StarPU-MPI's messages on while this thread waits in a collective.
    if (detail_->sends_from_gpus) cudaSetDevice(first_gpu());
#endif
  }
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
  set_blas_threads(detail_->saved_blas_threads);
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
