// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <tessera/runtime/buses.hpp>
#include <tessera/runtime/mpi_headers.hpp>
#include <tessera/runtime/starpu_surroundings.hpp>

/// Measuring the buses in another process.
namespace tessera::detail {

/// The program that measures: what TESSERA_MEASURE_BUSES names (empty: none), else libexec/tessera/measure_buses
/// of the installation or the build tree, found from where this library lies. Empty: there is none.
std::filesystem::path measuring_program();

/// Starts the program, which writes what it measures into the directory that the environment gives to StarPU,
/// and waits for its end; nothing of this process is forked, and no handler of its own runs. What it writes to
/// standard error goes to the file `report`.
/// @return why it has failed, in words; empty: it has ended well
std::string run_measuring_program(const std::filesystem::path& program, const std::filesystem::path& report,
                                  std::chrono::milliseconds limit);

/// Puts StarPU's files about the buses into its directory, so that it measures nothing in this process. They
/// are those that are kept, or come with a set of performance models, if they fit the machine. Else another
/// process measures, and if it fails they are nominal, with a warning. Where no GPU is used nothing is measured:
/// they are nominal then, unless StarPU itself can write them in no time.
/// STARPU_BUS_CALIBRATE=1 has the buses measured in any case.
///
/// Collective over `communicator` (MPI_COMM_NULL: one rank). Of the ranks of a host that need them the first
/// measures, and the others get its files. No rank throws alone: `log` gets what has failed.
void prepare_buses(StarpuSurroundings& surroundings, const std::string& host, bool uses_gpus,
                   MPI_Comm communicator, const LogSink& log);

}  // namespace tessera::detail
