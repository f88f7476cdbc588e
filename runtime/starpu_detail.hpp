// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include <tessera/runtime.hpp>
#include <tessera/runtime/alarm.hpp>
#include <tessera/runtime/blas_threads.hpp>
#include <tessera/runtime/codelet.hpp>
#include <tessera/runtime/mpi_headers.hpp>
#include <tessera/runtime/remote_copies.hpp>
#include <tessera/runtime/retired_data.hpp>

/// StarPU's and MPI's side of the runtime; included by runtime/*.cpp only.
namespace tessera::detail {

class SpareRecords;
class StarpuSurroundings;

/// Kernels of one worker that have begun and not ended, and those that have ended; written by that worker.
struct alignas(64) RunningKernels {
  std::atomic<int> count = 0;
  std::atomic<std::uint64_t> ended = 0;
};

struct Codelet::Detail {
  starpu_codelet codelet{};
  starpu_perfmodel model{};
  Footprint footprint = nullptr;
  Cost cost = nullptr;
};

inline starpu_data_handle_t starpu_handle(const Data& data) {
  return static_cast<starpu_data_handle_t>(data.handle());
}

/// Prepares every registered codelet for a starting StarPU: with `gpus` those that have a CUDA implementation
/// run on GPUs only; with `hybrid` only those whose CudaOptions say so.
void prepare_codelets(bool gpus, bool hybrid);
#if TESSERA_WITH_CUDA
/// Gives each GPU worker its handles of cuBLAS and cuSOLVER, on its stream; says what failed, or nothing.
/// (StarPU's own functions for this make handles of other libraries, too, and end the program if cuBLAS
/// fails.)
std::string open_cuda_handles(Runtime::Detail& detail);
void close_cuda_handles() noexcept;
#endif
/// StarPU's memory node that holds an address of the caller: a GPU's or main memory.
int memory_node_of(const Runtime& runtime, const void* memory);
/// The memory node of this rank's GPU number `gpu`.
int memory_node_of_gpu(int gpu);
/// Accesses the data on a memory node, after the tasks submitted so far, and lets go at once: with STARPU_R
/// they are copied there (a prefetch of StarPU would not wait for tasks that have not begun), with STARPU_W
/// get memory there.
void pass_on_node(starpu_data_handle_t handle, int node, starpu_data_access_mode mode);

}  // namespace tessera::detail

namespace tessera {

struct Runtime::Detail {
  const std::unique_ptr<detail::SpareRecords>
      spare_records;                           ///< first: sequences below may still give theirs back
  MPI_Comm communicator = MPI_COMM_NULL;       ///< StarPU-MPI's own duplicate
  MPI_Comm host_communicator = MPI_COMM_NULL;  ///< ours, for the collectives of the submitting thread
  MPI_Comm alarm_communicator = MPI_COMM_NULL;
  int rank = 0, ranks = 1;
  detail::Alarm alarm;
  bool claimed = false;                         ///< the process is this Runtime's
  int exceptions = std::uncaught_exceptions();  ///< in flight when the Runtime was made
  std::atomic<int> guards = 0, calls = 0;       ///< that are under way, one in another (agreement.hpp)
  std::exception_ptr agreed;                    ///< the last that all ranks have thrown together
  std::exception_ptr broken;    ///< the last that has ended a guarded work within the check of an agreement
  std::atomic<int> checks = 0;  ///< of agreements, under way
  /// Left behind by an exception within guarded work of several ranks: waited for when all ranks are known
  /// to have thrown it (finish_abandoned), never where they are not.
  std::vector<std::unique_ptr<detail::SequenceState>> abandoned;
  std::vector<starpu_data_handle_t> abandoned_data;
  bool finishes_abandoned = false;
  detail::RetiredData retired;
  std::mutex abandoned_mutex;                    ///< of abandoned_data
  std::atomic<bool> any_abandoned_data = false;  ///< tasks that use it do nothing: its memory may be gone
  std::array<detail::RunningKernels, STARPU_NMAXWORKERS> running;
  std::atomic<bool> gpu_lost = false;      ///< its kernels never end
  std::atomic<bool> idle_kernels = false;  ///< tasks do nothing from now on: the Runtime is poisoned
  starpu_mpi_tag_t next_tag = 0;
  bool sends_from_gpus = false;  ///< see gpu_messages.hpp
  unsigned next_receiver = 0;    ///< GPU that gets the next copy from another rank, counted on without end
  const std::shared_ptr<detail::RemoteCopies> remote_copies = std::make_shared<detail::RemoteCopies>();
  const pid_t process = ::getpid();  ///< that made the Runtime
  std::unique_ptr<detail::StarpuSurroundings> surroundings;
  std::atomic<std::uint64_t> sequences = 0;  ///< made so far
  std::atomic<std::uint64_t> waits = 0;      ///< see host_waits
  std::atomic<int> active_sequences = 0;     ///< workers are paused at 0
  std::mutex pause_mutex;
  std::optional<detail::OneBlasThread> one_blas_thread;  ///< while there are active sequences
  bool paused = false;
  /// Copies and memory on the host may be the work of workers: with GPUs, and ever after in the process, as
  /// StarPU 1.4 goes on to take the workers of its earlier lives into account.
  bool workers_copy = false;
  /// Memory of pieces of at least so many bytes is not kept for reuse, see ReturnedMemory.
  std::atomic<std::size_t> unkept_bytes = std::numeric_limits<std::size_t>::max();

  std::map<std::string, std::shared_ptr<void>, std::less<>> kept;  ///< see kept_with
  std::recursive_mutex kept_mutex;                                 ///< see lock_kept

  Detail();
  ~Detail();
  void activate();
  void deactivate();
  /// Within guarded work that an exception is about to leave on this rank, and maybe not on others.
  bool leaving_call(int size, int exceptions_before) const noexcept {
    return size > 1 && guards > 0 && std::uncaught_exceptions() > exceptions_before;
  }
  /// Waits until the kernels that run now have ended; others may have begun by then.
  void wait_for_running_kernels() noexcept;
  /// Wrapped data that an exception takes from the tasks which were to use it.
  void abandon_data(starpu_data_handle_t handle) noexcept;
  /// Whether the worker's present task is to use such data.
  bool uses_abandoned_data() noexcept;
  /// Lets no further kernel begin and waits for those that run: then the caller's memory is left alone.
  void stop_kernels() noexcept;
  /// Poisons the Runtime, on all ranks. Called by the worker of a GPU that no longer works.
  void lose_gpu(const std::string& reason) noexcept;
  /// Throws what has failed, on this rank or another, if anything has.
  void require_no_alarm();
};

}  // namespace tessera
