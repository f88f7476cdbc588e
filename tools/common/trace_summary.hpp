// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "report.hpp"

/// Summarises a traced run from the files `tasks.rec` and `comms.rec`, which StarPU's
/// starpu_fxt_tool creates from the raw traces. Functions without side effects, except read_trace.
namespace tessera::program {

struct TracedTask {
  std::string name;
  int rank = 0;
  int worker = 0;
  double start = 0, end = 0;  ///< seconds from the start of the trace
  double flops = 0;
};

/// Message from one rank to another, from the time it is sent until it has arrived.
struct TracedMessage {
  int source = 0, destination = 0;
  double start = 0, end = 0;  ///< seconds from the start of the trace
  double bytes = 0;
};
struct Trace {
  std::vector<TracedTask> tasks;
  std::vector<TracedMessage> messages;
};

/// Reads the executed tasks from a tasks.rec file: records of `Key: value` lines, separated by
/// empty lines; times in ms.
/// @throws InputError, which names the file, for a value that is not a number, and if the last
/// record is not complete
std::vector<TracedTask> parse_tasks(std::istream& input, const std::string& file = "tasks.rec");
/// Reads the messages from a comms.rec file, which has the same format.
std::vector<TracedMessage> parse_messages(std::istream& input, const std::string& file = "comms.rec");

/// Reads the trace of a run from a directory. Converts StarPU's raw files first, and aligns the
/// clocks.
/// @throws InputError
Trace read_trace(const std::string& directory);

/// If a message arrives before it was sent, the clocks of the ranks differ. (StarPU compares them
/// when ranks leave a barrier; with more ranks than cores, ranks may leave it at noticeably
/// different times.) In this case the clocks of each two ranks that send messages to each other are
/// shifted so that the fastest messages take the same time in both directions. This is done rank by
/// rank, starting with the first one.
void align_clocks(Trace& trace);

struct CodeletSummary {
  std::string name;
  Index count = 0;
  double median_seconds = 0, total_seconds = 0;
  double share = 0;   ///< share of the workers' busy time
  double gflops = 0;  ///< rate of one worker while the codelet runs
};
struct WorkerSummary {
  int rank = 0, worker = 0;
  Index count = 0;
  double busy_seconds = 0;
  double idle_share = 0;  ///< share of the time span
  double gflops = 0;      ///< rate over the time span
};
/// Messages that a rank receives.
struct MessageSummary {
  int rank = 0;
  Index count = 0;
  double bytes = 0;
  double seconds = 0;             ///< time during which at least one message to the rank is in
                                  ///< transit; messages that seem to arrive before they are sent
                                  ///< (see align_clocks) do not count
  double overlapped_seconds = 0;  ///< part of this time during which a worker of the rank runs a
                                  ///< task
};
struct TraceSummary {
  double span_seconds = 0;  ///< from the start of the first task to the end of the last one
  double busy_share = 0;
  double gflops = 0;
  std::vector<CodeletSummary> codelets;  ///< in order of decreasing total time
  std::vector<WorkerSummary> workers;
  std::vector<MessageSummary> messages;  ///< by rank, without ranks that receive nothing
};

TraceSummary summarise(const Trace& trace);
std::string format_summary(const TraceSummary& summary);
Json to_json(const TraceSummary& summary);

/// Trace event format of Chrome and Perfetto: one process for each rank, one thread for each
/// worker. Messages are asynchronous events of the receiving rank.
Json to_chrome(const Trace& trace);

/// Gantt chart with one row for each worker and one colour for each codelet, a legend and a time
/// axis. If there are messages, one row for each rank shows when messages to it are in transit.
/// Tasks narrower than a tenth of a pixel are merged with neighbours of the same codelet.
std::string to_svg(const Trace& trace);

}  // namespace tessera::program
