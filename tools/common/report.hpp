// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/status.hpp>

#include "common_options.hpp"

/// The record of a command: the contents of the JSON and of the printed report. Only data and
/// functions without side effects.
namespace tessera::program {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
/// All scaled checks must be below this.
inline constexpr double check_bound = 30;

/// The number, or null if it is not finite.
Json number_or_null(double x);

/// The status in words: `converged`, `iterations exhausted`, ...
std::string words_of(const Status& status);

/// The median; NaN if there are no values.
double median(std::vector<double> values);

/// A number that must not be above a bound of its own.
struct CheckGate {
  std::string name;
  double value = 0, bound = 0;
  /// False for NaN.
  bool passed() const { return value <= bound; }
};

/// Scaled checks of a solution (design: accuracy gates); NaN where not computed.
struct CheckRecord {
  double residual = unknown, orthogonality = unknown, values = unknown, trace = unknown;
  std::string values_against;          ///< the reference of `values`
  double values_difference = unknown;  ///< absolute: the largest |lambda - reference|
  std::vector<CheckGate> gates;        ///< checks with bounds of their own
  std::string failure;                 ///< not empty: the check failed for this reason, whatever
                                       ///< the numbers are
  bool any() const;
  /// True if all computed checks are finite and below the bound. A computed check that is NaN must
  /// be set to infinity, because NaN means "not computed".
  bool passed() const;
};

struct StageRecord {
  std::string name;
  double seconds = 0;
  double busy_seconds = 0;
  double flops = 0;  ///< nominal; 0: not counted
  double bytes = 0;  ///< minimum that must be moved; 0: not counted
  Index tasks = 0;
  Index cuda_tasks = 0;             ///< number of tasks that ran on a GPU
  double longest_busy_seconds = 0;  ///< busy time of the worker that was busy longest; 0: not known
  /// The time for computing rates. Stages overlap: if most of a stage's work is done before the
  /// previous stage ends, its `seconds` are few. But no worker can do its work in less time than it
  /// was busy.
  double rate_seconds() const { return std::max(seconds, longest_busy_seconds); }
};

struct WorkersRecord {
  int count = 0;
  double busy_share = unknown;      ///< share of the workers' time that they execute tasks
  double sleeping_share = unknown;  ///< waiting for tasks
  double overhead_share = unknown;  ///< in scheduling and data management
  double bytes_moved = 0;           ///< between host and GPUs and between GPUs; 0 without GPUs
};

struct RunRecord {
  double total_seconds = 0, submit_seconds = 0;
  std::vector<StageRecord> stages;
  double flops = 0;  ///< nominal, of the whole
  Index tasks = 0;
  WorkersRecord workers;
  double peak_bytes = 0;       ///< of the process, during the run
  double gpu_bytes = unknown;  ///< of GPUs' memory that StarPU holds after the run; unknown without GPUs
  double peak_matrices =
      unknown;  ///< growth of the memory since before the matrix was created, in units of n^2
                ///< elements
  std::optional<CheckRecord> check;
  Json result = Json::object();
};

/// One of several routines that a peer has tried.
struct PeerCandidate {
  std::string name;
  std::vector<double> seconds;  ///< of its runs
};

struct PeerRecord {
  std::string name;  ///< names of the routines
  int threads = 1;   ///< 0: on a GPU
  std::vector<double> seconds;
  std::optional<CheckRecord> check;
  int gpus = 1;                       ///< number of GPUs, if threads is 0
  Json result = Json::object();       ///< results of the peer; in the record unless empty
  std::string note{};                 ///< remark that is needed to interpret the time; empty: none
  std::string version{};              ///< of the library
  std::vector<double> own_seconds{};  ///< of our side, if that is not the whole of the runs
  /// All routines that were tried, if several: the fastest by the median gives the name and the seconds.
  std::vector<PeerCandidate> candidates{};
};

/// An upper limit of the machine's performance, measured in the same run.
struct LimitRecord {
  std::string name;
  double gflops = unknown;
  double copy_rate = unknown;  ///< bytes read and written per second by a copy, if measured
};

/// Version of the record format. It increases when a field is removed or changes its meaning, not
/// when a field is added.
inline constexpr int record_schema = 1;

struct Report {
  std::string command, title, version, commit;
  std::string date;  ///< start of the command, ISO 8601, UTC
  std::vector<std::string> command_line;
  Json machine = Json::object();
  Json options = Json::object();
  std::vector<std::pair<std::string, std::string>> lines;  ///< label and text, printed first
  std::vector<RunRecord> runs;
  std::optional<PeerRecord> peer;
  std::optional<LimitRecord> limit;
  std::vector<std::pair<std::string, std::string>> results;  ///< label and text, after the times

  double median_seconds() const;
  /// The peer's median time divided by ours.
  double ratio() const;
  bool passed() const;
};

Json to_json(const CheckRecord& check);
Json to_json(const RunRecord& run);
Json to_json(const Report& report);
/// The first part of the records of all commands.
Json record_head(const Report& report);

/// The printed report, in lines of at most 100 characters. Its stages are those of the run with the
/// median time.
std::string format_report(const Report& report);

/// 1.23 s, 45.6 ms, 789 us.
std::string format_seconds(double seconds);
/// 1.5 GiB.
std::string format_bytes(double bytes);

}  // namespace tessera::program
