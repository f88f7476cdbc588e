// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include <tests/tools/program_test.hpp>

#include "elpa_peer.hpp"
#include "scalapack_peer.hpp"

/// ScaLAPACK and ELPA beside `tessera eigen`, on one rank and on several, as a user would run them.
namespace {

using namespace tessera::test;
using tessera::program::elpa_has_single_precision;
using tessera::program::has_elpa;
using tessera::program::has_scalapack;

class RanksPeers : public Program {
 protected:
  static bool has(const std::string& peer) { return peer == "elpa" ? has_elpa() : has_scalapack(); }
  static bool takes(const std::string& peer, const std::string& type) {
    return has(peer) && (peer != "elpa" || elpa_has_single_precision() || type == "d" || type == "z");
  }
  /// The commands of a problem in all that the peer can: with and without an overlap, vectors and a range. Our
  /// side is LAPACK itself, so that the peer's values are compared with LAPACK's.
  static std::vector<std::string> commands(const std::string& peer, const std::string& type) {
    std::vector<std::string> result;
    for (const char* overlap : {"", " --overlap generated"})
      for (const char* wanted : {"", " --range index:23:61", " --range value:0.05:0.8", " --vectors no",
                                 " --vectors no --range index:0:40"})
        result.push_back(
            fmt::format("eigen --generate random --n 101 --solver vendor --peer {} --type {}{}{}", peer, type,
                        overlap, wanted));
    return result;
  }

