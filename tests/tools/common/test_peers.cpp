// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "batch_options.hpp"
#include "nominal_flops.hpp"
#include "peer.hpp"

namespace {

using namespace tessera;
using namespace tessera::program;

struct Times {
  double first, second;
};

/// Two routines with given times.
using TwoRoutines = CallPeer<Times, PeerSolution<double>>;
double try_both(Times& times, PeerSolution<double>& solution, std::string& name) {
  const auto solve = [](const char* routine, double seconds) {
    PeerSolution<double> found;
    found.name = routine;
    found.seconds = seconds;
    found.values = {seconds};
    return found;
  };
  solution = solve("first", times.first);
  keep_faster(solution, solve("second", times.second));
  name = solution.name;
  return solution.seconds;
}

TEST(Peers, TheFasterRoutineOfARunCounts) {
  TwoRoutines peer({"library", "1.2"}, try_both);
  peer.prepare({3, 2});
  EXPECT_EQ(peer.run(), 2);
  EXPECT_EQ(peer.name(), "second");
  ASSERT_EQ(peer.trials().size(), 2u);
  EXPECT_EQ(peer.trials()[0].name, "first");
  EXPECT_EQ(peer.trials()[0].seconds, 3);
  EXPECT_EQ(peer.result().values, std::vector<double>{2}) << "of the routine that counts";
}

TEST(Peers, TheFastestByTheMedianIsRecorded) {
  TwoRoutines peer({"library", "1.2"}, try_both);
  Report report;
  for (const Times times : {Times{1, 2}, Times{9, 2}, Times{8, 3}}) {
    peer.prepare(times);
    const double seconds = peer.run();
    add_peer_seconds(report, peer, seconds);
  }
  EXPECT_EQ(report.peer->version, "1.2");
  EXPECT_EQ(report.peer->name, "second");
  EXPECT_EQ(report.peer->seconds, (std::vector<double>{2, 2, 3}));
  ASSERT_EQ(report.peer->candidates.size(), 2u);
  EXPECT_EQ(report.peer->candidates[0].seconds, (std::vector<double>{1, 9, 8}));
}

TEST(Peers, OneRoutineHasNoCandidates) {
  CallPeer<int, NoResult> peer({"library", "1.2"}, [](int& n, NoResult&, std::string& name) {
    name = "routine";
    return static_cast<double>(n);
  });
  Report report;
  for (const int n : {4, 5}) {
    peer.prepare(n);
    add_peer_seconds(report, peer, peer.run());
  }
  EXPECT_EQ(report.peer->name, "routine");
  EXPECT_EQ(report.peer->seconds, (std::vector<double>{4, 5}));
  EXPECT_TRUE(report.peer->candidates.empty());
}

TEST(NominalFlops, OfAMatrixOfABatch) {
  EXPECT_DOUBLE_EQ(nominal_flops("eigensolve_batch", 30, 0, 0, 1), 4.0 / 3 * 27000);
  EXPECT_DOUBLE_EQ(nominal_flops("eigensolve_batch", 30, 30, 0, 4), 4 * (4.0 / 3 + 2) * 27000);
}

TEST(BatchCases, AreAllOrdersWithAllCounts) {
  using Cases = std::vector<std::pair<Index, Index>>;
  BatchBenchOptions options;
  options.orders = {16, 2048};
  EXPECT_EQ(batch_cases(options), (Cases{{16, 65536}, {2048, 4}}));
  options.counts = {3, 5};
  EXPECT_EQ(batch_cases(options), (Cases{{16, 3}, {16, 5}, {2048, 3}, {2048, 5}}));
}

}  // namespace
