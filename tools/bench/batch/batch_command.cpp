// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <complex>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "batch_options.hpp"
#include "batch_rounds.hpp"
#include "bench_mains.hpp"
#include "machine_limits.hpp"
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
  BatchRunner(Session& session, const BatchBenchOptions& options)
      : session_(session), runtime_(session.runtime()), options_(options) {}

  int operator()() {
    require_batch_possible<T>(session_, options_);
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
  bool on_gpu() const { return options_.keep_on == "gpu"; }

  Json options_in_use() const {
    BatchBenchOptions used = options_;
    used.common = session_.used_options();
    return option_table(used).json();
  }

  Report one_case(Index n, Index count) {
    Report report = session_.new_report("bench_batch");
    report.limit = LimitRecord{"gemm", limit_, unknown};
    report.options = options_in_use();
    report.options["n"] = n;
    report.options["count"] = count;
    require_memory(runtime_, fmt::format("bench_batch --n {} --count {}", n, count),
                   batch_memory<T>(options_, n, count));
    session_.progress().stage("making the matrices");
    const BatchMatrices<T> matrices =
        generate_batch<T>(runtime_, options_.generate, n, count, options_.common.seed);
    run_batch_rounds(session_, options_, matrices, report, false);
    return report;
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
