// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tests/tools/program_test.hpp>

/// Other libraries beside `tessera eigen` and `bench_dense`, as a user would run them.
namespace {

using namespace tessera::test;

/// Values alone have two routines in LAPACK, of which the faster one counts.
TEST_F(Program, LapackTriesTwoStagesForValues) {
  for (const char* type : {"s", "d", "c", "z"}) {
    const Json json = record(
        fmt::format("eigen --generate random --n 60 --vectors no --type {} --peer lapack --repeat 3", type));
    EXPECT_TRUE(passed(json)) << type;
    const Json& peer = json["peer"];
    if (!peer.contains("candidates")) GTEST_SKIP() << "this LAPACK has no two-stage driver";
    ASSERT_EQ(peer["candidates"].size(), 2u);
    EXPECT_TRUE(peer["candidates"][1]["name"].get<std::string>().ends_with("evd_2stage")) << peer;
    double least = HUGE_VAL;
    for (const Json& candidate : peer["candidates"]) {
      EXPECT_EQ(candidate["runs"].size(), 3u);
      least = std::min(least, candidate["seconds"].get<double>());
    }
    EXPECT_EQ(peer["seconds"], least);
  }
  const Json vectors = record("eigen --generate random --n 60 --peer lapack");
  EXPECT_FALSE(vectors["peer"].contains("candidates")) << vectors["peer"];
  EXPECT_NE(vectors["peer"]["version"].get<std::string>().find_first_of("0123456789"), std::string::npos);
}

/// With a GPU the peers must solve and agree; without one each run must print one line and exit
/// with code 2.
TEST_F(Program, CusolverIsAPeer) {
  for (const char* command :
       {"eigen --generate random --n 120 --peer cusolver", "bench_dense cholesky --n 130 --peer cusolver",
        "bench_dense tridiagonalize --n 130 --type c --peer cusolver",
        "eigen --generate random --n 120 --type z --range index:3:20 --peer cusolver",
        "eigen --generate random --n 120 --overlap generated --peer cusolver",
        "eigen --generate random --n 120 --type c --overlap generated --peer cusolver"}) {
    const Outcome outcome = run(fmt::format("{} --json -", command));
    if (outcome.code == 0) {
      const Json peer = Json::parse(outcome.out)["peer"];
      const std::string line = command, name = peer["name"];
      EXPECT_GT(peer["ratio"].get<double>(), 0);
      EXPECT_FALSE(peer["version"].get<std::string>().empty());
      EXPECT_EQ(
          name.find(line.find("--type c") == std::string::npos ? "dsygvd" : "chegvd") != std::string::npos,
          line.find("--overlap") != std::string::npos)
          << name;
      continue;
    }
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_NE(outcome.err.find("GPU"), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

/// With GPUs it must solve all types and ranges and pass the checks. Without GPUs, or if CUDA lacks
/// the library, the run must print one line and exit with code 2.
TEST_F(Program, CusolverMgIsAPeer) {
  for (const char* more : {"--type s", "--type d", "--type c", "--type z", "--vectors no",
                           "--range index:30:200", "--type z --range value:-1:5"}) {
    const std::string command = fmt::format("eigen --generate random --n 700 --peer cusolvermg {}", more);
    const Outcome outcome = run(command + " --json -");
    if (outcome.code == 2) {
      EXPECT_TRUE(outcome.err.find("this run has no GPU") != std::string::npos ||
                  outcome.err.find("built without cuSOLVERMg") != std::string::npos)
          << outcome.err;
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
      break;
    }
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json record = Json::parse(outcome.out), &peer = record["peer"];
    EXPECT_GT(peer["ratio"].get<double>(), 0);
    EXPECT_EQ(peer["gpus"], record["machine"]["cuda_workers"]);
    EXPECT_TRUE(peer["check"]["passed"].get<bool>()) << command << peer;
    // Values are compared only if both solvers have found equally many pairs.
    EXPECT_TRUE(record["runs"][0]["check"]["values"].is_number()) << command;
  }
  expect_refused("eigen --generate random --n 20 --peer cusolvermg --gpus 0", "GPU");
  expect_refused("eigen --generate random --overlap generated --n 20 --peer cusolvermg", "--overlap");
}

}  // namespace
