// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <complex>
#include <memory>

#include <fmt/format.h>

#include <tessera/eigensolve_batch.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "batch_array.hpp"
#include "batch_options.hpp"
#include "batch_peer.hpp"
#include "batch_problem.hpp"
#include "bench_mains.hpp"
#include "machine_limits.hpp"
#include "nominal_flops.hpp"
#include "output_files.hpp"
#include "program_main.hpp"
#include "scalar_types.hpp"
#include "session.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Orders of the dense products that determine the limit: for CPUs, and for one GPU.
constexpr Index cpu_product_order = 2000, gpu_product_order = 8192;

template <class T>
class BatchRunner {
 public:
  using R = RealOf<T>;
  BatchRunner(Session& session, const BatchBenchOptions& options)
      : session_(session), runtime_(session.runtime()), options_(options) {}

  int operator()() {
    if (runtime_.size() > 1)
      throw InvalidArgument("processes", fmt::to_string(runtime_.size()),
                            "one process (each would solve the same batches)");
    if (on_gpu() && runtime_.gpus() == 0)
      throw InvalidArgument("--keep-on", options_.keep_on, "host, where no GPU is used");
    if (const auto peer = make_batch_peer<T>(runtime_, options_.peer))
      require_available(*peer, options_.peer);
    session_.progress().stage("the machine's limit");
    limit_ = runtime_.gpus() > 0 ? measure_gpu_limits<T>(gpu_product_order).gflops * runtime_.gpus()
                                 : measure_gemm_limit<T>(runtime_, cpu_product_order, 1);
    Json cases = Json::array();
    bool passed = true;
    for (const auto& [n, count] : batch_cases(options_)) {
      const Report report = one_case(n, count);
      print(report, n, count, cases.empty());
      passed = passed && report.passed();
      Json json = to_json(report);
      const Json head = record_head(report);
      for (const auto& item : head.items())
        if (item.key() != "options") json.erase(item.key());
      cases.push_back(std::move(json));
    }
    session_.progress().done();
    write(cases);
    return passed ? exit_good : exit_check_failed;
  }

 private:
  /// The arrays that the library reads and writes.
  struct Arrays {
    BatchArray<T> a, vectors;
    BatchArray<R> values;
  };

  bool on_gpu() const { return options_.keep_on == "gpu"; }
  ArrayPlace place() const {
    if (on_gpu()) return ArrayPlace::gpu;
    return runtime_.gpus() > 0 ? ArrayPlace::locked_host : ArrayPlace::host;
  }

  Json options_in_use() const {
    BatchBenchOptions used = options_;
    used.common = session_.used_options();
    return option_table(used).json();
  }

  /// Host memory: the generated matrices; the library's arrays if they are not on the GPU; then its vectors and
  /// the peer's for the check, and the matrices and the vectors of the peer while it runs.
  double memory(Index n, Index count) const {
    const double matrices = static_cast<double>(n * n) * static_cast<double>(count) * sizeof(T);
    const double ours = on_gpu() ? 0 : options_.vectors ? 2 : 1, checked = options_.vectors ? 1 : 0;
    const double peers = options_.peer == "none" ? 0 : options_.vectors ? 4 : 2;
    return matrices * (1 + ours + checked + peers);
  }

  Report one_case(Index n, Index count) {
    Report report = session_.new_report("bench_batch");
    report.limit = LimitRecord{"gemm", limit_, unknown};
    report.options = options_in_use();
    report.options["n"] = n;
    report.options["count"] = count;
    require_memory(runtime_, fmt::format("bench_batch --n {} --count {}", n, count), memory(n, count));
    session_.progress().stage("making the matrices");
    const BatchMatrices<T> matrices =
        generate_batch<T>(runtime_, options_.generate, n, count, options_.common.seed);
    const std::size_t elements = matrices.a.size(), values = static_cast<std::size_t>(n * count);
    const int gpu = runtime_.gpus() > 0 ? runtime_.first_gpu() : 0;
    Arrays arrays{
        {elements, place(), gpu}, {options_.vectors ? elements : 0, place(), gpu}, {values, place(), gpu}};
    arrays.a.set(matrices.a);
    const auto peer = make_batch_peer<T>(runtime_, options_.peer);
    for (int run = -options_.common.warmup; run < options_.common.repeat; ++run)
      one_run(report, run, matrices, arrays, peer.get());
    return report;
  }

  void one_run(Report& report, int index, const BatchMatrices<T>& matrices, Arrays& arrays,
               BatchPeer<T>* peer) {
    const bool timed = index >= 0, checked = timed && options_.common.wants_check(index);
    const Index n = matrices.n, count = matrices.count;
    EigenBatchProblem<T> problem{.a = {arrays.a.data(), n, count}, .values_to = arrays.values.data()};
    if (options_.vectors) problem.vectors_to = {arrays.vectors.data(), n};
    session_.progress().stage(fmt::format("solving {} of order {}", count, n));
    session_.begin_run();
    auto completion =
        submit_eigensolve_batch(runtime_, problem, {.vectors = options_.vectors, .chunk = options_.chunk});
    const Status status = completion.wait();
    RunRecord run = session_.end_run(completion.statistics());
    if (!status) throw Error(status.message());
    set_flops(run, n, count);
    run.result = {{"matrices_per_second", static_cast<double>(count) / run.total_seconds}};
    BatchPeerSolution<T> theirs;
    if (peer) theirs = run_peer(report, matrices, *peer, timed, checked);
    if (checked) {
      session_.progress().stage("checking");
      const BatchSample sample = batch_sample(n, count, flop_factor<T>);
      const std::vector<R> values = arrays.values.get();
      run.check = check_batch(runtime_, matrices, values,
                              options_.vectors ? arrays.vectors.get() : std::vector<T>(), sample);
      run.result["checked_matrices"] = {{"number", sample.number}, {"first", 0}, {"step", sample.step}};
      if (peer) {
        compare_batch_values(*run.check, matrices, values, theirs.values, theirs.name);
        report.peer->check = check_batch(runtime_, matrices, theirs.values, theirs.vectors, sample);
        report.peer->result["checked"] = theirs.name;
      }
    }
    if (timed) report.runs.push_back(std::move(run));
  }

