// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "output_files.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/output_file.hpp>

#include "session.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// errno of the first error on stdout; 0: none.
std::atomic<int> stdout_error{0};

void remember(int error) noexcept {
  int none = 0;
  stdout_error.compare_exchange_strong(none, error != 0 ? error : EIO);
}

}  // namespace

void require_writable(const std::string& option, const std::string& path) {
  if (!speaks()) return;
  bool regular = true;
  std::string reason = refusal_to_write(path, regular);
  if (reason.empty() && !regular && path.ends_with(".h5")) reason = "HDF5 needs a regular file";
  if (!reason.empty())
    throw InvalidArgument(option, path, fmt::format("a file that can be written ({})", reason));
}

void print_text(std::FILE* to, std::string_view text) noexcept {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), to) != text.size() && to == stdout) remember(errno);
}

void finish_stdout() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) remember(errno);
  // Some file systems report write errors only when a descriptor is closed.
  if (const int copy = ::dup(STDOUT_FILENO); copy >= 0 && ::close(copy) != 0) remember(errno);
  if (const int error = stdout_error.load(); error != 0)
    throw InputError("standard output", 0, fmt::format("cannot be written: {}", std::strerror(error)));
}

}  // namespace tessera::program
