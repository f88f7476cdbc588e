// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "option_values.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace tessera::program {

namespace {

/// Fails unless the whole text is a number.
template <class Number>
std::errc parse_whole(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end != text.data() + text.size()) return std::errc::invalid_argument;
  return error;
}

std::string problem(const std::string& text, const char* what, const std::string& expected) {
  return fmt::format("'{}' {}; expected {}", text, what, expected);
}

}  // namespace

std::string problem_of_integer(const std::string& text, Index least, Index most, Index& value) {
  const std::string expected = fmt::format("an integer from {} to {}", least, most);
  const std::errc error = parse_whole(text, value);
  if (error == std::errc::result_out_of_range) return problem(text, "is out of range", expected);
  if (error != std::errc()) {
    double real = 0;
    const bool number = parse_whole(text, real) == std::errc() && std::isfinite(real);
    return problem(text, number ? "is not an integer in decimal digits" : "is not a number", expected);
  }
  const std::size_t digits = text[0] == '-' ? 1 : 0;
  if (text.size() > digits + 1 && text[digits] == '0')
    return problem(text, "begins with a zero, as other notations do", expected);
  return value >= least && value <= most ? std::string() : problem(text, "is out of range", expected);
}

RealRange any_real() {
  return {[](double) { return true; }, ""};
}

RealRange real_from_0() {
  return {[](double x) { return x >= 0; }, "0 or more"};
}

RealRange real_above_0() {
  return {[](double x) { return x > 0; }, "above 0"};
}

RealRange real_within(double least, double most) {
  return {[=](double x) { return x >= least && x <= most; }, fmt::format("{} to {}", least, most)};
}

std::string problem_of_real(const std::string& text, const RealRange& range, double& value) {
  const std::string expected =
      range.words.empty() ? std::string("a finite number") : "a number: " + range.words;
  const bool plus = text.starts_with('+') && !text.starts_with("+-");
  const std::string_view digits = std::string_view(text).substr(plus ? 1 : 0);
  const std::errc error = parse_whole(digits, value);
  if (error == std::errc::result_out_of_range) return problem(text, "is out of range", expected);
  if (error != std::errc()) return problem(text, "is not a number", expected);
  if (!std::isfinite(value)) return problem(text, "is not finite", expected);
  return range.contains(value) ? std::string() : problem(text, "is out of range", expected);
}

std::string range_in_words(Index least, Index most) {
  return most >= largest_order ? fmt::format("{} or more", least) : fmt::format("{} to {}", least, most);
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace tessera::program
