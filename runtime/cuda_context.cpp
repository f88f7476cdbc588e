// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#if TESSERA_WITH_CUDA

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <tessera/runtime/device_task.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera::detail {

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

/// Slots of DeviceFailure in pinned memory, used as a ring; a task in flight holds one or two, so a busy one
/// is soon free. They are allocated before the first task and never freed.
constexpr std::size_t slot_bytes = 64, slot_count = 256;
std::byte* slots = nullptr;

cudaError_t make_slots() {
  if (slots) return cudaSuccess;
  void* memory = nullptr;
  const cudaError_t error =
      cudaHostAlloc(&memory, slot_count * slot_bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  if (error != cudaSuccess) return error;
  slots = static_cast<std::byte*>(std::memset(memory, 0, slot_count * slot_bytes));
  return cudaSuccess;
}

template <class Slot>
Slot& take_slot() {
  static_assert(sizeof(Slot) <= slot_bytes);
  static std::atomic<std::size_t> next = 0;
  for (;;) {
    Slot& slot = *reinterpret_cast<Slot*>(slots + next++ % slot_count * slot_bytes);
    if (!slot.busy.exchange(true)) return slot;
  }
}

/// The Runtime's, for the hook: StarPU hands nothing on.
std::atomic<Runtime::Detail*> current = nullptr;

/// A call of CUDA has failed in StarPU, which would end the process: nothing on that GPU can be trusted any
/// more. Whoever waits throws it instead, and this worker does nothing for ever.
void park_lost_gpu(const char* where, cudaError_t error) {
  Runtime::Detail* const detail = current.load();
  if (!detail) return;
  detail->lose_gpu(fmt::format("GPU {}: {} (in {})", starpu_worker_get_devid(starpu_worker_get_id_check()),
                               cudaGetErrorString(error), where));
  for (;;) pause();
}

/// Where StarPU looks for it (tools/lib/starpu-cuda-error.patch); null in one without that patch.
void (**error_hook())(const char*, cudaError_t) {
  return reinterpret_cast<void (**)(const char*, cudaError_t)>(dlsym(RTLD_DEFAULT, "starpu_cuda_error_hook"));
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

std::string open_cuda_handles(Runtime::Detail& detail) {
  struct Shared {
    std::mutex mutex;
    std::string failure;
  } shared;
  current = &detail;
  if (auto* const hook = error_hook()) *hook = park_lost_gpu;
  if (const cudaError_t error = make_slots(); error != cudaSuccess)
    return fmt::format("page-locked host memory for the GPUs' messages: {}", cudaGetErrorString(error));
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
  current = nullptr;
  starpu_execute_on_each_worker(close, nullptr, STARPU_CUDA);
}

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
  TaskContext(header).fail(fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error)));
}

}  // namespace tessera::detail

#endif  // TESSERA_WITH_CUDA
