// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>

namespace tessera::detail {

/// Where the system's figures are read; tests have their own.
struct SystemFiles {
  std::filesystem::path proc = "/proc", cgroups = "/sys/fs/cgroup";
};

/// Bytes; the largest number where nothing is known.
struct SystemMemory {
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  /// Shared with the other processes: of the machine, or of the control group of this process (version 1 or
  /// 2, its parents included) that leaves the least. `available` is what can be had now: what the system
  /// would free of its file caches counts as free.
  std::size_t most = unlimited, available = unlimited;
  /// Of this process alone: its address space (RLIMIT_AS).
  std::size_t own_most = unlimited, own_available = unlimited;
};

/// What cannot be read or understood is no limit.
SystemMemory system_memory(const SystemFiles& files = {});

/// The machine's memory as the system reports it, bytes.
std::size_t physical_memory() noexcept;

}  // namespace tessera::detail
