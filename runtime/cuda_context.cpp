// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#if TESSERA_WITH_CUDA

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>

#include <fmt/format.h>

#include <tessera/runtime/cuda_codelet.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera {

struct DeviceFailure::Slot {
  long long index = 0;
  TaskHeader* header;
  StatusCode code;
  Index offset = 0;
  Slot* next = nullptr;  ///< another failure of the same task
  std::atomic<bool> busy = false;
};

namespace {

/// One worker's.
struct CudaHandles {
  cublasHandle_t cublas = nullptr;
  cusolverDnHandle_t cusolver = nullptr;
};

CudaHandles& local_handles() noexcept {
  static std::array<CudaHandles, STARPU_NMAXWORKERS> handles;
  return handles[static_cast<std::size_t>(starpu_worker_get_id_check())];
}

/// Slots in pinned memory, used in turn; a task in flight holds one or two, so a busy one is soon free.
template <class Slot>
Slot& take_slot() {
  constexpr std::size_t count = 256;
  static Slot* const slots = [] {
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, count * sizeof(Slot), cudaHostAllocPortable | cudaHostAllocMapped) !=
        cudaSuccess)
      std::terminate();
    return static_cast<Slot*>(std::memset(memory, 0, count * sizeof(Slot)));
  }();
  static std::atomic<std::size_t> next = 0;
  for (;;) {
    Slot& slot = slots[next++ % count];
    if (!slot.busy.exchange(true)) return slot;
  }
}

}  // namespace

DeviceFailure::DeviceFailure(const TaskContext& task, StatusCode code) noexcept : slot_(&take_slot<Slot>()) {
  slot_->index = 0;
  // The header lies in the task's own argument block, which this worker alone uses until the task has ended.
  slot_->header = const_cast<TaskHeader*>(&task.header());
  slot_->code = code;
}

long long* DeviceFailure::index() const noexcept {
  return &slot_->index;
}

void DeviceFailure::report(Index offset) noexcept {
  slot_->offset = offset;
  slot_->next = static_cast<Slot*>(slot_->header->failure);
  slot_->header->failure = slot_;
  slot_->header->at_end = &DeviceFailure::finish;
}

void DeviceFailure::finish(TaskHeader& header) noexcept {
  for (auto* slot = static_cast<Slot*>(header.failure); slot;) {
    Slot* const next = slot->next;
    if (slot->index > 0) TaskContext(header).fail(slot->code, slot->offset + static_cast<Index>(slot->index));
    slot->busy = false;
    slot = next;
  }
}

std::string open_cuda_handles() {
  struct Shared {
    std::mutex mutex;
    std::string failure;
  } shared;
  const auto open = [](void* argument) {
    CudaHandles& handles = local_handles();
    const cudaStream_t stream = starpu_cuda_get_local_stream();
    cublasStatus_t cublas = cublasCreate(&handles.cublas);
    if (cublas == CUBLAS_STATUS_SUCCESS) cublas = cublasSetStream(handles.cublas, stream);
    cusolverStatus_t cusolver = cusolverDnCreate(&handles.cusolver);
    if (cusolver == CUSOLVER_STATUS_SUCCESS) cusolver = cusolverDnSetStream(handles.cusolver, stream);
    const cudaError_t error = cudaStreamSynchronize(stream);
    if (cublas == CUBLAS_STATUS_SUCCESS && cusolver == CUSOLVER_STATUS_SUCCESS && error == cudaSuccess)
      return;
    auto& all = *static_cast<Shared*>(argument);
    const std::lock_guard lock(all.mutex);
    all.failure =
        fmt::format("GPU {}: cuBLAS and cuSOLVER do not start: {}, cuSOLVER's status {}, {}",
                    starpu_worker_get_devid(starpu_worker_get_id_check()), cublasGetStatusString(cublas),
                    static_cast<int>(cusolver), cudaGetErrorString(error));
  };
  starpu_execute_on_each_worker(open, &shared, STARPU_CUDA);
  return shared.failure;
}

void close_cuda_handles() noexcept {
  const auto close = [](void*) {
    CudaHandles& handles = local_handles();
    if (handles.cusolver) cusolverDnDestroy(handles.cusolver);
    if (handles.cublas) cublasDestroy(handles.cublas);
    handles = {};
    cudaStreamSynchronize(starpu_cuda_get_local_stream());
  };
  starpu_execute_on_each_worker(close, nullptr, STARPU_CUDA);
}

namespace internal {

CudaContext cuda_context() noexcept {
  const CudaHandles& handles = local_handles();
  return {starpu_cuda_get_local_stream(), handles.cublas, handles.cusolver};
}

void forget_cuda_errors() noexcept {
  cudaGetLastError();
}

void require_cuda_success(const TaskHeader& header) noexcept {
  const cudaError_t error = cudaGetLastError();
  // Queries of events and streams leave "not ready" behind.
  if (error == cudaSuccess || error == cudaErrorNotReady) return;
  std::fprintf(stderr, "Tessera: codelet %s on a GPU: %s (%s)\n",
               Codelet::all()[static_cast<std::size_t>(header.codelet)]->name().c_str(),
               cudaGetErrorString(error), cudaGetErrorName(error));
  std::abort();
}

}  // namespace internal
}  // namespace tessera

#endif  // TESSERA_WITH_CUDA
