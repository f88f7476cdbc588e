// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <tessera/runtime/error.hpp>
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

/// Of what must be equal on all ranks: all words, but for the workers of a rank.
std::uint64_t hash_of_words(int argc, char** argv) {
  std::string words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto is = [&](const std::string& option) {
      return word == option || word.starts_with(option + '=');
    };
    if (is("--cores") || is("--gpus"))
      i += word.find('=') == std::string::npos;
    else
      words += word + '\n';
  }
  return hash_of(words);
}

/// What is to be done. @throws Error: the command line is wrong
std::function<int()> parsed(CLI::App& app, int argc, char** argv, const std::function<int()>& command) {
  try {
    app.parse(argc, argv);
    return command;
  } catch (const CLI::Success& request) {
    return [&app, request] {
      std::ostringstream text;
      const int asked = app.exit(request, text, text);
      if (speaks()) print_text(stdout, text.str());
      return asked;
    };
  } catch (const CLI::ParseError& error) {
    throw usage_error_of(error);
  }
}

/// @throws UsageError if the first word is no command
void require_command(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (argc < 2) throw UsageError("a command is missing; expected " + one_of(names));
  const std::string word = argv[1];
  if (std::find(names.begin(), names.end(), word) != names.end()) {
    complaint_prefix() += " " + word;
    return;
  }
  const bool option = word.starts_with('-'), known = word == "-h" || word == "--help" || word == "--version";
  if (known) return;
  const std::string guess = did_you_mean(word, names);
  throw UsageError(fmt::format("unknown {} '{}'{}", option ? "option" : "command", word,
                               guess.empty() ? "; tessera --help lists them" : guess));
}

int run(int argc, char** argv) {
  CLI::App app("Dense Hermitian eigenproblems and block-sparse products as task graphs on StarPU", "tessera");
  app.set_version_flag("--version",
                       fmt::format("tessera {} ({})", TESSERA_VERSION_STRING, TESSERA_VERSION_COMMIT));
  app.require_subcommand(1);
  app.footer("Exit code: 0 all checks passed, 1 a check failed, 2 bad usage or input.");
  Options options;
  std::function<int()> command = [] { return exit_good; };
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
  app.get_subcommand("eigen")->callback([&] { command = [&] { return run_eigen(options.eigen); }; });
  app.get_subcommand("multiply")->callback([&] { command = [&] { return run_multiply(options.multiply); }; });
  app.get_subcommand("lobpcg")->callback([&] { command = [&] { return run_lobpcg(options.lobpcg); }; });
  app.get_subcommand("bench")->callback([&] { command = [&] { return run_bench(options.bench); }; });
  app.get_subcommand("info")->callback([&] { command = [&] { return run_info(options.info); }; });
  app.get_subcommand("calibrate")->callback([&] {
    command = [&] { return run_calibrate(options.calibrate); };
  });
  app.get_subcommand("trace")->callback([&] { command = [&] { return run_trace(options.trace); }; });
  app.get_subcommand("tune")->callback([&] { command = [&] { return run_tune(options.tune); }; });
  agree_outside_sessions(hash_of_words(argc, argv), [&] {
    require_command(app, argc, argv);
    command = parsed(app, argc, argv, command);
  });
  return run_on_all_ranks(command);
}

}  // namespace
}  // namespace tessera::program

int main(int argc, char** argv) {
  using namespace tessera;
  program::guard_process();
  program::command_line().assign(argv, argv + argc);
  const int code = program::complaining([&] {
    program::require_plain_words(program::command_line());
    return program::run(argc, argv);
  });
  return program::complaining([&] {
    program::finish_stdout();
    return code;
  });
}
