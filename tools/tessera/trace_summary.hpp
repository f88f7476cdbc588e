// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "report.hpp"

/// What happened in a traced run, from the `tasks.rec` that StarPU's starpu_fxt_tool makes of its traces.
/// Pure functions.
namespace tessera::program {

struct TracedTask {
  std::string name;
  int rank = 0;
  int worker = 0;
  double start = 0, end = 0;  ///< seconds from the start of the trace
  double flops = 0;
};

/// Reads the executed tasks of a tasks.rec (records of `Key: value` lines, separated by empty lines; times in
/// ms).
std::vector<TracedTask> parse_tasks(std::istream& input);

struct CodeletSummary {
  std::string name;
  Index count = 0;
  double median_seconds = 0, total_seconds = 0;
  double share = 0;   ///< of the workers' busy time
  double gflops = 0;  ///< while it runs, of one worker
};
struct WorkerSummary {
  int rank = 0, worker = 0;
  Index count = 0;
  double busy_seconds = 0;
  double idle_share = 0;  ///< of the span
  double gflops = 0;      ///< over the span
};
struct TraceSummary {
  double span_seconds = 0;  ///< from the first task's start to the last one's end
  double busy_share = 0;
  double gflops = 0;
  std::vector<CodeletSummary> codelets;  ///< longest total first
  std::vector<WorkerSummary> workers;
};

TraceSummary summarise(const std::vector<TracedTask>& tasks);
std::string format_summary(const TraceSummary& summary);
Json to_json(const TraceSummary& summary);

/// Chrome's and Perfetto's trace event format: a process a rank, a thread a worker.
Json to_chrome(const std::vector<TracedTask>& tasks);

/// Gantt chart: a row a worker, a colour a codelet, with a legend and a time axis. Tasks narrower than a
/// tenth of a pixel are merged with their neighbours of the same codelet.
std::string to_svg(const std::vector<TracedTask>& tasks);

}  // namespace tessera::program
