// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <tessera/types.hpp>

/// Values of options as text: what they are, or what is wrong with them.
namespace tessera::program {

/// Of matrices that are made, and of what counts their rows: tasks count in 32 bits.
inline constexpr Index largest_order = std::numeric_limits<std::int32_t>::max();

/// An integer in decimal digits within limits; 010 is none, nor is 1_0.
/// @return empty, or `'12x' is not a number; expected an integer from 0 to 100`
std::string problem_of_integer(const std::string& text, Index least, Index most, Index& value);

/// Which finite numbers an option takes, and how a person says that.
struct RealRange {
  std::function<bool(double)> contains;
  std::string words;  ///< `0 or more`; empty: all
};
RealRange any_real();
RealRange real_from_0();
RealRange real_above_0();
RealRange real_within(double least, double most);

/// @return empty, or what is wrong
std::string problem_of_real(const std::string& text, const RealRange& range, double& value);

/// `0 or more`, `1 to 32`.
std::string range_in_words(Index least, Index most);

/// The parts between commas.
std::vector<std::string> split_list(const std::string& text);

}  // namespace tessera::program
