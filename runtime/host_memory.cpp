// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>

#include <tessera/error.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/sequence_state.hpp>
#include <tessera/runtime/system_memory.hpp>

namespace tessera::detail {

namespace {

/// What the C library keeps by itself anyway.
constexpr std::size_t small = std::size_t(1) << 17;

/// The next multiple of an eighth of a power of two, so that pieces of nearly one size fit each other's
/// place.
std::size_t rounded(std::size_t bytes) {
  const std::size_t step = std::max<std::size_t>(std::bit_floor(bytes) / 8, 4096);
  return (bytes + step - 1) / step * step;
}

std::unique_ptr<HostMemory> active;

std::atomic<std::uint64_t> refusals = 0;
std::atomic<bool> refuses = false;

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// What all data of this rank may take together of the host's memory; the same and the GPUs' memory.
std::size_t limit = unlimited, limit_with_gpus = unlimited;

/// Bytes of the pieces that this rank holds and that StarPU finds the memory for.
std::atomic<std::size_t> live = 0;

std::size_t left_for_pieces() noexcept {
  return limit_with_gpus - std::min(limit_with_gpus, live.load());
}

/// StarPU's memory nodes of the host: one, or with STARPU_USE_NUMA one of each NUMA node.
template <class Visit>
void for_host_nodes(const Visit& visit) {
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); ++node)
    if (starpu_node_get_kind(node) == STARPU_CPU_RAM) visit(node);
}

/// What StarPU may take by its own account; 0: it sees no limit.
std::size_t counted_limit() {
  std::size_t sum = 0;
  for_host_nodes([&](unsigned node) {
    if (const starpu_ssize_t total = starpu_memory_get_total(node); total > 0)
      sum += static_cast<std::size_t>(total);
  });
  return sum;
}

/// OpenBLAS takes so much address space for each thread that computes, when it first does, and where there is
/// none it tries for ever.
constexpr std::size_t blas_buffer = std::size_t(128) << 20;
std::size_t blas_buffers() {
  return blas_buffer * (starpu_worker_get_count() + 1);
}

std::size_t own_address_space(const SystemMemory& system) {
  if (system.own_available == SystemMemory::unlimited) return system.own_available;
  return system.own_available - std::min(system.own_available, blas_buffers());
}

std::string in_units(double bytes) {
  constexpr double mebibyte = 1 << 20, gibibyte = 1 << 30;
  if (bytes >= 0x1p60) return fmt::format("{:.3g} GiB", bytes / gibibyte);
  return bytes >= gibibyte ? fmt::format("{:.1f} GiB", bytes / gibibyte)
                           : fmt::format("{:.1f} MiB", bytes / mebibyte);
}

int allocate_hook(unsigned, void** memory, std::size_t bytes, int) {
  *memory = refuses.load(std::memory_order_relaxed) ? nullptr : active->allocate(bytes);
  if (*memory) return 0;
  refusals.fetch_add(1, std::memory_order_relaxed);
  return -ENOMEM;
}

int free_hook(unsigned, void* memory, std::size_t, int) {
  active->free(memory);
  return 0;
}

}  // namespace

HostMemory::~HostMemory() {
  for (const auto& [size, pieces] : kept_)
    for (void* const memory : pieces) munmap(memory, size);
}

