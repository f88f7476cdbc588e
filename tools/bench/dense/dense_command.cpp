// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>

#include <fmt/format.h>

#include <tessera/eigensolve.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "bench_mains.hpp"
#include "dense_options.hpp"
#include "machine_limits.hpp"
#include "nominal_flops.hpp"
#include "problem.hpp"
#include "program_main.hpp"
#include "routine_peer.hpp"
#include "scalar_types.hpp"
#include "session.hpp"
#include "stages.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Largest orders at which the limit is measured. For larger ones the rate does not increase.
constexpr Index limit_order = 4000, gpu_limit_order = 8192;

template <class T>
Report describe(Session& session, const DenseBenchOptions& options) {
  Runtime& runtime = session.runtime();
  const EigensolveOptions sizes = stage_sizes<T>(runtime, options);
  const ProcessGrid grid = process_grid(runtime, options.grid);
  DenseBenchOptions used = options;
  used.common = session.used_options();
  used.vectors = options.vectors > 0 ? options.vectors : options.n;
  used.tile = sizes.tile;
  used.band = sizes.band;
  used.update_width = sizes.update_width;
  used.column_groups = sizes.column_groups;
  used.split_products = sizes.split_products;
  used.grid = {grid.rows, grid.cols};
  Report report = session.new_report("bench_dense");
  report.title += " " + options.stage;
  report.options = option_table(used).json();
  const std::string groups =
      sizes.column_groups > 1 ? fmt::format(", {} column groups", sizes.column_groups) : "";
  report.lines.emplace_back(
      "sizes", fmt::format("{}, n = {}, {} columns, type {}, tile {}, band {}, update width {}{}",
                           options.generate, options.n, used.vectors, type_letter<T>, sizes.tile, sizes.band,
                           sizes.update_width, groups));
  return report;
}

/// Memory of a stage on all ranks together, in units of n^2 elements: input, result, and the data
/// from which the input is computed.
double matrices_of(const std::string& stage) {
  if (stage == "gemm") return 3;
  if (stage == "cholesky") return 1;
  return stage.starts_with("back_") ? 2 : 1.5;
}

template <class T>
int bench(Session& session, const DenseBenchOptions& options) {
  Runtime& runtime = session.runtime();
  const CommonOptions& common = options.common;
  const auto peer = make_routine_peer<T>(runtime, options.peer);
  if (peer) require_available(*peer, options.peer);
  const double n = static_cast<double>(options.n);
  require_memory(runtime, "bench_dense " + options.stage,
                 n * n * sizeof(T) * (matrices_of(options.stage) / runtime.size() + (peer != nullptr)));
  Report report = describe<T>(session, options);
  session.set_memory_unit(n * n * sizeof(T));

  const Index band = report.options["band"].get<Index>(), columns = report.options["columns"].get<Index>();
  const auto stage = make_stage_bench<T>(session, options);
  const int gpus = runtime.gpus() * runtime.size();
  std::vector<double> limits, copy_rates;
  for (int run = -common.warmup; run < common.repeat; ++run) {
    session.progress().stage("the machine's limit");
    if (gpus > 0) {
      // The limit of all GPUs is the limit of one GPU times their number.
      const GpuLimits limit = measure_gpu_limits<T>(std::min(options.n, gpu_limit_order));
      limits.push_back(limit.gflops * gpus);
      copy_rates.push_back(limit.copy_rate * gpus);
    } else if (options.stage != "gemm")
      limits.push_back(measure_gemm_limit<T>(runtime, std::min(options.n, limit_order), 1));
    session.progress().stage("preparing " + options.stage);
    stage->prepare();
    session.progress().stage(options.stage);
    session.begin_run();
    Sequence sequence(runtime);
    sequence.begin_stage(options.stage);
    stage->submit(sequence);
    const Status status = sequence.wait();
    RunRecord record = session.end_run(sequence.statistics());
    if (!status) throw Error(status.message());
    set_nominal_flops(record, options.n, columns, band, flop_factor<T>);
    set_nominal_bytes(record, options.n, columns, band, sizeof(T));
    if (run >= 0 && common.wants_check(run)) {
      session.progress().stage("checking");
      record.check = stage->check();
    }
    if (peer) {
      session.progress().stage(options.peer);
      peer->prepare(stage->peer_problem());
      const double seconds = peer->run();
      peer->release();
      if (run >= 0 && !std::isnan(seconds)) add_peer_seconds(report, *peer, seconds);
    }
    if (run >= 0) report.runs.push_back(std::move(record));
  }
  if (!limits.empty())
    report.limit =
        LimitRecord{"gemm", *std::max_element(limits.begin(), limits.end()),
                    copy_rates.empty() ? unknown : *std::max_element(copy_rates.begin(), copy_rates.end())};
  return session.finish(report);
}

}  // namespace

int run_dense_bench(DenseBenchOptions& options) {
  validate(options);
  return in_session(options.common, [&](Session& session) {
    return with_scalar_type(options.type, [&]<class T>() { return bench<T>(session, options); });
  });
}

int dense_bench_main(int argc, char** argv) {
  return bench_main(argc, argv, run_dense_bench);
}

}  // namespace tessera::program
