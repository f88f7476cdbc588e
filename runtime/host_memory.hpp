// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::detail {

/// Large pieces of the host's memory, kept when they are given back, for the next of about their size: pages
/// that are new to the process must be cleared by the system one by one, which takes longer than to compute
/// their content where blocks are small. The memory in use and kept together never exceeds the largest amount
/// that was in use at one time. Thread-safe.
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
  void* map(std::size_t size);
  void give_back_largest();
  void make_room(std::size_t size);
  mutable std::mutex mutex_;
  std::unordered_map<void*, std::size_t> used_;         // large pieces and their sizes
  std::map<std::size_t, std::vector<void*>> kept_;      // by size
  std::size_t in_use_ = 0, max_in_use_ = 0, idle_ = 0;  // bytes
};

/// StarPU takes the host's memory for its data from a HostMemory until `stop`. For runs without GPUs, whose
/// memory StarPU pins and keeps by itself. To be called before StarPU starts, and after it has ended.
void start_host_memory();
void stop_host_memory() noexcept;

/// StarPU gets no more memory: what waits for it must never run.
void refuse_host_memory() noexcept;
/// Number of failed requests of StarPU for host memory.
std::uint64_t host_memory_refusals() noexcept;

/// What all data of this rank may take together: nine tenths of the machine's memory or of what this
/// process's control groups or address space are limited to, and STARPU_LIMIT_CPU_MEM at most. hwloc finds
/// only a part of a virtual machine's memory that was added after the start; where the process is restricted
/// to some NUMA nodes, it knows best. Without GPUs StarPU counts nothing, as it would wait for ever for what
/// is beyond: the limit is kept by those who ask before they work (require_memory), and by pieces that are
/// refused when they are made. To be called when StarPU has started, before there are data.
/// @throws RuntimeError if BLAS could not have its buffers in the address space that is left
void choose_host_memory_limit(bool restricted);
std::size_t host_memory_limit() noexcept;

/// Bytes that may still be allocated: the rest of the limit, or the free memory of the system with the file
/// caches that it would free and the memory that StarPU keeps for the next pieces.
std::size_t available_host_memory();

/// Its parts: the free memory for all ranks of the host, and the memory that this rank keeps unused.
std::size_t shared_host_memory();
std::size_t idle_host_memory();

/// For fewer bytes than this the library does not ask the system for its free memory.
inline constexpr double worth_looking = 64 << 20;

/// Whether `bytes` more bytes fit into the host's memory. (Where all ranks ask: require_memory, which knows
/// what ranks of one host need together.)
/// @throws RuntimeError, naming what needs it, if not
void require_host_memory(std::string_view what, double bytes);
/// "WHAT needs 5.1 GiB of OF, and 2.0 GiB may be used"
std::string memory_refusal(std::string_view what, double needed, std::string_view of, double there);

/// Count a piece of `bytes` bytes whose memory StarPU allocates, and its end.
/// @throws RuntimeError if all pieces together are beyond the limit
void hold_host_memory(std::size_t bytes);
void let_host_memory_go(std::size_t bytes) noexcept;

}  // namespace tessera::detail
