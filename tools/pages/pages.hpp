// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "option_table.hpp"

/// Manual pages and completion for shells, made from the tables of options at build time.
namespace tessera::program {

/// A command of the program.
struct CommandOfProgram {
  std::string name;
  OptionTable table;  ///< bound to variables that outlive it
};

/// What pages say beside the tables.
struct PageFacts {
  std::string version;
  std::string date;                                            ///< 2026-11-27
  std::vector<std::pair<std::string, std::string>> variables;  ///< of the environment: names, meaning
};

/// The rows of the table under the heading `## Read by Tessera` of docs/environment.md.
/// @throws InputError if there are none
std::vector<std::pair<std::string, std::string>> variables_of(const std::string& page,
                                                              const std::string& text);

/// tessera.1
std::string manual_of_program(const std::vector<CommandOfProgram>& commands, const PageFacts& facts);
/// tessera-NAME.1
std::string manual_of_command(const CommandOfProgram& command, const PageFacts& facts);

std::string bash_completion(const std::vector<CommandOfProgram>& commands);
std::string zsh_completion(const std::vector<CommandOfProgram>& commands);
std::string fish_completion(const std::vector<CommandOfProgram>& commands);

}  // namespace tessera::program
