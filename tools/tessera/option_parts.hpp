// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/runtime/error.hpp>

#include "options.hpp"

/// Options of parsers that have no table (table_parts.hpp).
namespace tessera::program {

void add_type_option(CLI::App& command, char& type, const std::string& help);
/// @param stage  of `bench` that takes them, before their help; may be empty
void add_shell_model_options(CLI::App& command, std::string& interaction, std::string& orbits,
                             const std::string& stage);
void add_grid_option(CLI::App& command, GridOption& grid);
void add_common_options(CLI::App& command, CommonOptions& options);

/// Check of the parser: a number within limits. CLI11's own would take NaN.
CLI::Validator number_in(double least, double most);

/// An integer in decimal digits, within limits. CLI11's own would take 010 for 8, and 1_0 for 10.
CLI::Validator integer_in(Index least, Index most);

/// Turns a parse function that throws into a check of the parser.
template <class Parse>
CLI::Validator parsed_by(Parse parse, const std::string& shown) {
  return CLI::Validator(
      [parse](const std::string& text) -> std::string {
        try {
          parse(text);
          return {};
        } catch (const Error& error) {
          return error.what();
        }
      },
      shown);
}

}  // namespace tessera::program
