// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tessera_main.hpp"

#include "options.hpp"
#include "program_main.hpp"

namespace tessera::program {
namespace {

struct Options {
  EigenProgramOptions eigen;
  MultiplyProgramOptions multiply;
  DensityProgramOptions density;
  LobpcgProgramOptions lobpcg;
  InfoProgramOptions info;
  CalibrateProgramOptions calibrate;
  TraceProgramOptions trace;
  TuneProgramOptions tune;
};

void add_commands(CLI::App& app, std::function<int()>& command, Options& options) {
  app.require_subcommand(1);
  const auto add = [&](const std::string& name, auto& of_command, auto run) {
    OptionTable table = option_table(of_command);
    CLI::App* parser = app.add_subcommand(name, table.description());
    parse_by_table(*parser, std::move(table));
    parser->callback(
        [&command, &of_command, run] { command = [&of_command, run] { return run(of_command); }; });
  };
  add("eigen", options.eigen, run_eigen);
  add("multiply", options.multiply, run_multiply);
  add("density", options.density, run_density);
  add("lobpcg", options.lobpcg, run_lobpcg);
  add("info", options.info, run_info);
  add("calibrate", options.calibrate, run_calibrate);
  add("trace", options.trace, run_trace);
  add("tune", options.tune, run_tune);
}

}  // namespace
int tessera_main(int argc, char** argv) {
  Options options;
  return program_main(
      argc, argv,
      {"tessera",
       "Dense and sparse eigenproblems, block-sparse products and density matrices as task graphs on StarPU"},
      [&](CLI::App& app, std::function<int()>& command) { add_commands(app, command, options); });
}

}  // namespace tessera::program
