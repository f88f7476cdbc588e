// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "program_main.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>
#include <tessera/version.hpp>

#include "common_options.hpp"
#include "output_files.hpp"
#include "process.hpp"
#include "session.hpp"
#include "usage_error.hpp"

namespace tessera::program {

namespace {

/// Hash of the words that must be equal on all ranks: all of them except the numbers of workers.
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

/// The function to run. @throws Error if the command line is wrong
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

/// Checks that the first word is a command, if the executable has commands. @throws UsageError
void require_command(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (names.empty()) return;
  if (argc < 2) throw UsageError("a command is missing; expected " + one_of(names));
  const std::string word = argv[1];
  if (std::find(names.begin(), names.end(), word) != names.end()) {
    complaint_prefix() += " " + word;
    return;
  }
  const bool option = word.starts_with('-'), known = word == "-h" || word == "--help" || word == "--version";
  if (known) return;
  const std::string guess = did_you_mean(word, names);
  throw UsageError(
      fmt::format("unknown {} '{}'{}", option ? "option" : "command", word,
                  guess.empty() ? fmt::format("; {} --help lists them", app.get_name()) : guess));
}

int run(int argc, char** argv, const ProgramText& text, const SetUp& set_up) {
  CLI::App app(text.description, text.name);
  app.set_version_flag("--version",
                       fmt::format("{} {} ({})", text.name, TESSERA_VERSION_STRING, TESSERA_VERSION_COMMIT));
  app.footer("Exit code: 0 all checks passed, 1 a check failed, 2 bad usage or input.");
  std::function<int()> command = [] { return exit_good; };
  set_up(app, command);
  agree_outside_sessions(hash_of_words(argc, argv), [&] {
    require_command(app, argc, argv);
    command = parsed(app, argc, argv, command);
  });
  return run_on_all_ranks(command);
}

}  // namespace

int program_main(int argc, char** argv, const ProgramText& text, const SetUp& set_up) {
  program_name() = text.name;
  guard_process();
  detail::leave_hdf5_open_at_exit();
  command_line().assign(argv, argv + argc);
  const int code = complaining([&] {
    require_plain_words(command_line());
    return run(argc, argv, text, set_up);
  });
  return complaining([&] {
    finish_stdout();
    return code;
  });
}

}  // namespace tessera::program