  BatchPeerSolution<T> run_peer(Report& report, const BatchMatrices<T>& matrices, BatchPeer<T>& peer,
                                bool timed, bool checked) {
    session_.progress().stage(options_.peer);
    peer.prepare({.a = matrices.a.data(),
                  .n = matrices.n,
                  .count = matrices.count,
                  .vectors = options_.vectors,
                  .on_gpu = on_gpu(),
                  .fetch = checked});
    const double seconds = peer.run();
    BatchPeerSolution<T> solution = peer.result();
    peer.release();
    if (!timed) return solution;
    add_peer_seconds(report, peer, seconds);
    if (!solution.left_out.empty()) report.peer->result["left_out"] = solution.left_out;
    return solution;
  }

  /// Nominal operations of all matrices, or what the tasks have counted where that is less.
  void set_flops(RunRecord& run, Index n, Index count) const {
    run.flops = 0;
    for (StageRecord& stage : run.stages) {
      const double nominal = static_cast<double>(count) *
                             nominal_flops(stage.name, n, options_.vectors ? n : 0, 0, flop_factor<T>);
      stage.flops = stage.flops > 0 ? std::min(nominal, stage.flops) : nominal;
      run.flops += stage.flops;
    }
  }

  /// Prints a row of the table, and the heading before the first row.
  void print(const Report& report, Index n, Index count, bool first) {
    session_.progress().done();
    if (options_.common.quiet || options_.common.json_alone()) return;
    if (first) {
      say("{}\nmachine       {}\nmatrices      {}, type {}, {}, in {}; gemm: {:.1f} GFLOP/s\n", report.title,
          machine_line(runtime_.info()), options_.generate, type_letter<T>,
          options_.vectors ? "with vectors" : "values only", on_gpu() ? "GPU memory" : "host memory", limit_);
      say("runs          {} to warm up, median of {}\n", options_.common.warmup, options_.common.repeat);
      if (report.peer) {
        const std::string where = report.peer->threads > 0 ? fmt::format("{} threads", report.peer->threads)
                                                           : std::string("one GPU");
        say("peer          {} ({})\n              {}; ratio: its time / ours\n", options_.peer,
            report.peer->version, where);
      }
      say("{:>5}{:>9}{:>11}{:>12}{:>11}{:>9}{:>11}{:>7}{:>8}{}\n", "n", "count", "seconds", "matrices/s",
          "GFLOP/s", "of gemm", "peer", "ratio", "check", report.peer ? "  its routine" : "");
    }
    const double seconds = report.median_seconds(), gflops = 1e-9 * report.runs.back().flops / seconds;
    say("{:>5}{:>9}{:>11.4g}{:>12.4g}{:>11.4g}{:>7.1f} %{:>11}{:>7}{:>8}{}\n", n, count, seconds,
        static_cast<double>(count) / seconds, gflops, 100 * gflops / limit_,
        report.peer ? fmt::format("{:.4g}", median(report.peer->seconds)) : "",
        report.peer ? fmt::format("{:.2f}", report.ratio()) : "", check_word(report), routine_of(report));
    for (const std::string& line : remarks(report, n, count)) say("              {}\n", line);
  }

  static std::string check_word(const Report& report) {
    const auto& last = report.runs.back().check;
    return !last ? "none" : last->passed() ? "passed" : "FAILED";
  }

  /// The name of the peer's fastest routine, without that of the library, as the last column.
  static std::string routine_of(const Report& report) {
    return report.peer ? "  " + report.peer->name.substr(report.peer->name.find(' ') + 1) : std::string();
  }

  /// What the row of a case cannot say.
  std::vector<std::string> remarks(const Report& report, Index n, Index count) const {
    std::vector<std::string> lines;
    if (report.runs.back().check && options_.vectors)
      if (const BatchSample sample = batch_sample(n, count, flop_factor<T>); sample.number < count)
        lines.push_back(fmt::format("residuals of {} matrices, one of every {} from the first on",
                                    sample.number, sample.step));
    if (!report.peer) return lines;
    if (report.peer->check && !report.peer->check->passed())
      lines.emplace_back("the results of the peer miss the bound of the check");
    if (report.peer->result.contains("left_out"))
      for (const Json& reason : report.peer->result["left_out"])
        lines.push_back("not counted: " + reason.get<std::string>());
    return lines;
  }

  void write(const Json& cases) {
    session_.together([&] {
      if (options_.common.json.empty()) return;
      Report report = session_.new_report("bench_batch");
      report.options = options_in_use();
      Json document = record_head(report);
      document["cases"] = cases;
      write_json(options_.common.json, document);
    });
  }

  Session& session_;
  Runtime& runtime_;
  const BatchBenchOptions& options_;
  double limit_ = unknown;
};

}  // namespace

int run_batch_bench(BatchBenchOptions& options) {
  return in_session(options.common, [&](Session& session) {
    return naming_options([&] {
      return with_scalar_type(options.type, [&]<class T>() { return BatchRunner<T>(session, options)(); });
    });
  });
}

int batch_bench_main(int argc, char** argv) {
  return bench_main(argc, argv, run_batch_bench);
}

}  // namespace tessera::program
