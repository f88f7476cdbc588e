// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include <starpu.h>
#if TESSERA_WITH_MPI
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <starpu_mpi.h>
#else
#include <tessera/runtime/single_process.hpp>
#endif

#include <tessera/runtime/codelet.hpp>
#include <tessera/runtime/runtime.hpp>

/// StarPU's and MPI's side of the runtime; included by runtime/*.cpp only.
namespace tessera {

struct Runtime::Detail {
  MPI_Comm communicator = MPI_COMM_NULL;       ///< StarPU-MPI's own duplicate
  MPI_Comm host_communicator = MPI_COMM_NULL;  ///< ours, for the collectives of the submitting thread
  starpu_mpi_tag_t next_tag = 0;
  bool sends_from_gpus = false;  ///< see gpu_messages.hpp
  unsigned next_receiver = 0;    ///< GPU that gets the next copy from another rank, counted on without end
  int saved_blas_threads = 1;
  std::atomic<int> active_sequences = 0;  ///< workers are paused at 0
  std::mutex pause_mutex;
  bool paused = false;
  /// Memory of pieces of at least so many bytes is not kept for reuse, see ReturnedMemory.
  std::size_t unkept_bytes = std::numeric_limits<std::size_t>::max();

  /// Tasks are pending that will never end: nothing waits for them, and StarPU is not shut down.
  bool abandoned = false;

  void activate();
  void deactivate();
  void abandon() noexcept;
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
std::string open_cuda_handles();
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

}  // namespace tessera
