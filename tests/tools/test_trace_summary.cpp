// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <sstream>

#include <gtest/gtest.h>

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

std::vector<TracedTask> example() {
  std::istringstream input(records);
  return parse_tasks(input);
}

TEST(TraceParser, KeepsExecutedTasks) {
  const auto tasks = example();
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(tasks[0].name, "gemm_d");
  EXPECT_EQ(tasks[1].worker, 1);
  EXPECT_DOUBLE_EQ(tasks[0].start, 1e-3);
  EXPECT_DOUBLE_EQ(tasks[2].end, 5e-3);
  EXPECT_DOUBLE_EQ(tasks[0].flops, 4e6);
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
  // Three tasks, the background and the legend's two squares.
  std::size_t rectangles = 0;
  for (std::size_t at = 0; (at = svg.find("<rect", at)) != std::string::npos; ++at) ++rectangles;
  EXPECT_EQ(rectangles, 6u);
}

}  // namespace
