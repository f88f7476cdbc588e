// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <complex>
#include <filesystem>

#include <fmt/format.h>

#include <tessera/eigensolve_tuner.hpp>
#include <tessera/error.hpp>

#include "options.hpp"
#include "output_files.hpp"
#include "problem.hpp"
#include "scalar_types.hpp"
#include "session.hpp"
#include "tuning.hpp"

namespace tessera::program {

namespace {

std::string describe(const EigensolveOptions& options) {
  std::string text(to_string(options.solver));
  if (options.solver == Solver::two_stage || options.solver == Solver::one_stage)
    text += fmt::format(", tile {}", options.tile);
  if (options.solver == Solver::two_stage)
    text += fmt::format(", band {}, update width {}", options.band, options.update_width);
  return text;
}

template <class T>
TuningEntry tune(Session& session, Index n, bool vectors) {
  Runtime& runtime = session.runtime();
  const CommonOptions& common = session.options();
  const ProcessGrid grid = process_grid(runtime, {});
  const auto problem = load<T>(session, {{}, "random", n, common.seed, 1}, grid, 0);
  const bool print = runtime.rank() == 0 && !common.quiet && !common.json_alone();
  TuningEntry best;
  best.seconds = HUGE_VAL;
  if (print) say("n = {}, type {}, {}\n", n, type_letter<T>, vectors ? "with vectors" : "values only");
  const EigensolveTuner<T> tuner(runtime, n, {.vectors = vectors});
  for (Index k = 0; k < tuner.candidates(); ++k) {
    const EigensolveOptions& options = tuner.candidate(k);
    std::vector<double> seconds;
    for (int run = -common.warmup; run < common.repeat; ++run) {
      session.progress().stage(fmt::format("n = {}: {}", n, describe(options)));
      runtime.barrier();
      const double start = now();
      auto completion = submit_eigensolve(runtime, {.a = problem.matrix}, options);
      const Status status = completion.wait();
      double elapsed = now() - start;
      if (!status) throw Error(status.message());
      runtime.all_reduce_max(&elapsed, 1);
      if (run >= 0) seconds.push_back(elapsed);
      if (elapsed > 3 * best.seconds) break;  // much slower than the best candidate
    }
    if (seconds.empty()) continue;
    const double time = median(seconds);
    session.progress().done();
    if (print)
      say("  {:<52}{:>12}{}\n", describe(options), format_seconds(time),
          time < best.seconds ? "  best so far" : "");
    if (time < best.seconds)
      best = {n,
              type_letter<T>,
              vectors,
              runtime.workers() * runtime.size(),
              options.solver,
              options.tile,
              options.band,
              options.update_width,
              time};
  }
  return best;
}

}  // namespace

int run_tune(const TuneProgramOptions& options) {
  if (!options.stacks.empty()) return run_tune_stacks(options);
  // Report a problem with the output file before the long computation.
  require_writable("--output", options.output);
  if (std::filesystem::exists(options.output)) read_tuning(options.output);
  Session session(options.common);
  std::vector<TuningEntry> entries;
  for (const Index n : options.orders)
    entries.push_back(
        with_scalar_type(options.type, [&]<class T>() { return tune<T>(session, n, options.vectors); }));
  session.progress().done();
  session.together([&] {
    if (session.runtime().rank() != 0) return;
    write_tuning(options.output, entries);
    if (options.common.json.empty()) return;
    Report record = session.new_report("tune");
    TuneProgramOptions used = options;
    used.common = session.used_options();
    record.options = option_table(used).json();
    Json document = record_head(record);
    document["tuning"] = Json::array();
    for (const TuningEntry& entry : entries) document["tuning"].push_back(to_json(entry));
    write_json(options.common.json, document);
  });
  return exit_good;
}

}  // namespace tessera::program
