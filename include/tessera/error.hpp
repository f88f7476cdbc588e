// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include <tessera/types.hpp>

/// Exceptions of the library: what() is one line for a person. They are thrown before anything is submitted;
/// a failure inside a submitted task is a Status (status.hpp), never an exception through a task. With
/// several ranks all throw what one has thrown.
namespace tessera {

/// Base of every exception that the library throws.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A bad argument: its name, its value as text, and what was expected.
class InvalidArgument : public Error {
 public:
  /// Of an argument: its name, its value and what was expected.
  InvalidArgument(std::string_view name, std::string_view value, std::string_view expected);
  /// The argument.
  const std::string& name() const noexcept { return name_; }
  /// What it was.
  const std::string& value() const noexcept { return value_; }
  /// What it should have been.
  const std::string& expected() const noexcept { return expected_; }

 private:
  std::string name_, value_, expected_;
};

/// A file that cannot be read as asked: the file, the line (0: the file as a whole) and the reason.
class InputError : public Error {
 public:
  /// Of a file; line 0: of it as a whole.
  InputError(std::string_view file, Index line, std::string_view reason);
  /// The file's name.
  const std::string& file() const noexcept { return file_; }
  /// From 1; 0: the file as a whole.
  Index line() const noexcept { return line_; }

 private:
  std::string file_;
  Index line_;
};

/// The runtime cannot start or cannot run a task (no worker of the kind asked for, already running, no
/// memory).
class RuntimeError : public Error {
  using Error::Error;
};

/// One line about any exception.
std::string text_of(const std::exception_ptr& caught);

/// Another rank has thrown what is not an exception of this library: of a callback, of the standard library.
/// That rank has the exception itself; the others have its number and its text.
class RemoteError : public Error {
 public:
  /// Of another rank.
  RemoteError(int rank, std::string_view message);
  /// Where it was thrown.
  int rank() const noexcept { return rank_; }
  /// What it said.
  const std::string& message() const noexcept { return message_; }

 private:
  int rank_;
  std::string message_;
};

}  // namespace tessera
