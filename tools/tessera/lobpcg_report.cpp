// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "lobpcg_report.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "output_files.hpp"

namespace tessera::program {

namespace {

/// Shares of multiplications, preconditioner, dense computations and waiting in the total time, in
/// percent.
std::string shares(const LobpcgStep& step) {
  const double whole = std::max(step.seconds, 1e-12) / 100;
  return fmt::format("{:>5.0f}{:>6.0f}{:>6.0f}{:>6.0f}", step.multiply_seconds / whole,
                     step.preconditioner_seconds / whole, step.dense_seconds / whole,
                     step.waiting_seconds / whole);
}

}  // namespace

void print_step(std::FILE* to, const LobpcgStep& step, std::size_t wanted, bool heading) {
  if (heading)
    say(to, "{:>5}{:>6}{:>12}  {:<42}{:>9}{:>6}{:>6}{:>6}{:>6}\n", "iter", "conv", "res / tol",
        "first Ritz values", "seconds", "SpMM%", "prec%", "dense", "wait%");
  std::string values;
  for (std::size_t j = 0; j < std::min<std::size_t>({wanted, step.values.size(), 3}); ++j)
    values += fmt::format("{:<14.8g}", step.values[j]);
  say(to, "{:>5}{:>6}{:>12.3g}  {:<42}{:>9.3f} {}\n", step.iteration, step.converged, step.largest_residual,
      values, step.seconds, shares(step));
  std::fflush(to);
}

Json history_json(const std::vector<LobpcgStep>& history) {
  Json json = Json::array();
  for (const LobpcgStep& step : history)
    json.push_back({{"iteration", step.iteration},
                    {"converged", step.converged},
                    {"active", step.active},
                    {"largest_residual", step.largest_residual},
                    {"values", step.values},
                    {"residuals", step.residuals},
                    {"seconds", step.seconds},
                    {"multiply", step.multiply_seconds},
                    {"preconditioner", step.preconditioner_seconds},
                    {"dense", step.dense_seconds},
                    {"waiting", step.waiting_seconds}});
  return json;
}

void set_stages(RunRecord& run, const std::vector<LobpcgStep>& history) {
  if (history.empty()) return;
  const std::vector<StageRecord> counted = std::exchange(run.stages, {});
  const LobpcgStep& last = history.back();
  const auto add = [&](const char* name, double seconds) {
    const auto known = std::find_if(counted.begin(), counted.end(),
                                    [&](const StageRecord& stage) { return stage.name == name; });
    StageRecord stage = known == counted.end() ? StageRecord{} : *known;
    stage.name = name;
    stage.seconds = seconds;
    run.stages.push_back(stage);
  };
  add("multiply", last.multiply_seconds);
  add("preconditioner", last.preconditioner_seconds);
  add("dense", last.dense_seconds);
  add("waiting", last.waiting_seconds);
}

}  // namespace tessera::program
