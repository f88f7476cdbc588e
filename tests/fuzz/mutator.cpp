// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mutator.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace tessera::fuzz {

namespace {

using namespace std::string_view_literals;

constexpr std::array numbers{"0"sv,
                             "-1"sv,
                             "1"sv,
                             "2"sv,
                             "2.5"sv,
                             "010"sv,
                             "0x10"sv,
                             "1e400"sv,
                             "nan"sv,
                             "-inf"sv,
                             "1e-400"sv,
                             "1d5"sv,
                             "+1"sv,
                             "-0"sv,
                             ""sv,
                             "1e300"sv,
                             "255"sv,
                             "65536"sv,
                             "2147483647"sv,
                             "2147483648"sv,
                             "4294967296"sv,
                             "1000000"sv,
                             "1000000000000000000"sv,
                             "9223372036854775807"sv,
                             "9223372036854775808"sv,
                             "-9223372036854775808"sv,
                             "99999999999999999999999"sv};

constexpr std::array pieces{"\0"sv, "\n"sv, "\r\n"sv, "\n\n"sv, " "sv,    "\t"sv,
                            "%"sv,  "#"sv,  ":"sv,    ","sv,    "\xff"sv, "\x1b["sv,
                            "\""sv, "[["sv, "{"sv,    "--"sv,   "="sv,    "\xef\xbb\xbf"sv};

bool is_digit(char c) {
  return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+';
}

}  // namespace

std::size_t Mutator::below(std::size_t bound) {
  return bound == 0 ? 0 : random_() % bound;
}

std::string Mutator::mutate(const std::string& input, const std::string& other) {
  std::string text = input;
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(text, other);
  return text;
}

void Mutator::change(std::string& text, const std::string& other) {
  const std::size_t at = below(text.size());
  switch (below(10)) {
    case 0:
      if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
      break;
    case 1:
      text.resize(at);
      break;
    case 2: {  // the rest of the other input
      const std::size_t from = below(other.size());
      text = text.substr(0, at) + other.substr(from);
      break;
    }
    case 3:
      text.erase(at, 1 + below(16));
      break;
    case 4:
      text.insert(at, pieces[below(pieces.size())]);
      break;
    case 5:
      text.insert(at, text.substr(below(text.size()), below(64)));
      break;
    case 6:
      if (below(20) == 0) text.insert(at, below(200000), below(2) ? '0' : ' ');
      break;
    case 7:
      change_line(text);
      break;
    default:
      replace_number(text);
  }
}

/// Half of the time changes one of the first numbers, which are sizes.
void Mutator::replace_number(std::string& text) {
  const std::size_t from = below(2) ? below(text.size()) : below(std::min<std::size_t>(text.size(), 120));
  const auto first = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), is_digit);
  const auto last = std::find_if_not(first, text.end(), is_digit);
  text.replace(first, last, numbers[below(numbers.size())]);
}

void Mutator::change_line(std::string& text) {
  const std::size_t found = text.find('\n', below(text.size()));
  if (found == std::string::npos) return;
  const std::size_t begin = found + 1, end = std::min(text.find('\n', begin), text.size() - 1) + 1;
  const std::string line = text.substr(begin, end - begin);
  if (below(2))
    text.erase(begin, end - begin);
  else
    for (std::size_t copies = below(20) ? 1 : 2000; copies > 0; --copies) text.insert(begin, line);
}

}  // namespace tessera::fuzz
