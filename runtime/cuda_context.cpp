// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#if TESSERA_WITH_CUDA

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

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

namespace internal {

CudaContext cuda_context() noexcept {
  return {starpu_cuda_get_local_stream(), starpu_cublas_get_local_handle(),
          starpu_cusolverDn_get_local_handle()};
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
