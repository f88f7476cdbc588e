// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/eigensolve.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/codelet.hpp>
#include <tessera/runtime/output_directory.hpp>
#include <tessera/runtime/performance_models.hpp>
#include <tessera/runtime/temporary_files.hpp>

#include "options.hpp"
#include "output_files.hpp"
#include "problem.hpp"
#include "scalar_types.hpp"
#include "session.hpp"

namespace tessera::program {
using namespace detail;

namespace {

namespace fs = std::filesystem;

/// Host name under which StarPU stores the measurements. No earlier measurements have this name, so
/// calibration starts from nothing, and StarPU writes only into the directory given to it.
constexpr const char* measured_host = "calibrated";

/// An empty directory for StarPU's models during the calibration.
class WorkDirectory {
 public:
  WorkDirectory() {
    setenv("STARPU_PERF_MODEL_DIR", path().c_str(), 1);
    setenv("STARPU_HOSTNAME", measured_host, 1);
    unsetenv("STARPU_MPI_HOSTNAMES");
    unsetenv("STARPU_PERF_MODEL_PATH");
  }
  const fs::path& path() const noexcept { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

struct Sum {
  Index tasks = 0;
  double seconds = 0, flops = 0;
};

/// The options and the state of a calibration.
struct Calibration {
  const CalibrateProgramOptions& options;
  double end = HUGE_VAL;                                      ///< no solve starts after this time,
                                                              ///< seconds
  std::string workers{};                                      ///< of the current pass: `cpu`,
                                                              ///< `gpu`, `2 gpus`
  std::map<std::pair<std::string, std::string>, Sum> sums{};  ///< by workers and codelet
  int solves = 0, skipped = 0;
};

struct Case {
  Solver solver;
  bool vectors, generalized;
};

/// Solves that together run every codelet, for orders at which `auto` may choose the solver.
std::vector<Case> cases_of(Index n) {
  std::vector<Case> cases{{Solver::two_stage, true, true}, {Solver::two_stage, false, false}};
  constexpr Index largest_one_stage = 2048, largest_vendor = 5000;
  if (n <= largest_one_stage) cases.push_back({Solver::one_stage, true, true});
  if (n <= largest_vendor) cases.push_back({Solver::vendor, true, false});
  return cases;
}

template <class T>
void solve(Session& session, Index n, Calibration& calibration) {
  Runtime& runtime = session.runtime();
  const CommonOptions& common = calibration.options.common;
  const int runs = common.warmup + common.repeat;
  const std::vector<Case> cases = cases_of(n);
  if (now() > calibration.end) {
    calibration.skipped += runs * static_cast<int>(cases.size());
    return;
  }
  const ProcessGrid grid = process_grid(runtime, {});
  const auto a = load<T>(session, {{}, "random", n, common.seed, 1}, grid, 0);
  const auto b = load<T>(session, {{}, "overlap", n, common.seed + 1, 1}, grid, 0);
  const auto measure = [&](const Case& one) {
    EigensolveOptions options;
    options.solver = one.solver;
    options.vectors = one.vectors;
    session.progress().stage(fmt::format("calibrating {}: type {}, n = {}, {}", calibration.workers,
                                         type_letter<T>, n, to_string(one.solver)));
    EigenProblem<T> problem{.a = a.matrix};
    if (one.generalized) problem.b = b.matrix;
    auto completion = submit_eigensolve(runtime, problem, options);
    const Status status = completion.wait();
    if (!status) throw Error(status.message());
    ++calibration.solves;
    for (const CodeletStatistics& codelet : completion.statistics().codelets) {
      Sum& sum = calibration.sums[{calibration.workers, codelet.name}];
      sum.tasks += codelet.tasks;
      sum.seconds += codelet.seconds;
      sum.flops += codelet.flops;
    }
  };
  for (int run = 0; run < runs; ++run)
    for (const Case& one : cases) now() > calibration.end ? void(++calibration.skipped) : measure(one);
}

void solve_all(Session& session, std::vector<Index> orders, Calibration& calibration) {
  std::sort(orders.begin(), orders.end());
  for (const Index n : orders)
    for (const char type : calibration.options.types)
      with_scalar_type(type, [&]<class T>() { solve<T>(session, n, calibration); });
  session.progress().done();
}

/// The orders for a pass with `gpus` GPUs. Several GPUs also need orders above those that are
/// measured for one GPU. On CPUs, tiles do not grow any more for large orders, and a solve takes
/// far longer than on GPUs. So a CPU pass that follows a GPU pass uses small orders only.
std::vector<Index> orders_of(const CalibrateProgramOptions& options, int gpus, bool after_gpus) {
  std::vector<Index> orders = options.orders;
  if (orders.empty()) {
    if (gpus == 0) return {500, 1000, 2000};
    orders = {1024, 2048, 4096, 8192};
    if (gpus > 1) orders.push_back(16384);
  }
  constexpr Index largest = 2000;
  if (after_gpus && gpus == 0) std::erase_if(orders, [](Index n) { return n > largest; });
  return orders.empty() ? std::vector<Index>{largest} : orders;
}

/// @throws InputError if a set of models cannot or must not be written there
void check_output(const fs::path& output) {
  std::error_code error;
  if (fs::is_directory(output, error) && !fs::is_empty(output, error) && !fs::exists(output / "machine.json"))
    throw InputError(output.string(), 0, "is neither empty nor a set of performance models");
  if (const std::string reason = refusal_to_write_directory(output); !reason.empty())
    throw InputError(output.string(), 0, fmt::format("is not a directory that can be written ({})", reason));
}

/// The command line with only those options that determine the models, without output files.
std::string command_of(const CalibrateProgramOptions& options) {
  std::string text = fmt::format("tessera calibrate --family {} --types {}", options.family, options.types);
  if (!options.orders.empty()) text += fmt::format(" --sizes {}", fmt::join(options.orders, ","));
  if (options.seconds >= 0) text += fmt::format(" --seconds {}", options.seconds);
  return text;
}

/// Codelets of the selected types that did not run. If any pass had GPUs, a codelet with a CUDA
/// implementation must have run in a pass with GPUs.
std::vector<std::string> not_run(const Calibration& calibration) {
  const bool with_gpus = std::any_of(calibration.sums.begin(), calibration.sums.end(),
                                     [](const auto& entry) { return entry.first.first != "cpu"; });
  std::vector<std::string> names;
  for (const Codelet* codelet : Codelet::all()) {
    const std::string& name = codelet->name();
    const bool typed = name.size() > 2 && name[name.size() - 2] == '_';
    if (typed && std::string_view("sdcz").find(name.back()) != std::string_view::npos &&
        calibration.options.types.find(name.back()) == std::string::npos)
      continue;
    const bool needs_gpu = with_gpus && codelet->has_cuda();
    const bool ran = std::any_of(calibration.sums.begin(), calibration.sums.end(), [&](const auto& entry) {
      const auto& [workers, codelet_name] = entry.first;
      return codelet_name == name && entry.second.tasks > 0 && !(needs_gpu && workers == "cpu");
    });
    if (!ran) names.push_back(name);
  }
  return names;
}

void report(const Calibration& calibration, const fs::path& output, int models, Json document) {
  const CommonOptions& common = calibration.options.common;
  document["directory"] = output.string();
  document["models"] = models;
  document["solves"] = calibration.solves;
  document["skipped_solves"] = calibration.skipped;
  document["codelets"] = Json::array();
  const bool print = !common.quiet && !common.json_alone();
  if (print)
    say("{:<30}{:>8}{:>10}{:>12}{:>12}{:>12}\n", "codelet", "on", "tasks", "seconds", "mean", "GFLOP/s");
  for (const auto& [key, sum] : calibration.sums) {
    if (sum.tasks == 0) continue;
    const auto& [workers, name] = key;
    const double mean = sum.seconds / static_cast<double>(sum.tasks);
    const double gflops = sum.seconds > 0 ? sum.flops / sum.seconds * 1e-9 : 0;
    if (print)
      say("  {:<28}{:>8}{:>10}{:>12.4f}{:>12}{:>12.1f}\n", name, workers, sum.tasks, sum.seconds,
          format_seconds(mean), gflops);
    document["codelets"].push_back({{"name", name},
                                    {"pass", workers},
                                    {"tasks", sum.tasks},
                                    {"mean_seconds", mean},
                                    {"gflops", gflops}});
  }
  document["not_run"] = not_run(calibration);
  if (print) {
    if (calibration.skipped > 0)
      say("{} of {} solves were left out for want of time\n", calibration.skipped,
          calibration.skipped + calibration.solves);
    say("models of {} codelets are in {}\n", models, output.string());
  }
  if (!common.json.empty()) write_json(common.json, document);
}

}  // namespace

int run_calibrate(const CalibrateProgramOptions& options) {
  if (!options.output.empty()) check_output(options.output);
  const WorkDirectory work;
  Calibration calibration{options};
  if (options.seconds >= 0) calibration.end = now() + options.seconds;
  CommonOptions common = options.common;
  if (common.scheduler.empty()) common.scheduler = "dmdas";
  fs::path output = options.output;
  Json document;
  ModelSetDescription description;
  // The first pass uses all workers. The next ones use a single GPU (its tiles differ), and only
  // CPUs.
  for (bool first = true, last = false; !last; first = false) {
    // 2: the first pass discards earlier measurements. 1: later passes add to them.
    setenv("STARPU_CALIBRATE", first ? "2" : "1", 1);
    setenv("STARPU_BUS_CALIBRATE", first ? "1" : "0", 1);
    Session session(common);
    const RuntimeInfo& info = session.runtime().info();
    const int gpus = info.cuda_workers;
    if (first) {
      if (session.runtime().size() > 1)
        throw RuntimeError(
            "calibrate runs in one process: the models of one host do for all that are like it");
      description = {.machine = {info.gpu_model, info.cpu_model},
                     .starpu_version = info.starpu_version,
                     .date = utc_date(),
                     .command = command_of(options)};
      if (output.empty()) {
        output = fs::path("perfmodels") / model_set_name(description.machine);
        check_output(output);
      }
      CalibrateProgramOptions used = options;
      used.common = session.used_options();
      used.output = output.string();
      used.orders = orders_of(options, gpus, false);
      Report record = session.new_report("calibrate");
      record.options = option_table(used).json();
      document = record_head(record);
    }
    calibration.workers = gpus > 1 ? fmt::format("{} gpus", gpus) : gpus == 1 ? "gpu" : "cpu";
    solve_all(session, orders_of(options, gpus, !first), calibration);
    last = gpus == 0;
    common.gpus = gpus > 1 ? 1 : 0;
  }
  const int models = collect_performance_models(work.path(), measured_host, output, description);
  report(calibration, output, models, document);
  return exit_good;
}

}  // namespace tessera::program
