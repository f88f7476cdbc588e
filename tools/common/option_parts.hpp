// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <CLI/CLI.hpp>

#include <tessera/runtime/error.hpp>

#include "common_options.hpp"

/// Options that several commands and benchmarks have.
namespace tessera::program {

void add_type_option(CLI::App& command, char& type, const std::string& help);
void add_yes_no_option(CLI::App& command, const std::string& name, bool& value, const std::string& help);
void add_letter_option(CLI::App& command, const std::string& name, char& value, const std::string& help);
void add_shell_model_options(CLI::App& command, std::string& interaction, std::string& orbits);
void add_grid_option(CLI::App& command, GridOption& grid);
void add_common_options(CLI::App& command, CommonOptions& options);
/// Both sides of a comparison on a GPU are warm unless the user says how.
void warm_up_with_gpu_peer(CLI::App& command, const std::string& peer, CommonOptions& common);

/// What the kinds of dense matrices are, for the help text.
std::string generator_help();
/// @throws InvalidArgument: there is no such kind of dense matrix
void check_generator(const std::string& kind);

/// Checks of the parser: a finite number, one from 0 on, above 0, or within limits. CLI11's own would take
/// NaN, and names the largest double with all its digits when they refuse a number.
CLI::Validator any_number();
CLI::Validator number_from_0();
CLI::Validator number_above_0();
CLI::Validator number_in(double least, double most);

/// An integer in decimal digits, within limits. CLI11's own would take 010 for 8, and 1_0 for 10.
CLI::Validator integer_in(Index least, Index most);

/// Of matrices that are made, and of what counts their rows: tasks count in 32 bits.
inline constexpr Index largest_order = std::numeric_limits<std::int32_t>::max();

/// Tiles and bands of the dense solver: of options with `tile`, `band`, `update_width` and `column_groups`.
template <class Options>
void add_size_options(CLI::App& command, Options& options) {
  command.add_option("--tile", options.tile, "order of the tiles (default: from the machine)")
      ->check(integer_in(1, 1 << 20));
  command.add_option("--band", options.band, "width of the intermediate band (default: chosen)")
      ->check(integer_in(1, 4096));
  command
      .add_option("--update-width", options.update_width,
                  "columns per update of the trailing matrix (default: chosen)")
      ->check(integer_in(1, 1 << 20));
  command
      .add_option(
          "--column-groups", options.column_groups,
          "groups of columns, one for a GPU, in which the matrix is reduced to a band; 1: tile by tile "
          "(default: chosen)")
      ->check(integer_in(1, 32));
}

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
