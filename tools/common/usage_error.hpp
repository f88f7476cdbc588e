// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tessera/error.hpp>

/// What the program says about a wrong command line: one form for all, with a guess at what was meant.
namespace tessera::program {

/// `--n: '12x' is not a number; expected an integer from 0 to 100`. A value that is empty is missing.
std::string usage_text(std::string_view name, std::string_view value, std::string_view problem,
                       std::string_view expected);

/// A wrong word of the command line.
class UsageError : public Error {
 public:
  using Error::Error;
  UsageError(std::string_view name, std::string_view value, std::string_view problem,
             std::string_view expected)
      : Error(usage_text(name, value, problem, expected)) {}
};

/// The one of `words` that is written most like `word`, if any is near enough; empty otherwise.
std::string nearest_word(std::string_view word, const std::vector<std::string>& words);

/// `; did you mean 'X'?`, or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& words);

/// `one of a, b, c`.
std::string one_of(const std::vector<std::string>& words);

}  // namespace tessera::program
