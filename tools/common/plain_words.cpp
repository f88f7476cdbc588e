// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <nlohmann/json.hpp>

#include <tessera/error.hpp>
#include <tessera/runtime/io/input_file.hpp>

#include "common_options.hpp"

namespace tessera::program {
using namespace detail;

void require_plain_words(const std::vector<std::string>& words) {
  for (std::size_t k = 1; k < words.size(); ++k) {
    std::string name = words[k - 1].starts_with("--") ? words[k - 1] : "argument", value = words[k];
    if (const auto equals = value.find('='); value.starts_with("--") && equals != std::string::npos) {
      name = value.substr(0, equals);
      value.erase(0, equals + 1);
    }
    if (value.empty()) throw InvalidArgument(name, "''", "a value that is not empty");
    const bool list = value.find_first_not_of("0123456789,") == std::string::npos;
    if (list && (',' + value + ',').find(",,") != std::string::npos)
      throw InvalidArgument(name, value, "a number at each place of the list");
    const bool control =
        std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
    if (control) throw InvalidArgument(name, shown_input(value), "text without control characters");
    try {
      Json(value).dump();
    } catch (const Json::exception&) {
      throw InvalidArgument(name, shown_input(value), "UTF-8 text, which the record of the run can hold");
    }
  }
}

}  // namespace tessera::program