  /// Solves, and looks at the check of the peer's pairs and at its values beside ours.
  Json agreed(const std::string& command, int count = 1) const {
    const Json json = count == 1 ? record(command + " --cores 1") : record(command, 0, ranks(count));
    const std::string what = fmt::format("{} on {} ranks: ", command, count) + json["peer"].dump();
    EXPECT_TRUE(passed(json)) << what;
    const bool vectors = command.find("--vectors no") == std::string::npos;
    const Json& values = json["runs"][0]["check"]["values"];
    EXPECT_TRUE(values.is_number() && values < 30) << what << json["runs"][0]["check"];
    if (vectors) {
      EXPECT_TRUE(json["peer"]["check"]["passed"].get<bool>()) << what;
      EXPECT_TRUE(json["peer"]["check"]["residual"].is_number()) << what;
    }
    EXPECT_GT(json["peer"]["seconds"].get<double>(), 0) << what;
    EXPECT_FALSE(json["peer"]["result"].contains("left_out")) << what;
    return json;
  }
};

TEST_F(RanksPeers, EveryTypeAndProblemOnOneRank) {
  if (!has_scalapack()) GTEST_SKIP() << "built without ScaLAPACK";
  for (const std::string peer : {"scalapack", "elpa"})
    for (const std::string type : {"s", "d", "c", "z"})
      if (takes(peer, type))
        for (const std::string& command : commands(peer, type)) agreed(command);
}

TEST_F(RanksPeers, EveryProblemOnSeveralRanks) {
  if (!has_scalapack()) GTEST_SKIP() << "built without ScaLAPACK";
  if (ranks(2).empty()) GTEST_SKIP() << "MPIEXEC is not set";
  for (const std::string peer : {"scalapack", "elpa"}) {
    if (!has(peer)) continue;
    const std::string solve =
        fmt::format("eigen --generate random --n 101 --solver vendor --peer {} --type ", peer);
    for (const char* more : {"d", "z --range index:23:61", "d --overlap generated --range value:0.05:0.8",
                             "z --overlap generated --vectors no"}) {
      agreed(solve + more, 2);
      agreed(solve + more, 4);
    }
    // Tiles that are on other ranks than the peer's blocks, or on fewer.
    for (const char* grid : {"4x1", "1x2"})
      agreed(fmt::format(
                 "eigen --generate random --n 150 --tile 40 --solver two_stage --overlap generated --grid {} "
                 "--peer {}",
                 grid, peer),
             4);
  }
}

/// Fewer rows than ranks have blocks: on fewer ranks.
TEST_F(RanksPeers, SmallMatrices) {
  if (!has_scalapack()) GTEST_SKIP() << "built without ScaLAPACK";
  for (const std::string peer : {"scalapack", "elpa"}) {
    if (!has(peer)) continue;
    for (const int n : {0, 1, 2, 7, 8, 33})
      for (const int count : {1, 4}) {
        if (count > 1 && ranks(count).empty()) continue;
        const std::string command = fmt::format("eigen --generate random --n {} --peer {}", n, peer);
        const Json json = record(command, 0, count == 1 ? "" : ranks(count));
        EXPECT_TRUE(passed(json)) << command << json["peer"];
        EXPECT_TRUE(n == 0 || json["peer"]["check"]["passed"].get<bool>()) << command << json["peer"];
      }
  }
}

/// Fewer vectors than a block has columns, and none: ScaLAPACK's work arrays are then too small unless the peer
/// sees to it.
TEST_F(RanksPeers, FewVectors) {
  if (!has_scalapack()) GTEST_SKIP() << "built without ScaLAPACK";
  for (const std::string peer : {"scalapack", "elpa"}) {
    if (!has(peer)) continue;
    for (const char* type : {"d", "z"})
      for (const char* range : {"index:0:1", "index:150:165", "value:-0.9:1.2"})
        agreed(fmt::format("eigen --generate random --n 200 --solver vendor --peer {} --type {} --range {}",
                           peer, type, range));
    const std::string none = "eigen --generate random --n 30 --range index:30:30 --peer " + peer;
    EXPECT_EQ(record(none)["runs"][0]["result"]["count"], 0) << none;
  }
}

TEST_F(RanksPeers, AllRoutinesAreInTheRecord) {
  if (!has_scalapack()) GTEST_SKIP() << "built without ScaLAPACK";
  const auto names = [](const Json& json) {
    std::set<std::string> result;
    for (const Json& candidate : json["peer"]["candidates"]) {
      EXPECT_EQ(candidate["runs"].size(), 2u);
      EXPECT_GE(candidate["seconds"], json["peer"]["seconds"]) << "the fastest counts";
      result.insert(candidate["name"]);
    }
    return result;
  };
  const std::string solve = "eigen --generate random --n 80 --repeat 2 --peer ";
  const std::string reduced = " with pzpotrf, pzhengst";
  EXPECT_EQ(names(record(solve + "scalapack")),
            (std::set<std::string>{"scalapack pdsyevd", "scalapack pdsyevr"}));
  EXPECT_EQ(names(record(solve + "scalapack --type z --overlap generated")),
            (std::set<std::string>{"scalapack pzheevd" + reduced, "scalapack pzheevr" + reduced}));
  const Json values = record(solve + "scalapack --vectors no --type s");
  EXPECT_EQ(names(values), (std::set<std::string>{"scalapack pssyev", "scalapack pssyevr"}));
  EXPECT_EQ(std::ranges::count(values["peer"]["version"].get<std::string>(), '.'), 2) << values["peer"];
  EXPECT_EQ(values["peer"]["result"]["grid"], Json({1, 1}));
  EXPECT_EQ(values["peer"]["threads"], values["peer"]["result"]["threads_per_rank"]);
  if (!has_elpa()) return;
  const Json elpa = record(solve + "elpa");
  EXPECT_EQ(names(elpa).size(), 2u);
  EXPECT_TRUE(names(elpa).contains(elpa["peer"]["result"]["checked"].get<std::string>())) << elpa["peer"];
  EXPECT_TRUE(names(elpa).contains("elpa one stage"));
  EXPECT_TRUE(names(elpa).rbegin()->starts_with("elpa two stages, ")) << elpa["peer"];
  EXPECT_TRUE(elpa["peer"]["version"].get<std::string>().starts_with("20")) << elpa["peer"];
  if (ranks(4).empty()) return;
  const Json several = record(solve + "elpa", 0, ranks(4));
  EXPECT_EQ(several["peer"]["result"]["grid"], Json({2, 2}));
  EXPECT_EQ(several["peer"]["threads"], 4);
  EXPECT_EQ(several["peer"]["result"]["threads_per_rank"], 1);
}

/// A peer that cannot solve says why in one line before anything is solved, on several ranks too.
TEST_F(RanksPeers, WhatIsNotPossibleIsRefused) {
  const std::string solve = "eigen --generate random --n 20 --peer ";
  expect_refused(solve + "scalapac", "did you mean 'scalapack'?");
  if (!has_scalapack()) expect_refused(solve + "scalapack", "built without ScaLAPACK");
  if (!has_elpa()) return expect_refused(solve + "elpa", "built without ELPA");
  if (elpa_has_single_precision()) return;
  for (const char* type : {"s", "c"})
    expect_refused(solve + "elpa --type " + type,
                   "--type d or z (this ELPA was built without single precision)");
  if (ranks(2).empty()) return;
  const Outcome outcome = run(solve + "elpa --type s", ranks(2));
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.err.find("without single precision"), std::string::npos) << outcome.err;
}

}  // namespace
