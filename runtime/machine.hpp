// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace tessera::detail {

/// What hwloc says of the part of the machine that this process may use.
struct Machine {
  int physical_cores = 1;  ///< within the affinity mask
  int total_cores = 1;     ///< of the whole machine
  int numa_nodes = 1;
  bool memory_restricted = false;  ///< to some of the machine's NUMA nodes
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;  ///< one core's
  std::int64_t l3_bytes = 0;  ///< one cache's; 0 without one
  std::string cpu_model;
};

/// Reads the topology within the process's affinity mask.
Machine inspect_machine();

/// Number of the first of `gpus` successive GPUs (modulo `visible`) for a rank, where several share a host.
/// If there are enough each has its own; else the ranks that have one in common are neighbours.
int first_gpu_of_rank(int local_rank, int local_ranks, int gpus, int visible);

/// Of a rank's cores those that CPU workers should have. A GPU is fed by a thread that needs a core for
/// itself, and so do the one that submits and the one that talks to other ranks: idle workers poll, and a
/// worker or a launch that shares its core with another thread becomes several times slower, and with it what
/// waits for it. Without GPUs and with up to 8 cores, one more worker outweighs that.
int cores_for_workers(int cores, int gpus, int ranks);

}  // namespace tessera::detail
