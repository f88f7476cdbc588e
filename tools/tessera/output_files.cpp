// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "output_files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <tessera/runtime/error.hpp>

#include "session.hpp"

namespace tessera::program {

namespace {

/// 0, or the system's number of the error.
int error_of_writing(const std::string& path) {
  // Permissions do not tell of all file systems whether a file can be made there.
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (made >= 0) {
    ::close(made);
    ::unlink(path.c_str());
    return 0;
  }
  if (errno != EEXIST) return errno;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return EISDIR;
  // To open a pipe would wait for its reader, and closing it end what the reader reads.
  if (!std::filesystem::is_regular_file(path, ignored)) return ::access(path.c_str(), W_OK) ? errno : 0;
  const int opened = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (opened < 0) return errno;
  ::close(opened);
  return 0;
}

}  // namespace

void require_writable(const std::string& option, const std::string& path) {
  if (!speaks()) return;
  if (const int error = error_of_writing(path); error != 0)
    throw InvalidArgument(option, path, fmt::format("a file that can be written ({})", std::strerror(error)));
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw InputError(path, 0, "cannot be written");
}

}  // namespace tessera::program
