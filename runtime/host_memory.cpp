// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tessera/runtime/error.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera {
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

/// Nine tenths of the machine's memory where StarPU does not count what data take of it; otherwise 0.
std::size_t uncounted = 0;

int allocate_hook(unsigned, void** memory, std::size_t bytes, int) {
  *memory = active->allocate(bytes);
  return *memory ? 0 : -ENOMEM;
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
      memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) return nullptr;
    }
    used_.emplace(memory, size);
    in_use_ += size;
    most_in_use_ = std::max(most_in_use_, in_use_);
    return memory;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
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
  while (!kept_.empty() && in_use_ + idle_ + size > most_in_use_) {
    const std::size_t largest = kept_.rbegin()->first;
    munmap(take_kept(largest), largest);
  }
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

void choose_host_memory_limit(bool restricted) {
  uncounted = 0;
  const std::size_t usable = physical_memory() / 10 * 9;
  const starpu_ssize_t counted = starpu_memory_get_total(STARPU_MAIN_RAM);
  const bool given = std::getenv("STARPU_LIMIT_CPU_MEM") || std::getenv("STARPU_LIMIT_CPU_NUMA_MEM") ||
                     std::getenv("STARPU_USE_NUMA");
  if (!restricted && !given && counted > 0 && static_cast<std::size_t>(counted) < usable) uncounted = usable;
  starpu_malloc_on_node_set_default_flags(
      STARPU_MAIN_RAM, uncounted > 0 ? STARPU_MALLOC_PINNED : STARPU_MALLOC_PINNED | STARPU_MALLOC_COUNT);
}

std::size_t physical_memory() noexcept {
  return static_cast<std::size_t>(std::max(sysconf(_SC_PHYS_PAGES), 0L)) *
         static_cast<std::size_t>(std::max(sysconf(_SC_PAGE_SIZE), 0L));
}

std::size_t host_memory_limit() {
  if (uncounted > 0) return uncounted;
  const starpu_ssize_t counted = starpu_memory_get_total(STARPU_MAIN_RAM);
  return counted > 0 ? static_cast<std::size_t>(counted) : std::numeric_limits<std::size_t>::max();
}

void require_host_memory(std::string_view what, double bytes) {
  constexpr double mebibyte = 1 << 20;
  if (const std::size_t limit = host_memory_limit(); bytes > static_cast<double>(limit))
    throw RuntimeError(fmt::format("{} needs {:.0f} MiB of host memory, and data may take {} MiB", what,
                                   std::ceil(bytes / mebibyte), limit >> 20));
}

}  // namespace tessera
