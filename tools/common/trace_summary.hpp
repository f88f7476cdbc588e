// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "report.hpp"

/// What happened in a traced run, from the `tasks.rec` and `comms.rec` that StarPU's starpu_fxt_tool makes of
/// its traces. Pure functions.
namespace tessera::program {

struct TracedTask {
  std::string name;
  int rank = 0;
  int worker = 0;
  double start = 0, end = 0;  ///< seconds from the start of the trace
  double flops = 0;
};

/// From one rank to another, under way from when it is sent until it has arrived.
struct TracedMessage {
  int source = 0, destination = 0;
  double start = 0, end = 0;  ///< seconds from the start of the trace
  double bytes = 0;
};
struct Trace {
  std::vector<TracedTask> tasks;
  std::vector<TracedMessage> messages;
};

/// Reads the executed tasks of a tasks.rec (records of `Key: value` lines, separated by empty lines; times in
/// ms). @throws InputError, naming the file, for what is no number, and where the last record is not complete
std::vector<TracedTask> parse_tasks(std::istream& input, const std::string& file = "tasks.rec");
/// Reads the messages of a comms.rec, which is written likewise.
std::vector<TracedMessage> parse_messages(std::istream& input, const std::string& file = "comms.rec");

/// The trace that a run has left in a directory, its clocks aligned; StarPU's raw files are converted first.
/// @throws InputError
Trace read_trace(const std::string& directory);

/// Where a message arrives before it is sent the ranks' clocks differ (StarPU compares them when ranks leave
/// a barrier, which with more ranks than cores may be milliseconds apart). Then the clocks of two ranks that
/// write to each other are set so that the fastest messages take as long in either direction; rank by rank,
/// beginning with the first one.
void align_clocks(Trace& trace);

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
/// What a rank receives.
struct MessageSummary {
  int rank = 0;
  Index count = 0;
  double bytes = 0;
  double seconds = 0;             ///< in which at least one message to it is under way; those that seem to
                                  ///< arrive before they are sent (align_clocks) do not count
  double overlapped_seconds = 0;  ///< of these, in which a worker of this rank runs a task
};
struct TraceSummary {
  double span_seconds = 0;  ///< from the first task's start to the last one's end
  double busy_share = 0;
  double gflops = 0;
  std::vector<CodeletSummary> codelets;  ///< longest total first
  std::vector<WorkerSummary> workers;
  std::vector<MessageSummary> messages;  ///< by rank; none of ranks that receive nothing
};

TraceSummary summarise(const Trace& trace);
std::string format_summary(const TraceSummary& summary);
Json to_json(const TraceSummary& summary);

/// Chrome's and Perfetto's trace event format: a process a rank, a thread a worker; messages are asynchronous
/// events of the rank that receives them.
Json to_chrome(const Trace& trace);

/// Gantt chart: a row a worker, a colour a codelet, with a legend and a time axis; and, where there are
/// messages, a row a rank: when some are under way to it. Tasks narrower than a tenth of a pixel are merged
/// with their neighbours of the same codelet.
std::string to_svg(const Trace& trace);

}  // namespace tessera::program
