// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// tessera_pages FOLDER ENVIRONMENT.md DATE: writes the manual pages and the completion for shells into FOLDER.
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>

#include <tessera/runtime/output_file.hpp>
#include <tessera/version.hpp>

#include "pages.hpp"
#include "program_options.hpp"

namespace tessera::program {
namespace {

void write_pages(const std::string& folder, const std::string& environment, const std::string& date) {
  std::stringstream text;
  text << std::ifstream(environment).rdbuf();
  const PageFacts facts{TESSERA_VERSION_STRING, date, variables_of(environment, text.str())};
  ProgramOptions options;
  std::vector<CommandOfProgram> commands;
  for_each_command(options, [&](const std::string& name, auto& of_command, auto) {
    commands.push_back({name, option_table(of_command)});
  });
  detail::write_file(folder + "/tessera.1", manual_of_program(commands, facts));
  for (const CommandOfProgram& command : commands)
    detail::write_file(folder + "/tessera-" + command.name + ".1", manual_of_command(command, facts));
  detail::write_file(folder + "/tessera", bash_completion(commands));
  detail::write_file(folder + "/_tessera", zsh_completion(commands));
  detail::write_file(folder + "/tessera.fish", fish_completion(commands));
}

}  // namespace
}  // namespace tessera::program

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: tessera_pages FOLDER ENVIRONMENT.md DATE\n");
    return 2;
  }
  try {
    tessera::program::write_pages(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera_pages: %s\n", error.what());
    return 1;
  }
}
