// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "density_steps.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tessera::program {

namespace {

/// GFLOP/s; NaN for a step that took no time or has no products.
double rate(const IterationStep& step) {
  return step.seconds > 0 && step.flop > 0 ? 1e-9 * step.flop / step.seconds : unknown;
}

/// Iterations on the way to the density matrix have no electrons.
bool has_electrons(const IterationStep& step) {
  return step.electrons != 0;
}

}  // namespace

std::vector<std::string> stages_in_order(const std::vector<IterationStep>& steps) {
  std::vector<std::string> names;
  for (const IterationStep& step : steps)
    if (std::find(names.begin(), names.end(), step.stage) == names.end()) names.push_back(step.stage);
  return names;
}

std::string step_heading(bool gpus) {
  return fmt::format("{:<19}{:>5}{:>13}{:>9}{:>16}{:>10}{:>9}{:>11}{}\n", "stage", "iter", "convergence",
                     "stored %", "electrons", "seconds", "GFLOP/s", "threshold", gpus ? "  GPU mem" : "");
}

std::string step_row(const IterationStep& step, bool gpus) {
  const double gflops = rate(step);
  std::string row =
      fmt::format("{:<19}{:>5}{:>13.3e}{:>9.2f}{:>16}{:>10.4f}{:>9}{:>11.1e}", step.stage, step.iteration,
                  step.convergence, 100 * step.occupation,
                  has_electrons(step) ? fmt::format("{:.7f}", step.electrons) : "", step.seconds,
                  std::isfinite(gflops) ? fmt::format("{:.1f}", gflops) : "", step.threshold);
  if (gpus) row += fmt::format("{:>9}", format_bytes(step.gpu_bytes));
  return row + '\n';
}

Json steps_json(const std::vector<IterationStep>& steps) {
  Json rows = Json::array();
  for (const IterationStep& step : steps)
    rows.push_back({{"stage", step.stage},
                    {"iteration", step.iteration},
                    {"convergence", number_or_null(step.convergence)},
                    {"occupation", number_or_null(step.occupation)},
                    {"electrons", has_electrons(step) ? number_or_null(step.electrons) : Json()},
                    {"energy", has_electrons(step) ? number_or_null(step.energy) : Json()},
                    {"seconds", step.seconds},
                    {"products", step.products},
                    {"flop", step.flop},
                    {"gflops", number_or_null(rate(step))},
                    {"threshold", step.threshold},
                    {"gpu_bytes", step.gpu_bytes}});
  return rows;
}

std::vector<StageRecord> stages_of_steps(const IterationReport& report, const std::string& rest) {
  std::vector<StageRecord> stages;
  StageRecord other;
  other.name = rest;
  other.seconds = report.seconds;
  other.flops = report.flop;
  for (const std::string& name : stages_in_order(report.steps)) {
    StageRecord stage;
    stage.name = name;
    for (const IterationStep& step : report.steps) {
      if (step.stage != name) continue;
      stage.seconds += step.seconds;
      stage.flops += step.flop;
    }
    other.seconds -= stage.seconds;
    other.flops -= stage.flops;
    stages.push_back(std::move(stage));
  }
  other.seconds = std::max(other.seconds, 0.0);
  other.flops = std::max(other.flops, 0.0);
  stages.push_back(std::move(other));
  return stages;
}

}  // namespace tessera::program
