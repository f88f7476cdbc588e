// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "nominal_flops.hpp"
#include "report.hpp"

namespace {

using namespace tessera::program;

RunRecord run_of(double seconds) {
  RunRecord run;
  run.total_seconds = seconds;
  run.submit_seconds = 0.01;
  run.stages = {{"reduce_to_band", seconds / 2, seconds, 1e9, 100},
                {"tridiagonal_eigen", seconds / 2, seconds, 0, 20}};
  run.flops = 2e9;
  run.tasks = 120;
  run.workers = {4, 0.9, 0.07, 0.03, 5e6};
  run.peak_bytes = 3.0 * 1024 * 1024;
  run.peak_matrices = 3.5;
  run.result = {{"n", 736}, {"count", 736}};
  return run;
}

Report example() {
  Report report;
  report.command = "eigen";
  report.version = "1.2.3";
  report.commit = "abc";
  report.title = "tessera 1.2.3 (abc) eigen";
  report.date = "2026-01-02T03:04:05Z";
  report.command_line = {"tessera", "eigen"};
  report.machine = {{"host", "here"}};
  report.options = {{"n", 736}};
  report.lines = {{"matrix", "random, n = 736"}};
  report.runs = {run_of(3), run_of(1), run_of(2)};
  return report;
}

TEST(Median, OfOddEvenAndNothing) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Check, PassesBelowTheBoundOnly) {
  CheckRecord check;
  EXPECT_FALSE(check.any());
  EXPECT_TRUE(check.passed()) << "nothing was checked";
  check.residual = 0.1;
  EXPECT_TRUE(check.any());
  EXPECT_TRUE(check.passed());
  check.orthogonality = check_bound;
  EXPECT_FALSE(check.passed());
  check.orthogonality = 1;
  check.values = HUGE_VAL;
  EXPECT_FALSE(check.passed());
}

TEST(JsonRecord, HasTheFieldsThatReadersRelyOn) {
  Report report = example();
  report.peer = PeerRecord{"lapack dsyevd", 4, {4, 6, 5}, {}};
  report.peer->version = "OpenBLAS 1.2";
  CheckRecord check;
  check.residual = 0.5;
  check.orthogonality = 0.25;
  report.runs.back().check = check;
  const Json json = to_json(report);
  std::vector<std::string> keys;
  for (const auto& item : json.items()) keys.push_back(item.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"schema", "command", "version", "commit", "date", "command_line",
                                            "machine", "options", "runs", "peer"}));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["date"], "2026-01-02T03:04:05Z");
  const Json& run = json["runs"][2];
  EXPECT_EQ(run["seconds"]["total"], 2.0);
  EXPECT_EQ(run["seconds"]["submit"], 0.01);
  EXPECT_EQ(run["seconds"]["stages"]["reduce_to_band"], 1.0);
  EXPECT_DOUBLE_EQ(run["gflops"]["reduce_to_band"], 1.0);
  EXPECT_DOUBLE_EQ(run["gflops"]["total"], 1.0);
  EXPECT_TRUE(run["gflops"]["tridiagonal_eigen"].is_null()) << "not counted";
  EXPECT_EQ(run["tasks"], 120);
  EXPECT_EQ(run["workers"]["busy"], 0.9);
  EXPECT_EQ(run["workers"]["idle"], 0.07);
  EXPECT_EQ(run["workers"]["bytes_moved"], 5e6);
  EXPECT_EQ(run["check"]["residual"], 0.5);
  EXPECT_TRUE(run["check"]["values"].is_null());
  EXPECT_EQ(run["check"]["passed"], true);
  EXPECT_FALSE(json["runs"][0].contains("check"));
  EXPECT_EQ(run["result"]["count"], 736);
  EXPECT_EQ(run["memory"]["peak_matrices"], 3.5);
  EXPECT_TRUE(run["memory"]["gpu_bytes"].is_null()) << "no GPUs";
  EXPECT_EQ(json["peer"]["name"], "lapack dsyevd");
  EXPECT_EQ(json["peer"]["version"], "OpenBLAS 1.2");
  EXPECT_EQ(json["peer"]["threads"], 4);
  EXPECT_EQ(json["peer"]["gpus"], 0);
  EXPECT_EQ(json["peer"]["seconds"], 5.0);
  EXPECT_EQ(json["peer"]["ratio"], 2.5) << "5 s of the peer against 2 s";
  EXPECT_NO_THROW(Json::parse(json.dump()));
}

