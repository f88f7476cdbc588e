// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/types.hpp>

namespace tessera {

/// The caller's MPI communicator without MPI's header: `Communicator::from_fortran(MPI_Comm_c2f(comm))`. A
/// default one stands for this process alone, and needs no MPI.
class Communicator {
 public:
  Communicator() = default;
  /// Of MPI_Comm_c2f.
  static Communicator from_fortran(int handle) { return Communicator(handle); }
  /// MPI_COMM_WORLD; MPI is initialised (and finalised at exit) if the caller has not done so.
  static Communicator world();
  /// It stands for this process alone.
  bool alone() const noexcept { return !set_; }
  /// MPI's handle, if it is not.
  int fortran_handle() const noexcept { return handle_; }

 private:
  explicit Communicator(int handle) : set_(true), handle_(handle) {}
  bool set_ = false;
  int handle_ = 0;
};

/// How much a message matters.
enum class LogLevel { debug, info, warning, error };
/// Where the library's messages go.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// How a Runtime starts.
struct RuntimeOptions {
  int cores = -1;  ///< CPU workers; -1: every physical core that this process may use, shared among the local
                   ///< ranks; with GPUs, or of more than 8, less one for each GPU, one for the thread that
                   ///< submits and, with several ranks, one for the thread that talks to them; and with GPUs
                   ///< at most 14, or 4 with several ranks, unless `hybrid`
  int gpus = -1;   ///< GPUs; -1: all visible ones when a CUDA codelet exists, 0: none. Asking for more than
                   ///< there are is an error
  bool hybrid =
      false;  ///< let CPUs run, too, what has a CUDA implementation, as the scheduler finds best: tasks
              ///< of at most 5e8 flops and 64 MiB, and not those of tasks that say otherwise.
              ///< Off: such tasks run on GPUs only, CPUs do the rest
  std::string
      scheduler{};  ///< StarPU policy; empty: STARPU_SCHED if set, else dmdas with GPUs and lws without
  bool synchronous = false;       ///< debugging: every task runs to its end at insertion
  std::string trace_directory{};  ///< non-empty: record an FxT trace there (written at shutdown)
  bool bind = true;               ///< bind workers to cores (off: oversubscribed test runs)
  LogSink log{};                  ///< the library prints nothing by itself
};

/// What the runtime found and decided.
struct RuntimeInfo {
  std::string version;         ///< of the library
  std::string commit;          ///< of the library's sources
  std::string starpu_version;  ///< of StarPU
  std::string mpi_version;     ///< of the MPI library; empty: a build without it
  std::string blas;            ///< name and configuration of the BLAS library
  std::string scheduler;       ///< StarPU's policy
  std::string host;            ///< name of the machine
  int cpu_workers = 0;         ///< of this rank
  int cuda_workers = 0;        ///< of this rank
  int ranks = 1;               ///< in all
  int physical_cores = 0;      ///< that this process may use
  int numa_nodes = 0;          ///< of the machine
  int host_threads = 1;  ///< for work outside tasks: as many as there would be CPU workers without a limit
  std::int64_t memory_bytes = 0;  ///< of the machine
  std::int64_t l2_bytes = 0;      ///< of a core's second cache
  std::int64_t l3_bytes = 0;      ///< of the third cache
  /// The processor's name.
  std::string cpu_model;
  /// The names of those in use.
  std::vector<std::string> gpus;
  std::string gpu_model;  ///< CUDA's name of the GPUs; empty: none used, or several kinds
  /// Where StarPU's performance models come from: a directory, or empty if StarPU starts from nothing or the
  /// scheduler needs none.
  std::string performance_models;
  bool shipped_performance_models = false;  ///< they came with Tessera, and StarPU works in a copy
  std::int64_t gpu_memory_bytes = 0;  ///< that StarPU may use on the smallest GPU of all ranks (nine tenths,
                                      ///< or STARPU_LIMIT_CUDA_MEM); 0 if a rank has none
};

/// Seconds that a worker spent executing and otherwise since the last reset (StarPU's profiling).
struct WorkerProfile {
  /// StarPU's name of the worker.
  std::string name;
  double executing = 0;  ///< seconds in tasks
  double sleeping = 0;   ///< seconds without work
  double overhead = 0;   ///< seconds in StarPU itself
  double total = 0;      ///< seconds in all
  Index tasks = 0;       ///< that it has run
};

/// Owns StarPU for its lifetime: starts it on the caller's communicator, pauses the workers while nothing is
/// submitted, and shuts down cleanly. One at a time in a process; start and stop as often as wanted.
/// Collective over the communicator, which the caller may free as soon as the Runtime is made.
///
/// Any thread may make, use and end it, one at a time; functions of the caller's that tasks call run on its
/// workers, several at once. Several ranks need MPI_THREAD_MULTIPLE; one rank needs no MPI, or any.
///
/// BLAS has one thread while work is in flight, and the caller's number of threads at all other times.
/// What the caller has on GPUs stays, and so does the calling thread's current GPU: the buses are measured, if
/// at all, by another process. A process that is forked from this one can end, or start another program; it
/// cannot use the Runtime. (docs/guide/embedding.md)
///
/// Destroyed by an exception on one of several ranks, or poisoned, it communicates no more: the others are
/// told, and StarPU stays as it is to the end of the process, which cannot start another Runtime.
/// @throws RuntimeError on all ranks when StarPU cannot start as asked on one, or a Runtime is alive already.
class Runtime {
 public:
  /// Starts StarPU; collective over the communicator.
  explicit Runtime(const RuntimeOptions& options = {}, Communicator communicator = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Of this process among those of the communicator.
  int rank() const noexcept { return rank_; }
  /// Number of ranks.
  int size() const noexcept { return size_; }
  /// Workers of this rank, of any kind.
  int workers() const noexcept { return workers_; }
  /// The smallest worker count of all ranks, at least 1: what decides the shape of a task graph must be equal
  /// on all ranks.
  int common_workers() const noexcept { return common_workers_; }
  /// GPUs that every rank has at least.
  int gpus() const noexcept { return gpus_; }
  /// The GPU of a rank for part number `part` of the `parts` that it has (Data::set_gpu): neighbours stay
  /// together. -1, any worker: with fewer than two GPUs, or where CPUs take part (RuntimeOptions::hybrid).
  int gpu_of_part(Index part, Index parts) const noexcept;
  /// Some rank has a GPU, this one or another.
  bool any_gpus() const noexcept { return any_gpus_; }
  /// CUDA's number of the first GPU that this rank works with; -1: it has none.
  int first_gpu() const noexcept;
  /// What was found and decided.
  const RuntimeInfo& info() const noexcept { return info_; }
  /// RuntimeOptions::synchronous.
  bool synchronous() const noexcept { return options_.synchronous; }
  /// Gives a message to RuntimeOptions::log.
  void log(LogLevel level, std::string_view message) const;

  /// Switches StarPU's profiling of workers and copies on or off and clears it.
  void profile(bool on);
  /// The workers' profiles; reading clears them.
  std::vector<WorkerProfile> worker_profiles() const;
  /// Bytes that StarPU copied between this rank's memories: from the host to its GPUs, back, and between
  /// GPUs. 0 without GPUs. Messages between ranks do not count. Reading clears the count.
  double bytes_moved() const;

  /// Runs `work` on the calling thread with the workers paused and BLAS set to `threads` threads (a peer
  /// library); afterwards BLAS has the caller's number again.
  /// @throws RuntimeError while a sequence is in flight.
  void run_exclusively(int threads, const std::function<void()>& work);

  /// A rank has failed where the others could not know it, or a GPU: every call throws what
  /// has failed.
  bool poisoned() const noexcept;
  /// Where it happened; -1: nowhere.
  int failed_rank() const noexcept;
  /// Ends all processes of MPI_COMM_WORLD at once, if MPI runs, else this one: for a program whose Runtime
  /// was poisoned. No destructor runs.
  [[noreturn]] static void abort_ranks(int exit_code);

  // Collectives on small host data for the layers above (a test of convergence, a range by value); no-ops
  // alone. They throw what another rank has failed with, meanwhile.
  /// Each value becomes the largest of all ranks.
  void all_reduce_max(double* values, Index count) const;
  /// Each value becomes the sum over all ranks.
  void all_reduce_sum(double* values, Index count) const;
  /// The bytes of rank `root` on every rank.
  void broadcast(void* bytes, Index count, int root) const;
  /// The bytes of every rank, by rank. Any length, in one process just the argument.
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> bytes) const;
  /// The same on rank `root`; nothing on the others.
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes, int root) const;
  /// pieces[r] goes to rank r: the bytes that each rank has for this one, by rank. Any lengths; in one process
  /// just the argument.
  /// @param pieces one for each rank
  std::vector<std::vector<std::byte>> all_to_all(std::vector<std::vector<std::byte>> pieces) const;
  /// Waits for all ranks.
  void barrier() const;
  /// key = {-(1 + stage), -index, code} of this rank's failure or zeros: becomes the earliest failure of all
  /// ranks. @return the rank that has it; -1: none has failed
  int all_reduce_first_failure(double key[3]) const;

