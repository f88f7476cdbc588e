// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <tessera/types.hpp>

/// Parses the values of options, and describes what is wrong with invalid ones.
namespace tessera::program {

/// Largest order of generated matrices, and of anything that counts their rows: tasks use 32-bit
/// indices.
inline constexpr Index largest_order = std::numeric_limits<std::int32_t>::max();

/// Parses a decimal integer within limits. 010 and 1_0 are not accepted.
/// @return empty, or `'12x' is not a number; expected an integer from 0 to 100`
std::string problem_of_integer(const std::string& text, Index least, Index most, Index& value);

/// The finite numbers that an option accepts, and their description in words.
struct RealRange {
  std::function<bool(double)> contains;
  std::string words;  ///< `0 or more`; empty: all
};
RealRange any_real();
RealRange real_from_0();
RealRange real_above_0();
RealRange real_within(double least, double most);

/// @return empty, or a description of the problem
std::string problem_of_real(const std::string& text, const RealRange& range, double& value);

/// `0 or more`, `1 to 32`.
std::string range_in_words(Index least, Index most);

/// The parts of a comma-separated list.
std::vector<std::string> split_list(const std::string& text);

}  // namespace tessera::program
