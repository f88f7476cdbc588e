// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tessera/error.hpp>

/// Error messages for wrong command lines: the same form for all, with a suggestion.
namespace tessera::program {

/// `--n: '12x' is not a number; expected an integer from 0 to 100`. An empty value is reported as
/// missing.
std::string usage_text(std::string_view name, std::string_view value, std::string_view problem,
                       std::string_view expected);

/// Error in a word of the command line.
class UsageError : public Error {
 public:
  using Error::Error;
  UsageError(std::string_view name, std::string_view value, std::string_view problem,
             std::string_view expected)
      : Error(usage_text(name, value, problem, expected)) {}
};

/// The same error, but it names the command-line option instead of the library's argument.
InvalidArgument named_by_option(const InvalidArgument& error);
/// Calls work(). Errors about its arguments name the command-line options.
template <class Work>
auto naming_options(const Work& work) {
  try {
    return work();
  } catch (const InvalidArgument& error) {
    throw named_by_option(error);
  }
}

/// The word in `words` that is spelled most similarly to `word`; empty if none is similar enough.
std::string nearest_word(std::string_view word, const std::vector<std::string>& words);

/// `; did you mean 'X'?`, or empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& words);

/// `one of a, b, c`.
std::string one_of(const std::vector<std::string>& words);

}  // namespace tessera::program
