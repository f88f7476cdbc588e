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

#include "common_options.hpp"

/// The record of a command: what the JSON holds and the printed report shows. Pure data and pure functions.
namespace tessera::program {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
/// All scaled checks must be below this.
inline constexpr double check_bound = 30;

/// Median of a copy; NaN of nothing.
double median(std::vector<double> values);

/// Scaled checks of a solution (design: accuracy gates); NaN where not computed.
struct CheckRecord {
  double residual = unknown, orthogonality = unknown, values = unknown, trace = unknown;
  std::string values_against;          ///< what `values` compares with
  double values_difference = unknown;  ///< the same, absolute: the largest |lambda - reference|
  std::string failure;                 ///< not empty: failed, for this reason, whatever the numbers are
  bool any() const;
  /// Everything that was computed is finite and below the bound. A check that gave NaN from NaN input is not
  /// "unknown": set it to infinity.
  bool passed() const;
};

struct StageRecord {
  std::string name;
  double seconds = 0;
  double busy_seconds = 0;
  double flops = 0;  ///< nominal; 0: not counted
  double bytes = 0;  ///< that must be moved at least; 0: not counted
  Index tasks = 0;
  Index cuda_tasks = 0;             ///< of them, those that ran on a GPU
  double longest_busy_seconds = 0;  ///< of the worker that was busy longest; 0: not known
  /// What rates are by: stages overlap, and one whose work was mostly done before the stage ahead of it ended
  /// has few `seconds`, but no worker can have computed it in less time than it was busy.
  double rate_seconds() const { return std::max(seconds, longest_busy_seconds); }
};

struct WorkersRecord {
  int count = 0;
  double busy_share = unknown;      ///< of the workers' time, executing tasks
  double sleeping_share = unknown;  ///< waiting for tasks
  double overhead_share = unknown;  ///< scheduling and data management
  double bytes_moved = 0;           ///< between host and GPUs and between GPUs; 0 without GPUs
};

struct RunRecord {
  double total_seconds = 0, submit_seconds = 0;
  std::vector<StageRecord> stages;
  double flops = 0;  ///< nominal, of the whole
  Index tasks = 0;
  WorkersRecord workers;
  double peak_bytes = 0;  ///< of the process, during the run
  double peak_matrices =
      unknown;  ///< growth of the memory over its state before the matrix was made, in units of n^2 elements
  std::optional<CheckRecord> check;
  Json result = Json::object();
};

struct PeerRecord {
  std::string name;  ///< of the routines
  int threads = 1;   ///< 0: on a GPU
  std::vector<double> seconds;
  std::optional<CheckRecord> check;
  int gpus = 1;                       ///< where threads is 0
  Json result = Json::object();       ///< of the peer, in the record if it is not empty
  std::string note{};                 ///< what a reader of its time must know, if anything
  std::string version{};              ///< of the library
  std::vector<double> own_seconds{};  ///< of our side, where that is not the whole of the runs
};

/// A limit of the machine measured in the same run.
struct LimitRecord {
  std::string name;
  double gflops = unknown;
  double copy_rate = unknown;  ///< bytes read and written per second by a copy, where it was measured
};

/// Of the records: it grows when a field goes, or gets another meaning, not when one is added.
inline constexpr int record_schema = 1;

struct Report {
  std::string command, title, version, commit;
  std::string date;  ///< of the command's start, ISO 8601, UTC
  std::vector<std::string> command_line;
  Json machine = Json::object();
  Json options = Json::object();
  std::vector<std::pair<std::string, std::string>> lines;  ///< label and text, printed first
  std::vector<RunRecord> runs;
  std::optional<PeerRecord> peer;
  std::optional<LimitRecord> limit;
  std::vector<std::pair<std::string, std::string>> results;  ///< label and text, printed after the times

  double median_seconds() const;
  /// Peer's seconds / ours, medians.
  double ratio() const;
  bool passed() const;
};

Json to_json(const CheckRecord& check);
Json to_json(const RunRecord& run);
Json to_json(const Report& report);
/// What the records of all commands begin with.
Json record_head(const Report& report);

/// The report for a person, lines of at most 100 characters. The stages are those of the run with the median
/// time.
std::string format_report(const Report& report);

/// 1.23 s, 45.6 ms, 789 us.
std::string format_seconds(double seconds);
/// 1.5 GiB.
std::string format_bytes(double bytes);

}  // namespace tessera::program