void* HostMemory::allocate(std::size_t bytes) noexcept {
  if (bytes < small) return std::malloc(bytes);
  const std::size_t size = rounded(bytes);
  try {
    const std::lock_guard lock(mutex_);
    void* memory = take_kept(size);
    if (!memory) {
      make_room(size);
      memory = map(size);
    }
    if (!memory) return nullptr;
    try {
      used_.emplace(memory, size);
    } catch (const std::bad_alloc&) {
      munmap(memory, size);
      return nullptr;
    }
    in_use_ += size;
    max_in_use_ = std::max(max_in_use_, in_use_);
    return memory;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// New memory; where the system has none left, all that is kept goes back to it first.
void* HostMemory::map(std::size_t size) {
  for (;;) {
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) return memory;
    if (kept_.empty()) return nullptr;
    give_back_largest();
  }
}

void HostMemory::give_back_largest() {
  const std::size_t largest = kept_.rbegin()->first;
  munmap(take_kept(largest), largest);
}

/// A kept piece of this size, or null.
void* HostMemory::take_kept(std::size_t size) {
  const auto found = kept_.find(size);
  if (found == kept_.end()) return nullptr;
  void* const memory = found->second.back();
  found->second.pop_back();
  if (found->second.empty()) kept_.erase(found);
  idle_ -= size;
  return memory;
}

/// Gives kept pieces back to the system, the largest first, until there is room for one more piece.
void HostMemory::make_room(std::size_t size) {
  while (!kept_.empty() && in_use_ + idle_ + size > max_in_use_) give_back_largest();
}

void HostMemory::free(void* memory) noexcept {
  const std::unique_lock lock(mutex_);
  const auto found = used_.find(memory);
  if (found == used_.end()) return std::free(memory);
  const std::size_t size = found->second;
  used_.erase(found);
  in_use_ -= size;
  try {
    kept_[size].push_back(memory);
    idle_ += size;
  } catch (const std::bad_alloc&) {
    munmap(memory, size);
  }
}

std::size_t HostMemory::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

std::size_t HostMemory::bytes_kept() const {
  const std::lock_guard lock(mutex_);
  return idle_;
}

void start_host_memory() {
  active = std::make_unique<HostMemory>();
  starpu_malloc_set_hooks(allocate_hook, free_hook);
}

void stop_host_memory() noexcept {
  if (!active) return;
  starpu_malloc_set_hooks(nullptr, nullptr);
  active.reset();
}

void refuse_host_memory() noexcept {
  refuses = true;
}

std::uint64_t host_memory_refusals() noexcept {
  return refusals.load(std::memory_order_relaxed);
}

void choose_host_memory_limit(bool restricted) {
  const SystemMemory system = system_memory();
  if (own_address_space(system) == 0)
    throw RuntimeError(memory_refusal("BLAS with its buffers", static_cast<double>(blas_buffers()),
                                      "address space (ulimit -v)",
                                      static_cast<double>(system.own_available)));
  const std::size_t most = std::min(system.most, system.own_most), usable = most - most / 10;
  const std::size_t counted = counted_limit();
  const bool given = std::getenv("STARPU_LIMIT_CPU_MEM") || std::getenv("STARPU_LIMIT_CPU_NUMA_MEM") ||
                     std::getenv("STARPU_USE_NUMA");
  const bool holds = counted > 0 && (restricted || given);
  limit = limit_with_gpus = holds ? std::min(counted, usable) : usable;
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); ++node)
    if (const starpu_ssize_t total = starpu_memory_get_total(node);
        starpu_node_get_kind(node) == STARPU_CUDA_RAM && total > 0)
      limit_with_gpus += static_cast<std::size_t>(total);
  live = 0;
  // With GPUs StarPU keeps released memory, which it gives back only when it counts; limits are whole MiB.
  const bool counts = !active && (holds || counted + (std::size_t(1) << 20) >= usable);
  for_host_nodes([&](unsigned node) {
    starpu_malloc_on_node_set_default_flags(
        node, counts ? STARPU_MALLOC_PINNED | STARPU_MALLOC_COUNT : STARPU_MALLOC_PINNED);
  });
}

std::size_t host_memory_limit() noexcept {
  return limit;
}

std::size_t idle_host_memory() {
  const std::size_t heap = mallinfo2().fordblks;
  if (active) return active->bytes_kept() + heap;
  std::size_t used = 0;
  for_host_nodes([&](unsigned node) { used += starpu_memory_get_used(node); });
  return used - std::min(used, live.load()) + heap;
}

std::size_t shared_host_memory() {
  // A sixteenth is for what grows beside the data.
  const std::size_t free = system_memory().available;
  return free - free / 16;
}

std::size_t available_host_memory() {
  const SystemMemory system = system_memory();
  const std::size_t free = std::min(system.available, own_address_space(system));
  return std::min(left_for_pieces(), free - free / 16 + idle_host_memory());
}

void require_host_memory(std::string_view what, double bytes) {
  if (const auto left = static_cast<double>(left_for_pieces()); bytes > left)
    throw RuntimeError(memory_refusal(what, bytes, "host memory on this rank", left));
  if (bytes < worth_looking) return;
  // To ask the system takes time. A small part of the memory that was free a moment ago is still free.
  static std::atomic<double> looked = -1, found = 0;
  constexpr double moment = 1, small_part = 0.25;
  const double now = detail::now();
  if (looked >= 0 && now - looked < moment && bytes < small_part * found) return;
  const auto there = static_cast<double>(available_host_memory());
  looked = now;
  found = there;
  if (bytes > there) throw RuntimeError(memory_refusal(what, bytes, "host memory on this rank", there));
}

std::string memory_refusal(std::string_view what, double needed, std::string_view of, double there) {
  return fmt::format("{} needs {} of {}, and {} may be used", what, in_units(needed), of, in_units(there));
}

void hold_host_memory(std::size_t bytes) {
  const std::size_t before = live.fetch_add(bytes);
  if (bytes <= limit_with_gpus - std::min(limit_with_gpus, before)) return;
  live -= bytes;
  throw RuntimeError(fmt::format("a piece of {} would be beyond the {} of host memory that all data may take",
                                 in_units(static_cast<double>(bytes)), in_units(static_cast<double>(limit))));
}

void let_host_memory_go(std::size_t bytes) noexcept {
  live -= bytes;
}

}  // namespace tessera::detail
