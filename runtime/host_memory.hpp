// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera {

/// Large pieces of the host's memory, kept when they are given back, for the next of about their size: pages
/// that are new to the process must be cleared by the system one by one, which takes longer than to compute
/// what small blocks are written into them. In use and kept together are never more than there were in use
/// at one time. Thread-safe.
class HostMemory {
 public:
  HostMemory() = default;
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  /// Null if there is no memory.
  void* allocate(std::size_t bytes) noexcept;
  void free(void* memory) noexcept;

  std::size_t bytes_in_use() const;
  std::size_t bytes_kept() const;

 private:
  void* take_kept(std::size_t size);
  void make_room(std::size_t size);
  mutable std::mutex mutex_;
  std::unordered_map<void*, std::size_t> used_;          // large pieces and their sizes
  std::map<std::size_t, std::vector<void*>> kept_;       // by size
  std::size_t in_use_ = 0, most_in_use_ = 0, idle_ = 0;  // bytes
};

/// StarPU takes the host's memory for its data from a HostMemory until `stop`. For runs without GPUs, whose
/// memory StarPU pins and keeps by itself. To be called before StarPU starts, and after it has ended.
void start_host_memory();
void stop_host_memory() noexcept;

/// What all data together may take. StarPU counts up to nine tenths of what hwloc finds, or up to
/// STARPU_LIMIT_CPU_MEM, and waits for ever for what is beyond. On virtual machines whose memory was added
/// after they started, hwloc finds a part of it only: where the system reports more, StarPU does not count,
/// and the limit is nine tenths of that; not where the process is restricted to some NUMA nodes, or StarPU by
/// its environment variables. To be called when StarPU has started, before there are data.
void choose_host_memory_limit(bool restricted);
std::size_t host_memory_limit();
/// The machine's memory as the system reports it, bytes.
std::size_t physical_memory() noexcept;

/// Whether data of so many bytes fit into the host's memory. What other data hold is not looked at.
/// @throws RuntimeError, naming what needs it, if not
void require_host_memory(std::string_view what, double bytes);

}  // namespace tessera