TEST(JsonRecord, TellsWhatIsHeldOnGpus) {
  Report report = example();
  EXPECT_EQ(format_report(report).find("GPU memory"), std::string::npos);
  for (RunRecord& run : report.runs) run.gpu_bytes = 1536;
  EXPECT_EQ(to_json(report)["runs"][0]["memory"]["gpu_bytes"], 1536);
  EXPECT_NE(format_report(report).find("GPU memory    1.50 KiB held after the run"), std::string::npos)
      << format_report(report);
}

TEST(JsonRecord, FractionsOfTheLimit) {
  Report report = example();
  report.limit = LimitRecord{"gemm", 2};
  const Json json = to_json(report);
  EXPECT_EQ(json["limit"]["gflops"], 2.0);
  EXPECT_DOUBLE_EQ(json["limit"]["fractions"]["reduce_to_band"], 0.5);
}

TEST(JsonRecord, SaysWhereTheTasksRan) {
  Report report = example();
  StageRecord& stage = report.runs[2].stages[0];
  const auto tasks = stage.tasks;
  stage.cuda_tasks = tasks - 1;
  const Json json = to_json(report)["runs"][2]["stage_tasks"][stage.name];
  EXPECT_EQ(json["cuda"], tasks - 1);
  EXPECT_EQ(json["cpu"], 1);
}

TEST(JsonRecord, FractionsOfTheCopyRate) {
  Report report = example();
  for (RunRecord& run : report.runs) set_nominal_bytes(run, 300, 300, 30, 8);
  report.limit = LimitRecord{"gemm", 2, 1e9};
  const RunRecord& run = report.runs[2];
  ASSERT_EQ(run.stages[0].name, "reduce_to_band");
  EXPECT_DOUBLE_EQ(run.stages[0].bytes, 8 * 27e6 / 180);
  const Json json = to_json(report)["limit"];
  EXPECT_DOUBLE_EQ(json["copy_fractions"]["reduce_to_band"], 8 * 27e6 / 180 / run.stages[0].seconds / 1e9);
  EXPECT_FALSE(json["bytes"].contains("tridiagonal_eigen")) << "not counted";
  EXPECT_NE(format_report(report).find("copy: 1 GB/s"), std::string::npos);
}

