// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <tessera/version.hpp>

#include "options.hpp"
#include "output_files.hpp"
#include "process.hpp"
#include "session.hpp"

namespace tessera::program {
namespace {

struct Options {
  EigenProgramOptions eigen;
  MultiplyProgramOptions multiply;
  LobpcgProgramOptions lobpcg;
  BenchProgramOptions bench;
  InfoProgramOptions info;
  TraceProgramOptions trace;
  TuneProgramOptions tune;
  CalibrateProgramOptions calibrate;
};

int run(int argc, char** argv) {
  CLI::App app("Dense Hermitian eigenproblems and block-sparse products as task graphs on StarPU", "tessera");
  app.set_version_flag("--version",
                       fmt::format("tessera {} ({})", TESSERA_VERSION_STRING, TESSERA_VERSION_COMMIT));
  app.require_subcommand(1);
  app.footer("Exit code: 0 all checks passed, 1 a check failed, 2 bad usage or input.");
  Options options;
  int code = exit_good;
  add_eigen_options(*app.add_subcommand("eigen", "solve A x = lambda x or A x = lambda B x"), options.eigen);
  add_multiply_options(*app.add_subcommand("multiply", "multiply block-sparse matrices"), options.multiply);
  add_lobpcg_options(*app.add_subcommand("lobpcg", "a few extreme eigenpairs of a sparse symmetric matrix"),
                     options.lobpcg);
  add_bench_options(*app.add_subcommand("bench", "measure one stage or kernel beside the machine's limit"),
                    options.bench);
  add_info_options(*app.add_subcommand("info", "machine, versions, codelets"), options.info);
  add_calibrate_options(*app.add_subcommand("calibrate", "measure StarPU's performance models"),
                        options.calibrate);
  add_trace_options(*app.add_subcommand("trace", "summarise a trace left by --trace"), options.trace);
  add_tune_options(*app.add_subcommand("tune", "find the fastest solver and sizes"), options.tune);
  app.get_subcommand("eigen")->callback([&] { code = run_eigen(options.eigen); });
  app.get_subcommand("multiply")->callback([&] { code = run_multiply(options.multiply); });
  app.get_subcommand("lobpcg")->callback([&] { code = run_lobpcg(options.lobpcg); });
  app.get_subcommand("bench")->callback([&] { code = run_bench(options.bench); });
  app.get_subcommand("info")->callback([&] { code = run_info(options.info); });
  app.get_subcommand("calibrate")->callback([&] { code = run_calibrate(options.calibrate); });
  app.get_subcommand("trace")->callback([&] { code = run_trace(options.trace); });
  app.get_subcommand("tune")->callback([&] { code = run_tune(options.tune); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return speaks() ? app.exit(request) : exit_good;
  } catch (const CLI::ParseError& error) {
    const auto named = [&](const CLI::App* command) { return argc > 1 && command->get_name() == argv[1]; };
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(named).empty())
      return complain(fmt::format("unknown command '{}'; tessera --help lists them", argv[1]));
    return complain(error.what());
  }
  return code;
}

}  // namespace
}  // namespace tessera::program

int main(int argc, char** argv) {
  using namespace tessera;
  program::guard_process();
  program::command_line().assign(argv, argv + argc);
  const int code = program::complaining([&] { return program::run(argc, argv); });
  return program::complaining([&] {
    program::finish_stdout();
    return code;
  });
}
