// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <tessera/error.hpp>

#include "plan_search.hpp"

/// The search of `tessera tune --stack`, with times that are made up.
namespace {

using namespace tessera;
using namespace tessera::program;

std::vector<StackPlan> plans(std::size_t count) {
  return device::plans_near_formula({'d', 23, 23, 23}, count);
}

/// One second for each stack, but for what is listed.
class MadeUpJudge final : public PlanJudge {
 public:
  std::map<std::size_t, PlanSeconds> seconds{};
  std::set<std::size_t> failing{}, wrong{};
  std::map<std::size_t, int> timed{}, checked{};
  /// Slower from the second time on.
  std::set<std::size_t> lucky_at_first{};

  PlanSeconds time(std::size_t plan) override {
    const int before = timed[plan]++;
    if (failing.contains(plan)) throw RuntimeError("does not compile");
    if (before > 0 && lucky_at_first.contains(plan)) return {1, 1};
    const auto listed = seconds.find(plan);
    return listed == seconds.end() ? PlanSeconds{1, 1} : listed->second;
  }
  void require_right(std::size_t plan) override {
    ++checked[plan];
    if (wrong.contains(plan)) throw RuntimeError("computes something else");
  }
};

TEST(PlanSearch, TheFastestWins) {
  MadeUpJudge judge;
  judge.seconds = {{3, {0.8, 0.9}}, {7, {0.5, 0.9}}, {9, {0.4, 3}}};
  const PlanSearch search = find_best_plan(plans(20), judge);
  EXPECT_EQ(search.best, 7u);
  EXPECT_NEAR(search.speedup(search.trials[7]), std::sqrt(1 / (0.5 * 0.9)), 1e-12);
  EXPECT_LT(search.speedup(search.trials[9]), 1) << "slower on one stack by more than faster on the other";
  ASSERT_EQ(search.trials.size(), 20u);
  EXPECT_EQ(search.trials[7].plan, plans(20)[7]);
  EXPECT_EQ(judge.checked[7], 1) << "it is checked before it wins";
  EXPECT_GT(judge.timed[0], 1) << "the formula is timed beside the best ones";
  EXPECT_EQ(judge.timed[5], 1) << "what is not among the best is timed once";
}

TEST(PlanSearch, TheFormulaStaysWithoutAClearGain) {
  MadeUpJudge judge;
  EXPECT_EQ(find_best_plan(plans(10), judge).best, 0u);
  judge.seconds = {{3, {0.99, 0.99}}};
  EXPECT_EQ(find_best_plan(plans(10), judge).best, 0u);
  judge.seconds = {{3, {0.97, 0.97}}};
  EXPECT_EQ(find_best_plan(plans(10), judge).best, 3u);
  EXPECT_EQ(find_best_plan(plans(1), judge).best, 0u);
}

TEST(PlanSearch, WhatIsWrongOrFailsCannotWin) {
  MadeUpJudge judge;
  judge.seconds = {{2, {0.1, 0.1}}, {4, {0.2, 0.2}}, {6, {0.5, 0.5}}, {8, {0.6, 0.6}}};
  judge.failing = {2};
  judge.wrong = {4};
  const PlanSearch search = find_best_plan(plans(10), judge);
  EXPECT_EQ(search.best, 6u);
  EXPECT_EQ(search.trials[2].flaw, "does not compile");
  EXPECT_EQ(search.trials[4].flaw, "computes something else");
  EXPECT_EQ(judge.checked[8], 0);
  judge.wrong = {4, 6, 8};
  EXPECT_EQ(find_best_plan(plans(10), judge).best, 0u);
  judge.failing = {0};
  EXPECT_THROW(find_best_plan(plans(10), judge), RuntimeError) << "nothing to compare with";
}

TEST(PlanSearch, OneLuckyTimeDoesNotWin) {
  MadeUpJudge judge;
  judge.seconds = {{2, {0.1, 0.1}}, {4, {0.9, 0.9}}};
  judge.lucky_at_first = {2};
  const PlanSearch search = find_best_plan(plans(10), judge);
  EXPECT_EQ(search.best, 4u);
  EXPECT_EQ(search.trials[2].seconds.large, 1);
}

}  // namespace
