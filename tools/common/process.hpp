// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

/// The program as a process: memory, clock, progress.
namespace tessera::program {

/// The executable's name: before what it says on stderr, and in its reports. `tessera` unless main says
/// otherwise.
std::string& program_name();

/// Seconds on a steady clock.
double now();

/// The time of day, ISO 8601 in UTC: 2026-11-24T16:20:00Z.
std::string utc_date();

/// Resident memory of this process now, and its largest value since the last reset (or the start, where the
/// system does not let it be reset). 0 where unknown.
double resident_bytes();
double peak_resident_bytes();
void reset_peak_memory();

/// Started by mpirun or a like launcher, so that there are other ranks.
bool launched_in_parallel();

/// How a signal ends all ranks: set while there are several (MPI_Abort), null otherwise. Called with the exit
/// code by a thread that does nothing else.
extern std::atomic<void (*)(int code)> abort_ranks;

/// For the start of main. SIGINT, SIGTERM and SIGHUP (unless they are ignored) remove the temporary files and
/// directories of this process, leave every output as it was or complete, say so in one line on stderr, and
/// end the process with 128 + the signal's number; a second one ends it at once. What a pipe or a limit does
/// not let be written becomes an error, not a signal. Standard streams that are closed stay unused: no file
/// takes their numbers.
void guard_process();

/// Says on stderr what has been going on for longer than a second, on a terminal only; the line disappears at
/// the end.
class Progress {
 public:
  /// Silent unless `wanted` and stderr is a terminal.
  explicit Progress(bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// What is being done from now on.
  void stage(const std::string& text);
  /// Removes the line.
  void done();

 private:
  void run();
  bool active_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  double since_ = 0;
  bool shown_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace tessera::program
