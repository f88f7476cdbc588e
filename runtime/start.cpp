// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How StarPU starts.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/runtime/gpu_messages.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/machine.hpp>
#include <tessera/runtime/performance_models.hpp>
#include <tessera/runtime/starpu_detail.hpp>
#include <tessera/runtime/starpu_environment.hpp>
#include <tessera/runtime/starpu_surroundings.hpp>
#include <tessera/runtime/start.hpp>
#include <tessera/runtime/system_memory.hpp>
#if TESSERA_WITH_CUDA
#include <cuda_runtime.h>
#endif

namespace tessera::detail {

namespace {

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

bool any_cuda_codelet() {
  return std::any_of(Codelet::all().begin(), Codelet::all().end(),
                     [](const Codelet* c) { return c->has_cuda(); });
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

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
Runtime::Start Runtime::plan_start(int available_cores, bool own_mask, int local_rank, int local_ranks) {
  Start how;
  starpu_conf& conf = how.conf;
  starpu_conf_init(&conf);
  conf.precedence_over_environment_variables = 1;  // what the caller asks for wins; the rest is read here
  conf.catch_signals = 0;
  conf.bus_calibrate = 0;  // not in this process: prepare_buses
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
  how.uses_gpus = use_cuda;
  how.host = starpu_host_name(rank_);
  prepare_surroundings(how.host);
  how.crowded = !options_.bind || !own_mask || conf.ncpus + gpus > available_cores;
  // The thread that brings the messages has no core to itself.
  how.no_core_to_spare = size_ > 1 && conf.ncpus + gpus + 1 > available_cores;
  return how;
}

/// Starts StarPU as planned.
void Runtime::start_starpu(const Start& how) {
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
                                     how.uses_gpus && most < physical_memory());
  const TemporaryVariable no_bind("STARPU_WORKERS_NOBIND", "1", how.crowded);
  const TemporaryVariable no_mpi_bind("STARPU_MPI_NOBIND", "1", how.crowded || how.no_core_to_spare);
  const TemporaryVariable polling_pause("STARPU_MPI_POLLING_PAUSE", "50", how.no_core_to_spare);
  const TemporaryVariable trace("STARPU_FXT_TRACE", "1", traced);
  // StarPU puts this before the names of its files.
  const TemporaryVariable trace_prefix("STARPU_FXT_PREFIX", options_.trace_directory + '/', traced);
  const TemporaryVariable trace_suffix("STARPU_FXT_SUFFIX", fmt::format("prof_file_{}", rank_), traced);
  const StarpuVariables places(*detail_->surroundings, how.host);
  // GPUs of one kind learn from each other, and what a GPU has done three times alike is known: an unknown
  // task is placed without regard to where its data are.
  const TemporaryVariable one_kind("STARPU_PERF_MODEL_HOMOGENEOUS_CUDA", "1", !info_.gpu_model.empty());
  const TemporaryVariable few_samples("STARPU_CALIBRATE_MINIMUM", "3", how.uses_gpus);
  starpu_fxt_autostart_profiling(traced ? 1 : 0);

  prepare_codelets(how.uses_gpus, options_.hybrid);
  if (!how.uses_gpus) start_host_memory();
#if TESSERA_WITH_CUDA
  const int gpu = how.uses_gpus ? current_gpu() : -1;
#endif
  starpu_conf conf = how.conf;
  const int result = size_ > 1 ? starpu_mpi_init_conf(nullptr, nullptr, 0, detail_->communicator, &conf)
                               : starpu_init(&conf);
#if TESSERA_WITH_CUDA
  // The caller's stays what it was. Not chosen in vain: that takes memory.
  if (gpu >= 0 && current_gpu() != gpu) cudaSetDevice(gpu);
#endif
  if (result != 0)
    throw RuntimeError(fmt::format("StarPU cannot start with {} CPU and {} CUDA workers (error {})",
                                   how.conf.ncpus, how.conf.ncuda, result));
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

}  // namespace tessera
