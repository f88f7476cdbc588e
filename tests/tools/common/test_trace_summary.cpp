// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <sstream>

#include <gtest/gtest.h>

#include <tessera/error.hpp>

#include "trace_summary.hpp"

namespace {

using namespace tessera::program;

constexpr const char* records = R"(Name: gemm_d
Model: gemm_d
JobId: 1
Priority: 0
WorkerId: 0
MemoryNode: 0
SubmitTime: 0.5
StartTime: 1.0
EndTime: 3.0
GFlop: 0.004000
Parameters: 8 8
MPIRank: 0

Name: potrf_d
JobId: 2
WorkerId: 1
StartTime: 2.0
EndTime: 3.0
GFlop: 0.001

Control: Barrier
JobId: 3

Name: never_ran
JobId: 4

Name: gemm_d
JobId: 5
WorkerId: 0
StartTime: 4.0
EndTime: 5.0
GFlop: 0.002

)";

Trace example() {
  std::istringstream input(records);
  return {parse_tasks(input), {}};
}

/// Messages to rank 0: one while its two workers are busy, and one that begins before and ends after that.
/// One message goes to rank 1, which runs no task.
constexpr const char* messages = R"(Src: 1
Dst: 0
Tag: 37
SendTime: 1.25
RecvTime: 2.5
Size: 4096
Type: PointToPoint

Src: 2
Dst: 0
SendTime: 0.5
RecvTime: 4.5
Size: 1024

Src: 0
Dst: 1
SendTime: 5
RecvTime: 7
Size: 8

Src: 0
Dst: 1
SendTime: 8
Size: 8

)";

Trace example_of_ranks() {
  std::istringstream input(messages);
  Trace trace = example();
  trace.messages = parse_messages(input);
  return trace;
}

TEST(TraceParser, KeepsExecutedTasks) {
  const auto tasks = example().tasks;
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(tasks[0].name, "gemm_d");
  EXPECT_EQ(tasks[1].worker, 1);
  EXPECT_DOUBLE_EQ(tasks[0].start, 1e-3);
  EXPECT_DOUBLE_EQ(tasks[2].end, 5e-3);
  EXPECT_DOUBLE_EQ(tasks[0].flops, 4e6);
}

