// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <map>
#include <string>

#include <tessera/runtime/model_files.hpp>

/// StarPU's files about the buses of a machine, `bus/HOST.WHAT`. Where one is missing or speaks of another
/// machine, StarPU measures as it starts, and resets all visible GPUs in doing so, also those that it will not
/// use: a host program would lose what it has there. So all files are put in place before (prepare_buses).
namespace tessera::detail {

/// What StarPU compares with its files: of the whole machine, whatever a Runtime uses of it.
struct BusMachine {
  unsigned cpus = 1, numa = 1;
  unsigned gpus = 0;  ///< that CUDA shows to this process
};

/// Counts as StarPU does.
BusMachine inspect_buses();

/// The parts of the names of the files; "config" first, since the others depend on it. The last two describe
/// the machine to a simulator.
inline constexpr std::array<const char*, 6> bus_files = {"config",    "affinity",        "latency",
                                                         "bandwidth", "platform.v4.xml", "platform.xml"};

/// Files by these names.
using BusFiles = std::map<std::string, std::string>;

/// Files with these nodes hold for the machine. (The number of CPUs decides nothing.)
bool fits(const BusNodes& nodes, const BusMachine& machine) noexcept;

/// What is wrong with a file, in words; empty: nothing. `nodes` is set by "config" and read for the others.
std::string flaw_of_bus_file(const std::string& what, const std::string& bytes,
                             std::optional<BusNodes>& nodes);

/// The file "config" of the machine.
std::string bus_config(const BusMachine& machine);

/// All files of the machine, with nominal speeds.
BusFiles nominal_bus_files(const BusMachine& machine);

}  // namespace tessera::detail
