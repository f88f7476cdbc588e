// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/types.hpp>

/// Files that come from outside: whatever is in them, reading ends, with the content or with an InputError.
namespace tessera::detail {

/// A regular file, open for reading. Pipes, devices and folders are refused: files are read more than once,
/// and a pipe without a writer would block for ever.
class InputFile {
 public:
  /// @throws InputError
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  Index bytes() const noexcept { return bytes_; }
  /// The descriptor, which is the caller's from now on.
  int release() noexcept;
  /// All that the file holds. @throws InputError
  std::string read();

 private:
  std::string path_;
  int descriptor_ = -1;
  Index bytes_ = 0;
};

/// The lines of a small text file that end with LF, or CR LF, without their ends.
class TextLines {
 public:
  /// @throws InputError
  explicit TextLines(const std::string& path);
  /// Of a text that was read before; `name`: for messages.
  TextLines(const std::string& name, std::string text) : path_(name), text_(std::move(text)) {}
  /// False after the last one. The view holds as long as this object.
  bool next(std::string_view& line);
  /// Of the line that `next` has returned, from 1.
  Index line() const noexcept { return line_; }
  /// Refuses a line that the file ends in: its last number may be cut short.
  void require_line_end() const;
  [[noreturn]] void fail(std::string_view reason) const;

 private:
  std::string path_, text_;
  std::size_t at_ = 0;
  Index line_ = 0;
  bool ended_ = true;
};

/// Why a line that a file ends in is refused.
inline constexpr std::string_view file_ends_in_line =
    "truncated: the file ends within this line (a complete file ends with a newline)";

/// The words between blanks.
std::vector<std::string_view> words_of(std::string_view line);

/// A piece of an input for a message: short, printable, and in quotes.
std::string shown_input(std::string_view text);

}  // namespace tessera::detail
