// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include <tessera/algorithms/dense/eigensolve.hpp>
#include <tessera/runtime/error.hpp>

#include "problem.hpp"
#include "session.hpp"

namespace tessera::program {

namespace {

struct Sum {
  Index tasks = 0;
  double seconds = 0, flops = 0;
};
using Sums = std::map<std::string, Sum>;

/// Solves a generalized problem with each solver that has codelets, so that every dense codelet runs.
template <class T>
void solve(Session& session, Index n, Sums& sums) {
  Runtime& runtime = session.runtime();
  const ProcessGrid grid = process_grid(runtime, {});
  const std::uint64_t seed = session.options().seed;
  const auto a = load<T>(session, {{}, "random", n, seed, 1}, grid, 0);
  const auto b = load<T>(session, {{}, "overlap", n, seed + 1, 1}, grid, 0);
  for (const Solver solver : {Solver::two_stage, Solver::one_stage}) {
    EigensolveOptions options;
    options.solver = solver;
    session.progress().stage(
        fmt::format("calibrating: type {}, n = {}, {}", type_letter<T>, n, to_string(solver)));
    auto completion = submit_eigensolve<T>(runtime, a.matrix, b.matrix, options);
    const Status status = completion.wait();
    if (!status) throw Error(status.message());
    for (const CodeletStatistics& codelet : completion.statistics().codelets) {
      Sum& sum = sums[codelet.name];
      sum.tasks += codelet.tasks;
      sum.seconds += codelet.seconds;
      sum.flops += codelet.flops;
    }
  }
}

}  // namespace

int run_calibrate(const CalibrateProgramOptions& options) {
  setenv("STARPU_CALIBRATE", "1",
         0);  // measure whatever has too few samples; a value that the user has set stays
  Session session(options.common);
  Sums sums;
  for (int run = 0; run < options.common.warmup + options.common.repeat; ++run)
    for (const Index n : options.orders)
      for (const char type : options.types) {
        switch (type) {
          case 's':
            solve<float>(session, n, sums);
            break;
          case 'd':
            solve<double>(session, n, sums);
            break;
          case 'c':
            solve<std::complex<float>>(session, n, sums);
            break;
          default:
            solve<std::complex<double>>(session, n, sums);
            break;
        }
      }
  session.progress().done();
  if (session.runtime().rank() != 0) return exit_good;
  Json document;
  document["command"] = "calibrate";
  document["machine"] = machine_json(session.runtime().info());
  document["codelets"] = Json::array();
  const bool print = !options.common.quiet && !options.common.json_alone();
  if (print) fmt::print("{:<30}{:>10}{:>12}{:>12}{:>12}\n", "codelet", "tasks", "seconds", "mean", "GFLOP/s");
  for (const auto& [name, sum] : sums) {
    if (sum.tasks == 0) continue;
    const double mean = sum.seconds / static_cast<double>(sum.tasks);
    const double gflops = sum.seconds > 0 ? sum.flops / sum.seconds * 1e-9 : 0;
    if (print)
      fmt::print("  {:<28}{:>10}{:>12.4f}{:>12}{:>12.1f}\n", name, sum.tasks, sum.seconds,
                 format_seconds(mean), gflops);
    document["codelets"].push_back(
        {{"name", name}, {"tasks", sum.tasks}, {"mean_seconds", mean}, {"gflops", gflops}});
  }
  if (print) fmt::print("StarPU keeps the models under STARPU_HOME (default: ~/.starpu/sampling).\n");
  if (!options.common.json.empty()) write_json(options.common.json, document);
  return exit_good;
}

}  // namespace tessera::program
