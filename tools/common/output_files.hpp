// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

/// The files that a command leaves, and what it prints.
namespace tessera::program {

/// That `path`, which an option names, can be written later: what is there stays as it is, and nothing is
/// left. Only the process that speaks() looks. @throws InvalidArgument that names the option
void require_writable(const std::string& option, const std::string& path);

/// Prints, and never throws: some ranks print in the midst of what all do together. What stdout does not take
/// is remembered for finish_stdout.
void print_text(std::FILE* to, std::string_view text) noexcept;
template <class... Values>
void say(std::FILE* to, fmt::format_string<Values...> format, Values&&... values) {
  print_text(to, fmt::format(format, std::forward<Values>(values)...));
}
template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  print_text(stdout, fmt::format(format, std::forward<Values>(values)...));
}

/// That all that was printed on stdout has arrived. The last step of every command. @throws InputError
void finish_stdout();

}  // namespace tessera::program
