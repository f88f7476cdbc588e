// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

namespace tessera::program {

struct ProgramText {
  std::string name, description;
  std::string examples{};  ///< below the help; whole lines, or empty
};

/// Registers the options, and sets `command` to what they ask for, at once or when they have been parsed.
using SetUp = std::function<void(CLI::App& app, std::function<int()>& command)>;

/// What main of every executable does around its command: signals, streams, the parser, and the agreement of
/// all ranks on what went wrong. The exit code.
int program_main(int argc, char** argv, const ProgramText& text, const SetUp& set_up);

/// The same for an executable that has one command.
template <class Options>
int bench_main(int argc, char** argv, const ProgramText& text, void (*add_options)(CLI::App&, Options&),
               int (*run)(const Options&)) {
  Options options;
  return program_main(argc, argv, text, [&](CLI::App& app, std::function<int()>& command) {
    add_options(app, options);
    command = [&] { return run(options); };
  });
}

}  // namespace tessera::program
