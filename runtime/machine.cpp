// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hwloc.h>

#include <tessera/runtime/machine.hpp>
#include <tessera/runtime/system_memory.hpp>

namespace tessera::detail {

Machine inspect_machine() {
  Machine machine;
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return machine;
  if (hwloc_topology_load(topology) == 0) {
    hwloc_cpuset_t allowed = hwloc_bitmap_alloc();
    if (hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) != 0 || hwloc_bitmap_iszero(allowed))
      hwloc_bitmap_copy(allowed, hwloc_topology_get_allowed_cpuset(topology));
    int cores = 0;
    for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core));)
      cores += hwloc_bitmap_intersects(core->cpuset, allowed) ? 1 : 0;
    machine.physical_cores = std::max(cores, 1);
    machine.total_cores =
        std::max(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE), machine.physical_cores);
    machine.numa_nodes = std::max(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE), 1);
    machine.memory_restricted = !hwloc_bitmap_isequal(hwloc_topology_get_allowed_nodeset(topology),
                                                      hwloc_topology_get_complete_nodeset(topology));
    machine.memory_bytes = static_cast<std::int64_t>(hwloc_get_root_obj(topology)->total_memory);
    if (!machine.memory_restricted)
      machine.memory_bytes = std::max(machine.memory_bytes, static_cast<std::int64_t>(physical_memory()));
    if (hwloc_obj_t cache = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_L2CACHE, nullptr))
      machine.l2_bytes = static_cast<std::int64_t>(cache->attr->cache.size);
    if (hwloc_obj_t cache = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_L3CACHE, nullptr))
      machine.l3_bytes = static_cast<std::int64_t>(cache->attr->cache.size);
    hwloc_obj_t package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, nullptr);
    if (package)
      if (const char* model = hwloc_obj_get_info_by_name(package, "CPUModel")) machine.cpu_model = model;
    hwloc_bitmap_free(allowed);
  }
  hwloc_topology_destroy(topology);
  return machine;
}

int first_gpu_of_rank(int local_rank, int local_ranks, int gpus, int visible) {
  return local_ranks * gpus <= visible ? local_rank * gpus : local_rank * visible / local_ranks;
}

int cores_for_workers(int cores, int gpus, int ranks) {
  constexpr int few = 8;
  if (gpus == 0 && cores <= few) return cores;
  return std::max(1, cores - gpus - (ranks > 1 ? 2 : 1));
}

}  // namespace tessera::detail
