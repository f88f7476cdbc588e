// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tessera_main.hpp"

#include "program_main.hpp"
#include "program_options.hpp"

namespace tessera::program {
namespace {

void add_commands(CLI::App& app, std::function<int()>& command, ProgramOptions& options) {
  app.require_subcommand(1);
  for_each_command(options, [&](const std::string& name, auto& of_command, auto run) {
    OptionTable table = option_table(of_command);
    CLI::App* parser = app.add_subcommand(name, table.description());
    parse_by_table(*parser, std::move(table));
    parser->callback(
        [&command, &of_command, run] { command = [&of_command, run] { return run(of_command); }; });
  });
}

}  // namespace
int tessera_main(int argc, char** argv) {
  ProgramOptions options;
  return program_main(
      argc, argv, {"tessera", program_description},
      [&](CLI::App& app, std::function<int()>& command) { add_commands(app, command, options); });
}

}  // namespace tessera::program
