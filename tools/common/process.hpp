// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

/// Properties of the process: memory, time, signals, progress.
namespace tessera::program {

/// The executable's name, for the start of messages on stderr and for reports. `tessera` unless
/// main sets another name.
std::string& program_name();

/// Seconds of a monotonic clock.
double now();

/// The current date and time, ISO 8601 in UTC: 2026-11-24T16:20:00Z.
std::string utc_date();

/// Resident memory of this process now, and its maximum since the last reset (or since the start,
/// if the system does not support a reset). 0 if unknown.
double resident_bytes();
double peak_resident_bytes();
void reset_peak_memory();

/// Whether mpirun or a similar launcher started the process, so that there can be other ranks.
bool launched_in_parallel();

/// Function with which a signal ends all ranks: set (to MPI_Abort) while there are several ranks,
/// null otherwise. A dedicated thread calls it with the exit code.
extern std::atomic<void (*)(int code)> abort_ranks;

/// Called at the start of main. SIGINT, SIGTERM and SIGHUP (unless they are ignored) remove the
/// temporary files and directories of this process, leave every output file unchanged or complete,
/// print one line on stderr, and end the process with 128 + the signal's number. A second signal
/// ends the process at once. Writing to a closed pipe or beyond a file size limit returns an error
/// instead of raising a signal. Standard streams that are closed at the start are reserved, so that
/// no file gets their descriptors.
void guard_process();

/// Prints on stderr which stage is running, and how much of it is done if that is known, if it takes longer than a
/// second. Only on a terminal;
/// the line is removed at the end.
class Progress {
 public:
  /// Prints nothing unless `wanted` is set and stderr is a terminal.
  explicit Progress(bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Starts a stage, with its description.
  void stage(const std::string& text);
  /// The share of the stage that is done, from 0 to 1: shown in percent. From any thread.
  void share(double done);
  /// Removes the line.
  void done();

 private:
  void run();
  bool active_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  double since_ = 0, done_ = -1;  ///< -1: the share is not known
  bool shown_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace tessera::program
