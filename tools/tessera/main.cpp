// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"
#include "program_main.hpp"

namespace tessera::program {
namespace {

struct Options {
  EigenProgramOptions eigen;
  MultiplyProgramOptions multiply;
  LobpcgProgramOptions lobpcg;
  InfoProgramOptions info;
  TraceProgramOptions trace;
  TuneProgramOptions tune;
  CalibrateProgramOptions calibrate;
};

void add_commands(CLI::App& app, std::function<int()>& command, Options& options) {
  app.require_subcommand(1);
  add_eigen_options(*app.add_subcommand("eigen", "solve A x = lambda x or A x = lambda B x"), options.eigen);
  add_multiply_options(*app.add_subcommand("multiply", "multiply block-sparse matrices"), options.multiply);
  add_lobpcg_options(*app.add_subcommand("lobpcg", "a few extreme eigenpairs of a sparse symmetric matrix"),
                     options.lobpcg);
  add_info_options(*app.add_subcommand("info", "machine, versions, codelets"), options.info);
  add_calibrate_options(*app.add_subcommand("calibrate", "measure StarPU's performance models"),
                        options.calibrate);
  add_trace_options(*app.add_subcommand("trace", "summarise a trace left by --trace"), options.trace);
  add_tune_options(*app.add_subcommand("tune", "find the fastest solver and sizes"), options.tune);
  app.get_subcommand("eigen")->callback([&] { command = [&options] { return run_eigen(options.eigen); }; });
  app.get_subcommand("multiply")->callback([&] {
    command = [&options] { return run_multiply(options.multiply); };
  });
  app.get_subcommand("lobpcg")->callback(
      [&] { command = [&options] { return run_lobpcg(options.lobpcg); }; });
  app.get_subcommand("info")->callback([&] { command = [&options] { return run_info(options.info); }; });
  app.get_subcommand("calibrate")->callback([&] {
    command = [&options] { return run_calibrate(options.calibrate); };
  });
  app.get_subcommand("trace")->callback([&] { command = [&options] { return run_trace(options.trace); }; });
  app.get_subcommand("tune")->callback([&] { command = [&options] { return run_tune(options.tune); }; });
}

}  // namespace
}  // namespace tessera::program

int main(int argc, char** argv) {
  using namespace tessera::program;
  Options options;
  return program_main(
      argc, argv,
      {"tessera", "Dense Hermitian eigenproblems and block-sparse products as task graphs on StarPU"},
      [&](CLI::App& app, std::function<int()>& command) { add_commands(app, command, options); });
}
