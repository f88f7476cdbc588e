// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <tessera/runtime/temporary_files.hpp>

#include "process.hpp"
#include "session.hpp"

namespace tessera::program {
using namespace detail;

std::atomic<void (*)(int code)> abort_ranks{nullptr};

namespace {

constexpr std::array<std::pair<int, const char*>, 3> ends{
    {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}}};

int pipe_ends[2] = {-1, -1};

/// Time of the first signal in nanoseconds; 0: none yet.
std::atomic<std::int64_t> first_signal = 0;

/// Does only what a signal handler is allowed to do: it wakes the thread that does the rest. A
/// second signal ends the process. Signals that follow each other closely count as one, because
/// terminals, timeout and mpirun send a signal both to the process and to its process group.
extern "C" void tell_thread(int number) {
  constexpr std::int64_t same = 50'000'000;
  const int error = errno;
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  std::int64_t first = 0;
  if (first_signal.compare_exchange_strong(first, now)) {
    const auto byte = static_cast<unsigned char>(number);
    if (::write(pipe_ends[1], &byte, 1) != 1) ::_exit(128 + number);
  } else if (now - first > same) {
    std::signal(number, SIG_DFL);
    ::raise(number);
  }
  errno = error;
}

void end_when_told(bool print) {
  unsigned char number = 0;
  while (::read(pipe_ends[0], &number, 1) != 1)
    if (errno != EINTR) return;
  abandon_temporaries();
  const char* name = "a signal";
  for (const auto& [one, text] : ends)
    if (one == number) name = text;
  const std::string line =
      fmt::format("{}{}: interrupted by {}: every output file is as it was or complete\n",
                  ::isatty(STDERR_FILENO) ? "\r\033[K" : "", program_name(), name);
  if (print && ::write(STDERR_FILENO, line.data(), line.size()) < 0) errno = 0;
  const int code = 128 + number;
  if (const auto abort = abort_ranks.load()) {
    // The launcher sends the signal to all ranks, and kills the remaining ranks when one aborts.
    // Wait, so that all ranks have time to remove their temporary files.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    abort(code);
  }
  ::_exit(code);
}

/// Reserves the descriptors of closed standard streams. Otherwise a file could get such a
/// descriptor, and printed text would be written into it.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
      // Opened in the wrong direction, so that use of the stream fails.
      const int opened = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
      if (opened >= 0 && opened != stream) ::close(opened);
    }
}

}  // namespace

void guard_process() {
  occupy_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return;
  try {
    std::thread(end_when_told, speaks()).detach();
  } catch (const std::system_error&) {
    return;  // signals keep their default actions
  }
  for (const auto& [number, name] : ends) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = tell_thread;
    action.sa_flags = SA_RESTART;
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace tessera::program
