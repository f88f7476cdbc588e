// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "common_options.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include <tessera/error.hpp>

namespace tessera::program {

namespace {

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// The two texts after `NAME:`, split at the separator.
bool split_pair(std::string_view text, std::string_view prefix, char separator, std::string_view& a,
                std::string_view& b) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  const auto middle = text.find(separator);
  if (middle == std::string_view::npos) return false;
  a = text.substr(0, middle);
  b = text.substr(middle + 1);
  return true;
}

}  // namespace

RangeOption parse_range(const std::string& text) {
  RangeOption range;
  std::string_view a, b;
  if (text == "all") return range;
  if (split_pair(text, "index:", ':', a, b) && parse_number(a, range.index_low) &&
      parse_number(b, range.index_high) && range.index_low >= 0 && range.index_low <= range.index_high) {
    range.kind = RangeOption::Kind::index;
    return range;
  }
  if (split_pair(text, "value:", ':', a, b) && parse_number(a, range.value_low) &&
      parse_number(b, range.value_high) && !std::isnan(range.value_low) && !std::isnan(range.value_high) &&
      range.value_low < range.value_high) {
    range.kind = RangeOption::Kind::value;
    return range;
  }
  throw InvalidArgument(
      "--range", text,
      "all, index:LO:HI with 0 <= LO <= HI (eigenvalues LO to HI-1, from 0), or value:LO:HI with LO < HI");
}

std::string to_string(const RangeOption& range) {
  switch (range.kind) {
    case RangeOption::Kind::all:
      return "all";
    case RangeOption::Kind::index:
      return fmt::format("index:{}:{}", range.index_low, range.index_high);
    case RangeOption::Kind::value:
      break;
  }
  return fmt::format("value:{}:{}", range.value_low, range.value_high);
}

GridOption parse_grid(const std::string& text) {
  GridOption grid;
  std::string_view a, b;
  constexpr int most = 1 << 15;  // so that the product fits into an int
  if (split_pair(text, "", 'x', a, b) && parse_number(a, grid.rows) && parse_number(b, grid.cols) &&
      grid.rows > 0 && grid.cols > 0 && grid.rows <= most && grid.cols <= most)
    return grid;
  throw InvalidArgument("--grid", text, "PxQ, two positive numbers");
}

}  // namespace tessera::program