  struct Detail;  // StarPU's and MPI's side
  /// For the library.
  Detail& detail() const noexcept { return *detail_; }

 private:
  std::vector<std::vector<std::byte>> gather_rounds(std::span<const std::byte> bytes, int root) const;
  std::vector<std::vector<std::byte>> exchange_rounds(
      const std::vector<std::vector<std::byte>>& pieces) const;
  void join(Communicator communicator);
  void start(const RuntimeOptions& options);
  void stop_starpu() noexcept;
  bool agrees_to_end() noexcept;
  void abandon() noexcept;
  void require_gpus() const;
  void prepare_surroundings(const std::string& host);
  struct Start;
  Start plan_start(int available_cores, bool own_mask, int local_rank, int local_ranks);
  void start_starpu(const Start& how);
  void agree_on_workers();
  void fill_info();
  void leave() noexcept;
  RuntimeOptions options_;
  RuntimeInfo info_;
  int rank_ = 0, size_ = 1, workers_ = 0, common_workers_ = 1, gpus_ = 0;
  std::unique_ptr<Detail> detail_;
  bool any_gpus_ = false;
};

namespace detail {

/// Work of all ranks that is under way. It tells the others at once what has ended it on this rank alone.
class Guard {
 public:
  explicit Guard(const Runtime& runtime) noexcept;
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  /// The exception that is being handled leaves the work.
  void failed() noexcept;

 protected:
  const Runtime& runtime_;
};

}  // namespace detail

/// Work of all ranks, of several public calls: whatever it throws on a rank, no other rank waits for that
/// one. For programs; the calls themselves are guarded.
template <class Work>
auto guarded(const Runtime& runtime, const Work& work) {
  detail::Guard guard(runtime);
  try {
    return work();
  } catch (...) {
    guard.failed();
    throw;
  }
}

/// The Runtime of calls that are given none: the one that is alive in the process, or else one with default
/// options, for this process alone, which this call makes. That one ends with the process, or by
/// end_default_runtime(); until then the process can make no other Runtime. What belongs to a Runtime
/// (matrices, vectors, Completions) must go before it.
/// @throws RuntimeError where StarPU cannot start
Runtime& default_runtime();

/// Ends the Runtime that default_runtime() has made, if it has made one. The next call without a Runtime
/// makes another one.
void end_default_runtime();

}  // namespace tessera
