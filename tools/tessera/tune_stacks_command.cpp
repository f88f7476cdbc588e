// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/error.hpp>
#include <tessera/runtime/parallel_for.hpp>

#include "gpu_plan_judge.hpp"
#include "options.hpp"
#include "output_files.hpp"
#include "random_stack.hpp"
#include "session.hpp"

/// `tessera tune --stack`: parameters of the kernels of block products.
namespace tessera::program {

namespace {

using device::StackShape;

/// GFLOP/s of a plan on both stacks.
struct PlanRates {
  double large, small;
};

PlanRates rates_of(const PlanTrial& trial, const StackShape& shape) {
  const double flops =
      (shape.type == 'c' || shape.type == 'z' ? 8.0 : 2.0) * shape.m * shape.n * shape.k * 1e-9;
  return {flops * large_stack_products / trial.seconds.large,
          flops * small_stack_products / trial.seconds.small};
}

/// The fastest ten, and the formula.
void print_search(const PlanSearch& search, const StackShape& shape) {
  constexpr std::size_t lines = 10;
  std::vector<std::size_t> order(search.trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return !search.trials[i].flaw.empty(); });
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return search.speedup(search.trials[a]) > search.speedup(search.trials[b]);
  });
  const std::size_t failed = search.trials.size() - order.size();
  say("{}: {} sets of parameters{}\n", device::describe_shape(shape), search.trials.size(),
      failed > 0 ? fmt::format(", {} of which cannot be used", failed) : std::string());
  say("  {:<54}{:>14}{:>14}{:>12}\n", "Gflop/s on stacks of", large_stack_products, small_stack_products,
      "speedup");
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t i = order[place];
    if (place >= lines && i != 0 && i != search.best) continue;
    const PlanTrial& trial = search.trials[i];
    const PlanRates rates = rates_of(trial, shape);
    say("  {:<54}{:>14.0f}{:>14.0f}{:>12.3f}{}\n", device::describe_plan(trial.plan), rates.large,
        rates.small, search.speedup(trial),
        i == 0             ? "  the formula"
        : i == search.best ? "  kept"
                           : "");
  }
  if (search.best == 0)
    say("  the formula stays: nothing is faster by {:.0f} %\n", 100 * (least_speedup - 1));
}

Json number_or_null(double x) {
  return std::isfinite(x) ? Json(x) : Json();
}

Json to_json(const PlanSearch& search, const StackShape& shape) {
  Json json{{"type", std::string(1, shape.type)}, {"m", shape.m}, {"n", shape.n}, {"k", shape.k}};
  json["best"] = device::describe_plan(search.trials[search.best].plan);
  json["speedup"] = search.speedup(search.trials[search.best]);
  json["plans"] = Json::array();
  for (const PlanTrial& trial : search.trials) {
    const PlanRates rates = rates_of(trial, shape);
    json["plans"].push_back({{"parameters", device::describe_plan(trial.plan)},
                             {"gflops", number_or_null(rates.large)},
                             {"small_gflops", number_or_null(rates.small)},
                             {"speedup", number_or_null(search.speedup(trial))}});
    if (!trial.flaw.empty()) json["plans"].back()["flaw"] = trial.flaw;
  }
  return json;
}

int tune_stacks(Session& session, const TuneProgramOptions& options) {
  Runtime& runtime = session.runtime();
  if (runtime.size() > 1)
    throw InvalidArgument("processes", fmt::to_string(runtime.size()), "one process with --stack");
  const CommonOptions& common = session.options();
  if (runtime.gpus() == 0)
    throw InvalidArgument("--stack", fmt::format("{}", fmt::join(stack_words(options.stacks), ",")),
                          "a run with a GPU, on which kernels are timed (this one has none)");
  const TuningTarget target = tuning_target();
  const device::TunedPlanStore store = device::TunedPlanStore::of_user();
  if (store.directory().empty())
    throw RuntimeError(
        "there is no place for what is found: neither XDG_CACHE_HOME nor HOME names a directory");
  const bool print = !common.quiet && !common.json_alone();
  Json list = Json::array();
  for (const StackSizes& sizes : options.stacks) {
    const StackShape shape{options.type, static_cast<int>(sizes.m), static_cast<int>(sizes.n),
                           static_cast<int>(sizes.k)};
    const auto plans = device::plans_near_formula(shape, static_cast<std::size_t>(options.plans));
    session.progress().stage(
        fmt::format("{}: compiling {} kernels", device::describe_shape(shape), plans.size()));
    const auto judge = make_gpu_plan_judge(shape, plans, host_threads(runtime), common.seed);
    session.progress().stage(fmt::format("{}: timing them", device::describe_shape(shape)));
    const PlanSearch search = find_best_plan(plans, *judge);
    const PlanTrial& best = search.trials[search.best];
    // Kept at once, so that nothing is lost if the program is stopped.
    store.replace(target.gpu, target.kernel, {shape},
                  search.best == 0
                      ? std::vector<device::TunedPlan>{}
                      : std::vector<device::TunedPlan>{{shape, best.plan, search.speedup(best)}});
    session.progress().done();
    if (print) print_search(search, shape);
    list.push_back(to_json(search, shape));
  }
  if (print) say("kept for {} in {}\n", target.gpu, store.file(target.gpu).string());
  if (common.json.empty()) return exit_good;
  Report record = session.new_report("tune");
  TuneProgramOptions used = options;
  used.common = session.used_options();
  record.options = option_table(used).json();
  Json document = record_head(record);
  document["gpu"] = target.gpu;
  document["file"] = store.file(target.gpu).string();
  document["stacks"] = list;
  write_json(common.json, document);
  return exit_good;
}

}  // namespace

int run_tune_stacks(const TuneProgramOptions& options) {
  return in_session(options.common, [&](Session& session) { return tune_stacks(session, options); });
}

}  // namespace tessera::program
