// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>

#include <tessera/types.hpp>

/// An exception as data, which can be sent to another rank; included by runtime/*.cpp only.
namespace tessera::detail {

enum class ErrorKind : std::int32_t { argument, input, runtime, error, other };

/// The parts of an exception of the library; for any other exception its text.
struct ErrorParts {
  ErrorKind kind = ErrorKind::other;
  std::int32_t rank = 0;  ///< where it was thrown
  Index line = 0;
  std::string texts[3];
};

ErrorParts parts_of(const std::exception_ptr& caught, int rank);

/// The exception again: an InvalidArgument, InputError, RuntimeError or Error as it was, a RemoteError for
/// what is none of them.
[[noreturn]] void throw_parts(const ErrorParts& parts);

}  // namespace tessera::detail