TEST(ReportText, ShowsTheMedianRunAndFits) {
  Report report = example();
  report.peer = PeerRecord{"lapack dsyevd", 4, {4, 6, 5}, {}};
  CheckRecord check;
  check.residual = 31;
  report.runs.back().check = check;
  report.results = {{"HOMO", "-0.0797670777"}};
  const std::string text = format_report(report);
  EXPECT_NE(text.find("median of 3, 1 s to 3 s"), std::string::npos) << text;
  EXPECT_NE(text.find("reduce_to_band"), std::string::npos);
  EXPECT_NE(text.find("4 threads; ratio 2.50"), std::string::npos);
  EXPECT_NE(text.find("busy 90.0 %"), std::string::npos);
  EXPECT_NE(text.find("3.50 n^2"), std::string::npos);
  EXPECT_NE(text.find("HOMO          -0.0797670777"), std::string::npos);
  EXPECT_NE(text.find("residual 31 (bound 30): FAILED"), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(ReportText, SaysOnHowManyGpusThePeerRan) {
  Report report = example();
  report.peer = PeerRecord{"cusolver Xsyevd (d)", 0, {4}, {}};
  EXPECT_NE(format_report(report).find("one GPU; ratio"), std::string::npos) << format_report(report);
  EXPECT_EQ(to_json(report)["peer"]["gpus"], 1);
  report.peer->gpus = 4;
  EXPECT_NE(format_report(report).find("4 GPUs; ratio"), std::string::npos) << format_report(report);
  EXPECT_EQ(to_json(report)["peer"]["gpus"], 4);
}

TEST(ReportText, TellsWhatThePeersTimeDoesNot) {
  Report report = example();
  report.peer = PeerRecord{"solver", 1, {4}, {}};
  const std::string before = format_report(report);
  EXPECT_EQ(before.find("converged"), std::string::npos);
  report.peer->note = "it converged 1 of 3 pairs";
  EXPECT_NE(format_report(report).find("(its time / ours)\n              it converged 1 of 3 pairs\n"),
            std::string::npos)
      << format_report(report);
}

TEST(ReportText, TellsWhatElseThePeerHasTried) {
  Report report = example();
  report.peer = PeerRecord{"fast", 1, {4}, {}};
  EXPECT_FALSE(to_json(report)["peer"].contains("candidates"));
  report.peer->candidates = {{"slow", {9, 7}}, {"fast", {4}}};
  const std::string text = format_report(report);
  EXPECT_NE(text.find("(its time / ours)\n              also tried slow: 8 s\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("also tried fast"), std::string::npos) << text;
  const Json json = to_json(report)["peer"]["candidates"];
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0], (Json{{"name", "slow"}, {"seconds", 8.0}, {"runs", {9.0, 7.0}}}));
  EXPECT_EQ(json[1]["name"], "fast");
}

TEST(ReportText, LongLinesGoOnUnderTheirText) {
  Report report = example();
  const std::string word(20, 'x'), path(120, 'p');
  const std::string half(43, 'a');
  report.lines = {{"fits", half + ' ' + std::string(42, 'b')},
                  {"not", half + ' ' + half},
                  {"long", {}},
                  {"path", path + " n = 1"}};
  for (int i = 0; i < 9; ++i) report.lines[2].second += (i > 0 ? " " : "") + word;
  const std::string text = format_report(report), gap(14, ' '),
                    four = word + " " + word + " " + word + " " + word;
  EXPECT_NE(text.find("fits          " + report.lines[0].second + "\nnot           " + half + "\n" + gap +
                      half + "\nlong          " + four + "\n" + gap + four + "\n" + gap + word +
                      "\npath          " + path + "\n" + gap + "n = 1\n"),
            std::string::npos)
      << text;
}

TEST(Units, AreReadable) {
  EXPECT_EQ(format_seconds(12.34), "12.3 s");
  EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(format_seconds(4e-6), "4 us");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(64.0 * 1024 * 1024 * 1024), "64 GiB");
}

TEST(NominalFlops, OfTheStages) {
  EXPECT_DOUBLE_EQ(nominal_flops("reduce_to_band", 300, 300, 32, 1), 4.0 / 3 * 27e6);
  EXPECT_DOUBLE_EQ(nominal_flops("cholesky", 300, 0, 0, 4), 36e6);
  EXPECT_DOUBLE_EQ(nominal_flops("band_to_tridiagonal", 300, 300, 32, 1), 6 * 9e4 * 32);
  EXPECT_DOUBLE_EQ(nominal_flops("back_band", 300, 100, 32, 1), 2 * 9e4 * 100);
  EXPECT_EQ(nominal_flops("tridiagonal_eigen", 300, 100, 32, 1), 0);
  RunRecord run;
  run.stages = {{"back_band", 1, 1, 5000, 1}, {"tridiagonal_eigen", 1, 1, 7, 1}};
  set_nominal_flops(run, 10, 10, 2, 1);
  EXPECT_EQ(run.stages[0].flops, 2000);
  EXPECT_EQ(run.stages[1].flops, 7) << "as the tasks counted";
  EXPECT_EQ(run.flops, 2007);
  run.stages[0].flops = 5;
  set_nominal_flops(run, 10, 10, 2, 1);
  EXPECT_EQ(run.stages[0].flops, 5) << "no more than the tasks computed";
}

/// A stage that ended soon after the previous one, because most of its work had been done by then.
TEST(JsonRecord, RatesAreByTheBusiestWorkerWhereStagesOverlap) {
  Report report = example();
  StageRecord& stage = report.runs[2].stages[0];
  stage.seconds = 0.01;
  stage.longest_busy_seconds = 0.5;
  stage.bytes = 1e8;
  report.limit = LimitRecord{"gemm", 4, 1e9};
  const Json json = to_json(report), &run = json["runs"][2];
  EXPECT_DOUBLE_EQ(run["gflops"]["reduce_to_band"], 2) << "1e9 flops in half a second";
  EXPECT_EQ(run["seconds"]["stages"]["reduce_to_band"], 0.01);
  EXPECT_EQ(run["seconds"]["busiest_worker"]["reduce_to_band"], 0.5);
  EXPECT_DOUBLE_EQ(json["limit"]["fractions"]["reduce_to_band"], 0.5);
  EXPECT_DOUBLE_EQ(json["limit"]["copy_fractions"]["reduce_to_band"], 0.2);
  const std::string text = format_report(report);
  EXPECT_NE(text.find("0.5000"), std::string::npos) << text;
  EXPECT_EQ(text.find("100.0 "), std::string::npos) << text;
}

}  // namespace
