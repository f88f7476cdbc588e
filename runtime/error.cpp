// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include <tessera/error.hpp>

namespace tessera {

InvalidArgument::InvalidArgument(std::string_view name, std::string_view value, std::string_view expected)
    : Error(fmt::format("{} = {}: expected {}", name, value, expected)),
      name_(name),
      value_(value),
      expected_(expected) {}

InputError::InputError(std::string_view file, Index line, std::string_view reason)
    : Error(line > 0 ? fmt::format("{}:{}: {}", file, line, reason) : fmt::format("{}: {}", file, reason)),
      file_(file),
      line_(line) {}

RemoteError::RemoteError(int rank, std::string_view message)
    : Error(fmt::format("rank {}: {}", rank, message)), rank_(rank), message_(message) {}

std::string text_of(const std::exception_ptr& caught) {
  try {
    std::rethrow_exception(caught);
  } catch (const std::bad_alloc&) {
    return "there is not enough memory";
  } catch (const std::length_error&) {  // beyond what any vector can have
    return "there is not enough memory";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace tessera
