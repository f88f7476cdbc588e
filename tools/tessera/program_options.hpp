// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

/// The commands of the program in the order of its help.
namespace tessera::program {

/// The options of all commands.
struct ProgramOptions {
  EigenProgramOptions eigen;
  BatchProgramOptions batch;
  MultiplyProgramOptions multiply;
  DensityProgramOptions density;
  LobpcgProgramOptions lobpcg;
  InfoProgramOptions info;
  CalibrateProgramOptions calibrate;
  TraceProgramOptions trace;
  TuneProgramOptions tune;
};

/// What the program says of itself.
inline constexpr const char* program_description =
    "Dense and sparse eigenproblems, block-sparse products and density matrices as task graphs on StarPU";

/// Calls `work(name, options, run)` for each command.
template <class Work>
void for_each_command(ProgramOptions& options, const Work& work) {
  work("eigen", options.eigen, run_eigen);
  work("batch", options.batch, run_batch);
  work("multiply", options.multiply, run_multiply);
  work("density", options.density, run_density);
  work("lobpcg", options.lobpcg, run_lobpcg);
  work("info", options.info, run_info);
  work("calibrate", options.calibrate, run_calibrate);
  work("trace", options.trace, run_trace);
  work("tune", options.tune, run_tune);
}

}  // namespace tessera::program
