// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "process.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

namespace tessera::program {

namespace {

double status_bytes(const char* name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return 1024 * std::strtod(line.c_str() + std::strlen(name), nullptr);
  return 0;
}

}  // namespace

std::string& program_name() {
  static std::string name = "tessera";
  return name;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string utc_date() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

double resident_bytes() {
  return status_bytes("VmRSS:");
}
double peak_resident_bytes() {
  return status_bytes("VmHWM:");
}
void reset_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

bool launched_in_parallel() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS"})
    if (std::getenv(name)) return true;
  return false;
}

Progress::Progress(bool wanted) : active_(wanted && isatty(STDERR_FILENO)) {
  if (active_) thread_ = std::thread([this] { run(); });
}

Progress::~Progress() {
  if (!active_) return;
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Progress::stage(const std::string& text) {
  if (!active_) return;
  std::lock_guard lock(mutex_);
  text_ = text;
  since_ = now();
  done_ = -1;
}

void Progress::share(double done) {
  if (!active_) return;
  std::lock_guard lock(mutex_);
  done_ = done;
}

void Progress::done() {
  if (!active_) return;
  std::lock_guard lock(mutex_);
  text_.clear();
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void Progress::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    changed_.wait_for(lock, std::chrono::milliseconds(250));
    const double seconds = now() - since_;
    if (stop_ || text_.empty() || seconds < 1) continue;
    // Rounded down: 100 % is what is done.
    const std::string share = done_ < 0 ? "" : fmt::format("{:.0f} %, ", std::floor(100 * done_));
    std::fputs(fmt::format("\r\033[K{} ({}{:.0f} s)", text_, share, seconds).c_str(), stderr);
    std::fflush(stderr);
    shown_ = true;
  }
  if (shown_) std::fputs("\r\033[K", stderr);
}

}  // namespace tessera::program
