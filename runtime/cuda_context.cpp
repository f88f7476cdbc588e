// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#if TESSERA_WITH_CUDA

#include <atomic>
#include <cstring>
#include <exception>
#include <memory>

#include <tessera/runtime/cuda_codelet.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera {

struct DeviceFailure::Slot {
  long long index = 0;
  TaskContext task;
  StatusCode code;
  Index offset = 0;
  std::atomic<bool> busy = false;
};

namespace {

/// Slots in pinned memory, used in turn; a task in flight holds one at most, so a busy one is soon free.
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

DeviceFailure::DeviceFailure(const TaskContext& task, const CudaContext& context, StatusCode code) noexcept
    : slot_(&take_slot<Slot>()), stream_(context.stream) {
  slot_->index = 0;
  std::construct_at(&slot_->task, task);
  slot_->code = code;
}

long long* DeviceFailure::index() const noexcept {
  return &slot_->index;
}

void DeviceFailure::report(Index offset) noexcept {
  slot_->offset = offset;
  cudaLaunchHostFunc(stream_, &DeviceFailure::finish, slot_);
}

void DeviceFailure::finish(void* argument) noexcept {
  Slot& slot = *static_cast<Slot*>(argument);
  if (slot.index > 0) slot.task.fail(slot.code, slot.offset + static_cast<Index>(slot.index));
  slot.busy = false;
}

namespace internal {

CudaContext cuda_context() noexcept {
  return {starpu_cuda_get_local_stream(), starpu_cublas_get_local_handle(),
          starpu_cusolverDn_get_local_handle()};
}

}  // namespace internal
}  // namespace tessera

#endif  // TESSERA_WITH_CUDA
