// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/io/input_file.hpp>

namespace tessera::detail {

InputFile::InputFile(const std::string& path) : path_(path) {
  const auto refuse = [&](std::string_view reason) {
    if (descriptor_ >= 0) ::close(descriptor_);
    throw InputError(path, 0, reason);
  };
  if (path.find('\0') != std::string::npos) refuse("is no name of a file");
  // O_NONBLOCK: without it, to open a pipe would wait for a writer.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor_ < 0)
    refuse(errno == ENOENT ? "there is no such file"
                           : fmt::format("cannot be opened: {}", std::strerror(errno)));
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) refuse("is a directory, not a file");
  if (!S_ISREG(status.st_mode)) refuse("is a pipe or a device: only a regular file can be read");
  bytes_ = static_cast<Index>(status.st_size);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int InputFile::release() noexcept {
  return std::exchange(descriptor_, -1);
}

std::string InputFile::read() {
  std::string text(static_cast<std::size_t>(bytes_), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::read(descriptor_, text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw InputError(path_, 0, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

TextLines::TextLines(const std::string& path) : path_(path), text_(InputFile(path).read()) {}

bool TextLines::next(std::string_view& line) {
  if (at_ == text_.size()) return false;
  const std::size_t end = text_.find('\n', at_);
  ended_ = end != std::string::npos;
  line = std::string_view(text_).substr(at_, (ended_ ? end : text_.size()) - at_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  at_ = ended_ ? end + 1 : text_.size();
  ++line_;
  return true;
}

void TextLines::require_line_end() const {
  if (!ended_) fail(file_ends_in_line);
}

void TextLines::fail(std::string_view reason) const {
  throw InputError(path_, line_, reason);
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\v\f";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(blanks, end);
  }
  return words;
}

std::string shown_input(std::string_view text) {
  std::string word(text.substr(0, 24));
  std::replace_if(
      word.begin(), word.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return "'" + word + (text.size() > 24 ? "...'" : "'");
}

}  // namespace tessera::detail