TEST(TraceParser, RefusesWhatIsNoCompleteRecord) {
  const auto refused = [](const std::string& text, const std::string& reason) {
    std::istringstream input(text);
    try {
      parse_tasks(input);
      ADD_FAILURE() << text;
    } catch (const tessera::InputError& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  };
  const auto record = [](const std::string& worker, const std::string& start, const std::string& end) {
    return "Name: gemm_d\nWorkerId: " + worker + "\nStartTime: " + start + "\nEndTime: " + end + "\n\n";
  };
  const std::string good = record("0", "1.0", "3.5");
  for (std::size_t length = 1; length < good.size(); ++length)
    refused(good + good.substr(0, length), "truncated");
  refused(record("0", "1.0", "nan"), "tasks.rec:5: EndTime 'nan' is out of range");
  refused(record("0", "-inf", "3"), "out of range");
  refused(record("0", "1", "1e300"), "out of range");
  refused(record("0", "1", "3x"), "EndTime is '3x', not a number");
  refused(record("1e300", "1", "3"), "WorkerId is '1e300', not an integer");
  refused(record("99999999999", "1", "3"), "not an integer");
  refused(record("0", "3", "1"), "ends before it starts");
  std::istringstream bytes("Name: a\xff\x1b<\nWorkerId: 0\nStartTime: 1\nEndTime: 2\n\n");
  EXPECT_EQ(parse_tasks(bytes).at(0).name, "a??<");
}

TEST(TraceSummary, CountsAndShares) {
  const TraceSummary summary = summarise(example());
  EXPECT_DOUBLE_EQ(summary.span_seconds, 4e-3);
  EXPECT_DOUBLE_EQ(summary.busy_share, 0.5) << "4 ms of 2 workers x 4 ms";
  EXPECT_DOUBLE_EQ(summary.gflops, 7e6 / 4e-3 * 1e-9);
  ASSERT_EQ(summary.codelets.size(), 2u);
  EXPECT_EQ(summary.codelets[0].name, "gemm_d");
  EXPECT_EQ(summary.codelets[0].count, 2);
  EXPECT_DOUBLE_EQ(summary.codelets[0].median_seconds, 1.5e-3);
  EXPECT_DOUBLE_EQ(summary.codelets[0].share, 0.75);
  EXPECT_DOUBLE_EQ(summary.codelets[0].gflops, 2);
  ASSERT_EQ(summary.workers.size(), 2u);
  EXPECT_DOUBLE_EQ(summary.workers[0].idle_share, 0.25);
  EXPECT_DOUBLE_EQ(summary.workers[1].idle_share, 0.75);
  const std::string text = format_summary(summary);
  EXPECT_NE(text.find("gemm_d"), std::string::npos);
  EXPECT_NE(text.find("75.0 %"), std::string::npos);
  EXPECT_EQ(to_json(summary)["codelets"][0]["count"], 2);
  EXPECT_TRUE(summarise({}).codelets.empty());
}

TEST(TraceSummary, MessagesAndWhatIsComputedMeanwhile) {
  const Trace trace = example_of_ranks();
  ASSERT_EQ(trace.messages.size(), 3u) << "the last one never arrives";
  EXPECT_EQ(trace.messages[0].source, 1);
  EXPECT_DOUBLE_EQ(trace.messages[0].start, 1.25e-3);
  EXPECT_DOUBLE_EQ(trace.messages[1].bytes, 1024);
  const TraceSummary summary = summarise(trace);
  ASSERT_EQ(summary.messages.size(), 2u);
  const MessageSummary &first = summary.messages[0], &second = summary.messages[1];
  EXPECT_EQ(first.rank, 0);
  EXPECT_EQ(first.count, 2);
  EXPECT_DOUBLE_EQ(first.bytes, 5120);
  EXPECT_DOUBLE_EQ(first.seconds, 4e-3);
  EXPECT_DOUBLE_EQ(first.overlapped_seconds, 2.5e-3) << "1 to 3 and 4 to 4.5 ms";
  EXPECT_EQ(second.rank, 1);
  EXPECT_DOUBLE_EQ(second.seconds, 2e-3);
  EXPECT_DOUBLE_EQ(second.overlapped_seconds, 0);
  EXPECT_NE(format_summary(summary).find("62.5 %"), std::string::npos);
  EXPECT_EQ(format_summary(summarise(example())).find("messages"), std::string::npos);
  EXPECT_DOUBLE_EQ(to_json(summary)["messages"][0]["overlapped_seconds"], first.overlapped_seconds);
}

/// The clock of rank 1 is 6 ms ahead, that of rank 2 another 3 ms, and messages take at least 2 ms.
TEST(TraceSummary, ClocksThatDifferAreAligned) {
  const double ahead[] = {0, 6e-3, 9e-3};
  Trace truth, trace;
  int number = 0;
  for (const auto& [source, destination] : {std::pair(0, 1), {1, 0}, {1, 2}, {2, 1}, {0, 1}, {2, 1}}) {
    const double start = 0.02 + 0.001 * number, end = start + 2e-3 + (number >= 4 ? 1e-3 : 0);
    ++number;
    truth.messages.push_back({source, destination, start, end, 8});
    trace.messages.push_back({source, destination, start + ahead[source], end + ahead[destination], 8});
  }
  for (int rank = 0; rank < 3; ++rank) {
    truth.tasks.push_back({"gemm_d", rank, 0, 0.01, 0.03, 0});
    trace.tasks.push_back({"gemm_d", rank, 0, 0.01 + ahead[rank], 0.03 + ahead[rank], 0});
  }
  align_clocks(trace);
  for (std::size_t k = 0; k < truth.messages.size(); ++k) {
    EXPECT_NEAR(trace.messages[k].start, truth.messages[k].start, 1e-12) << k;
    EXPECT_NEAR(trace.messages[k].end, truth.messages[k].end, 1e-12) << k;
  }
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(trace.tasks[k].start, 0.01, 1e-12) << k;
  // If all messages arrive after they are sent, clocks must not change, however long the messages
  // take.
  Trace good = truth;
  good.messages[0].end += 1;
  align_clocks(good);
  EXPECT_EQ(good.messages[2].start, truth.messages[2].start);
  EXPECT_EQ(good.tasks[1].start, truth.tasks[1].start);
}

TEST(TraceExport, MessagesAreEventsOfTheRankThatReceivesThem) {
  const Json events = to_chrome(example_of_ranks())["traceEvents"];
  ASSERT_EQ(events.size(), 3u + 2 * 3u);
  EXPECT_EQ(events[3]["ph"], "b");
  EXPECT_EQ(events[4]["ph"], "e");
  EXPECT_EQ(events[3]["id"], events[4]["id"]);
  EXPECT_EQ(events[7]["pid"], 1);
  EXPECT_DOUBLE_EQ(events[4]["ts"], 2500);
  const std::string svg = to_svg(example_of_ranks());
  EXPECT_NE(svg.find(">to 0</text>"), std::string::npos);
  EXPECT_NE(svg.find("messages to rank 0, 3.5 ms"), std::string::npos) << "within the axis";
  EXPECT_EQ(to_svg(example()).find("messages"), std::string::npos);
}

TEST(TraceExport, ChromeEventsAndGantt) {
  const Json chrome = to_chrome(example());
  ASSERT_EQ(chrome["traceEvents"].size(), 3u);
  EXPECT_EQ(chrome["traceEvents"][0]["ph"], "X");
  EXPECT_DOUBLE_EQ(chrome["traceEvents"][0]["ts"], 1000);
  EXPECT_DOUBLE_EQ(chrome["traceEvents"][0]["dur"], 2000);
  const std::string svg = to_svg(example());
  EXPECT_EQ(svg.find("<svg"), 0u);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  EXPECT_NE(svg.find("potrf_d: 1"), std::string::npos);
  // Three tasks, the background, and two squares of the legend.
  std::size_t rectangles = 0;
  for (std::size_t at = 0; (at = svg.find("<rect", at)) != std::string::npos; ++at) ++rectangles;
  EXPECT_EQ(rectangles, 6u);
}

}  // namespace
