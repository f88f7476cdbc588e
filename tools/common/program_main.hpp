// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "option_table.hpp"

namespace tessera::program {

struct ProgramText {
  std::string name, description;
};

/// Registers the options. Sets `command` to the function that runs the requested command, either at
/// once or after parsing.
using SetUp = std::function<void(CLI::App& app, std::function<int()>& command)>;

/// Does what main of every executable does around its command: signals, streams, the parser, and
/// the agreement of all ranks on errors. Returns the exit code.
int program_main(int argc, char** argv, const ProgramText& text, const SetUp& set_up);

/// The same for an executable with a single command; option_table(options) defines its parser.
template <class Options>
int bench_main(int argc, char** argv, int (*run)(Options&)) {
  Options options;
  OptionTable table = option_table(options);
  return program_main(argc, argv, {table.command(), table.description()},
                      [&](CLI::App& app, std::function<int()>& command) {
                        parse_by_table(app, std::move(table));
                        command = [&] { return run(options); };
                      });
}

}  // namespace tessera::program
