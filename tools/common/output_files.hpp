// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

/// The output files of a command, and its output on stdout and stderr.
namespace tessera::program {

/// Checks that `path`, the value of an option, can be written later. An existing file stays
/// unchanged, and no new file remains. Only the process for which speaks() is true checks.
/// @throws InvalidArgument that names the option
void require_writable(const std::string& option, const std::string& path);

/// Prints without throwing, because some ranks print in the middle of collective operations. An
/// error of stdout is stored for finish_stdout.
void print_text(std::FILE* to, std::string_view text) noexcept;
template <class... Values>
void say(std::FILE* to, fmt::format_string<Values...> format, Values&&... values) {
  print_text(to, fmt::format(format, std::forward<Values>(values)...));
}
template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  print_text(stdout, fmt::format(format, std::forward<Values>(values)...));
}

/// Checks that everything printed on stdout was written. The last step of every command.
/// @throws InputError
void finish_stdout();

}  // namespace tessera::program
