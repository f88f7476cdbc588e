// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <starpu.h>

#include <tessera/runtime/buses.hpp>

namespace tessera::detail {

namespace {

/// All that CUDA shows, whatever this build or a Runtime uses. StarPU brings CUDA's library along.
unsigned gpus_that_starpu_sees() {
#ifdef STARPU_USE_CUDA
  int count = 0;
  const auto ask = reinterpret_cast<int (*)(int*)>(dlsym(RTLD_DEFAULT, "cudaGetDeviceCount"));
  if (ask && ask(&count) == 0) return static_cast<unsigned>(std::clamp(count, 0, STARPU_MAXCUDADEVS));
#endif
  return 0;
}

/// A square of numbers, by StarPU's numbers of the nodes: NUMA nodes first, then GPUs.
template <class Value>
std::string bus_matrix(const BusMachine& machine, const Value& value) {
  const unsigned nodes = machine.numa + machine.gpus;
  std::string text = "# nominal\n";
  for (unsigned from = 0; from < STARPU_MAXNODES; ++from)
    for (unsigned to = 0; to < STARPU_MAXNODES; ++to) {
      const char end = to + 1 == STARPU_MAXNODES ? '\n' : '\t';
      if (from >= nodes || to >= nodes)
        text += fmt::format("nan{}", end);
      else
        text +=
            fmt::format("{:e}{}", from == to ? 0.0 : value(from < machine.numa && to < machine.numa), end);
    }
  return text;
}

std::string bus_affinity(const BusMachine& machine) {
  std::string text = "# GPU\t";
  for (unsigned node = 0; node < machine.numa; ++node) text += fmt::format("NUMA{}\t", node);
  text += '\n';
  for (unsigned gpu = 0; gpu < machine.gpus; ++gpu) {
    text += fmt::format("{}\t", gpu);
    for (unsigned node = 0; node < machine.numa; ++node) text += fmt::format("{}\t", node);
    text += '\n';
  }
  return text;
}

}  // namespace

BusMachine inspect_buses() {
  BusMachine machine;
  machine.gpus = gpus_that_starpu_sees();
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return machine;
  if (const char* input = std::getenv("STARPU_HWLOC_INPUT"); input && *input)
    hwloc_topology_set_xml(topology, input);
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM);
  if (hwloc_topology_load(topology) == 0) {
    const bool cores = hwloc_get_type_depth(topology, HWLOC_OBJ_CORE) != HWLOC_TYPE_DEPTH_UNKNOWN;
    const int cpus = hwloc_get_nbobjs_by_type(topology, cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU);
    const int numa = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    machine.cpus = static_cast<unsigned>(std::max(cpus, 1));
    machine.numa = static_cast<unsigned>(std::clamp(numa, 1, STARPU_MAXNUMANODES));
  }
  hwloc_topology_destroy(topology);
  return machine;
}

bool fits(const BusNodes& nodes, const BusMachine& machine) noexcept {
  return nodes.numa == machine.numa && nodes.gpus == machine.gpus && nodes.devices == machine.gpus;
}

std::string flaw_of_bus_file(const std::string& what, const std::string& bytes,
                             std::optional<BusNodes>& nodes) {
  if (what == "config") {
    BusNodes found;
    std::string flaw = flaw_of_bus_config(bytes, found);
    if (flaw.empty()) nodes = found;
    return flaw;
  }
  if (what == "affinity") return flaw_of_bus_affinity(bytes, nodes);
  if (what == "latency" || what == "bandwidth") return flaw_of_bus_matrix(bytes, nodes);
  // Descriptions for a simulator, which the library does not read.
  return bytes.starts_with("<?xml") && bytes.ends_with("</platform>\n") ? "" : "is cut off";
}

std::string bus_config(const BusMachine& machine) {
  std::string text = fmt::format("# Current configuration\n{} # Number of CPUs\n{} # Number of NUMA nodes\n",
                                 machine.cpus, machine.numa);
  for (int type = STARPU_CPU_RAM + 1; type < STARPU_NRAM; ++type)
    text += fmt::format("{} # Number of {}\n", type == STARPU_CUDA_RAM ? machine.gpus : 0,
                        type == STARPU_CUDA_RAM ? "CUDA nodes" : "other nodes");
  return text;
}

BusFiles nominal_bus_files(const BusMachine& machine) {
  // In MB/s and microseconds: a link of PCIe 4.0 with 16 lanes, and main memory.
  const auto speed = [](bool memory) { return memory ? 4e4 : 2.5e4; };
  const auto latency = [](bool memory) { return memory ? 1.0 : 10.0; };
  const std::string platform = "<?xml version='1.0'?>\n<platform version=\"{}\">\n</platform>\n";
  return {{"config", bus_config(machine)},
          {"affinity", bus_affinity(machine)},
          {"latency", bus_matrix(machine, latency)},
          {"bandwidth", bus_matrix(machine, speed)},
          {"platform.v4.xml", fmt::format(fmt::runtime(platform), 4)},
          {"platform.xml", fmt::format(fmt::runtime(platform), 3)}};
}

}  // namespace tessera::detail
