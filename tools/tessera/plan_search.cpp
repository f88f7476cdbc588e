// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "plan_search.hpp"

#include <algorithm>
#include <cmath>

#include <tessera/error.hpp>

namespace tessera::program {
namespace {

constexpr std::size_t finalists = 5;
constexpr int final_turns = 5;

/// False, and a flaw, if the plan fails.
template <class Work>
bool succeeds(PlanTrial& trial, const Work& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    trial.flaw = error.what();
    return false;
  }
}

/// Numbers of the plans without a flaw that are faster than the formula's, the fastest first.
std::vector<std::size_t> faster_ones(const PlanSearch& search) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 1; i < search.trials.size(); ++i)
    if (search.trials[i].flaw.empty() && search.speedup(search.trials[i]) > 1) numbers.push_back(i);
  std::stable_sort(numbers.begin(), numbers.end(), [&](std::size_t a, std::size_t b) {
    return search.speedup(search.trials[a]) > search.speedup(search.trials[b]);
  });
  return numbers;
}

/// Times the plans in turns, the formula's among them, and takes the medians.
void time_in_turns(PlanSearch& search, std::vector<std::size_t> numbers, PlanJudge& judge) {
  numbers.insert(numbers.begin(), 0);
  std::vector<std::vector<double>> large(numbers.size()), small(numbers.size());
  for (int turn = 0; turn < final_turns; ++turn)
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      PlanTrial& trial = search.trials[numbers[i]];
      if (!trial.flaw.empty()) continue;
      PlanSeconds seconds;
      const auto time = [&] { seconds = judge.time(numbers[i]); };
      if (numbers[i] == 0)
        time();
      else if (!succeeds(trial, time))
        continue;
      large[i].push_back(seconds.large);
      small[i].push_back(seconds.small);
    }
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (search.trials[numbers[i]].flaw.empty())
      search.trials[numbers[i]].seconds = {median(large[i]), median(small[i])};
}

}  // namespace

double PlanSearch::speedup(const PlanTrial& trial) const {
  const PlanSeconds& formula = trials.front().seconds;
  return std::sqrt(formula.large / trial.seconds.large * (formula.small / trial.seconds.small));
}

PlanSearch find_best_plan(const std::vector<StackPlan>& plans, PlanJudge& judge) {
  PlanSearch search;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    PlanTrial& trial = search.trials.emplace_back(PlanTrial{plans[i]});
    const auto time = [&] { trial.seconds = judge.time(i); };
    if (i == 0)
      time();
    else
      succeeds(trial, time);
  }
  std::vector<std::size_t> numbers = faster_ones(search);
  numbers.resize(std::min(numbers.size(), finalists));
  if (numbers.empty()) return search;
  time_in_turns(search, numbers, judge);
  std::stable_sort(numbers.begin(), numbers.end(), [&](std::size_t a, std::size_t b) {
    return search.speedup(search.trials[a]) > search.speedup(search.trials[b]);
  });
  for (const std::size_t number : numbers) {
    PlanTrial& trial = search.trials[number];
    if (!trial.flaw.empty() || !(search.speedup(trial) >= least_speedup)) continue;
    if (!succeeds(trial, [&] { judge.require_right(number); })) continue;
    search.best = number;
    break;
  }
  return search;
}

}  // namespace tessera::program
