// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <complex>

#include <fmt/format.h>

#include <tessera/block_operations.hpp>
#include <tessera/multiply.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "bench_mains.hpp"
#include "machine_limits.hpp"
#include "output_files.hpp"
#include "problem.hpp"
#include "product_peer.hpp"
#include "products_options.hpp"
#include "program_main.hpp"
#include "scalar_types.hpp"
#include "session.hpp"
#include "sparse_problem.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Orders of the dense products that determine the limit: for CPUs, and for one GPU.
constexpr Index limit_order = 2000, gpu_limit_order = 8192;

template <class T>
class ProductsRunner {
 public:
  ProductsRunner(Session& session, const ProductsBenchOptions& options)
      : session_(session),
        runtime_(session.runtime()),
        options_(options),
        peer_(make_product_peer<T>(runtime_, options.peer)) {}

  int operator()() {
    if (peer_) require_available(*peer_, options_.peer);
    session_.progress().stage("the machine's limit");
    const int gpus = runtime_.gpus() * runtime_.size();
    limit_ = gpus > 0 ? measure_gpu_limits<T>(gpu_limit_order).gflops * gpus
                      : measure_gemm_limit<T>(runtime_, limit_order, 1);
    Json cases = Json::array();
    bool passed = true;
    for (const Index block : options_.blocks)
      for (const double occupation : options_.occupations) {
        const Report report = one_case(block, occupation);
        print(report, block, occupation, cases.empty());
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
  Json options_in_use() const {
    const ProcessGrid grid = process_grid(runtime_, options_.grid);
    ProductsBenchOptions used = options_;
    used.common = session_.used_options();
    used.grid = {grid.rows, grid.cols};
    return option_table(used).json();
  }

  Report one_case(Index block, double occupation) {
    Report report = session_.new_report("bench_products");
    report.limit = LimitRecord{"gemm", limit_, unknown};
    report.options = options_in_use();
    report.options.erase("blocks");
    report.options["block"] = block;
    report.options["occupation"] = occupation;
    SparseShape shape;
    shape.runtime = &runtime_;
    shape.grid = process_grid(runtime_, options_.grid);
    shape.pattern = {block};
    const auto matrix = [&](double share) { return shape.memory(options_.n, options_.n, share, sizeof(T)); };
    require_memory(
        runtime_, "bench_products",
        2 * matrix(occupation) + matrix(shape.product_occupation(options_.generate, options_.n, occupation)));
    session_.progress().stage("making the matrices");
    const auto make = [&](unsigned number) {
      return generate_sparse<T>(session_, options_.generate, options_.n, occupation, Symmetry::none,
                                options_.common.seed + number, shape);
    };
    const BlockSparseMatrix<T> a = make(0), b = make(1);
    for (int run = -options_.common.warmup; run < options_.common.repeat; ++run)
      one_run(report, run, a, b, shape);
    if (peer_) peer_->release();
    return report;
  }

  void one_run(Report& report, int index, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
               const SparseShape& shape) {
    const bool timed = index >= 0, checked = timed && options_.common.wants_check(index);
    BlockSparseMatrix<T> c(BlockPattern::make(runtime_, shape.layout_like(*a.layout().rows, *b.layout().cols),
                                              std::span<const BlockCoordinate>()));
    session_.progress().stage("multiplying");
    session_.begin_run();
    const MultiplyResult result = multiply({.a = a, .b = b, .c = c}, {.filter_eps = options_.filter});
    if (!result) throw Error(result.status().message());
    RunRecord run = session_.end_run(result.statistics);
    run.flops = result.flop;
    run.stages.clear();
    run.result = {{"products", result.products},
                  {"flop", result.flop},
                  {"blocks", c.pattern().blocks()},
                  {"checksum", checksum(c)},
                  {"filtered_products", result.filtered_products},
                  {"filtered_blocks", result.filtered_blocks}};
    const bool left_out = result.filtered_products + result.filtered_blocks > 0;
    const SparseProduct<T> product{Op::none, Op::none, T(1), T(0),    left_out ? options_.filter : 0,
                                   false,    &a,       &b,   nullptr, &c};
    ProductPeerResult<T> theirs;
    if (peer_) theirs = run_peer(report, product, result, timed, checked);
    if (checked) {
      session_.progress().stage("checking");
      run.check = check_product(product, theirs.dense, cpu_threads(runtime_), options_.common.seed + 3);
      if (peer_) compare_with_peer(product, theirs, peer_->name(), *run.check, theirs.record);
    }
    if (report.peer && !theirs.record.empty()) report.peer->result = theirs.record;
    if (timed) report.runs.push_back(std::move(run));
  }

  ProductPeerResult<T> run_peer(Report& report, const SparseProduct<T>& product, const MultiplyResult& result,
                                bool timed, bool checked) {
    session_.progress().stage(peer_->name());
    if (options_.peer == "dense") {
      const auto n = static_cast<double>(options_.n);
      require_memory(runtime_, "--peer dense", 4 * sizeof(T) * n * n);
    }
    return run_product_peer(*peer_, {product, options_.filter, result.flop, result.shapes, checked},
                            timed ? &report : nullptr);
  }

  /// Prints a row of the table, and the heading before the first row.
  void print(const Report& report, Index block, double occupation, bool first) {
    session_.progress().done();
    if (runtime_.rank() != 0 || options_.common.quiet || options_.common.json_alone()) return;
    if (first) {
      say("{}\nmachine       {}\nmatrices      {}, n = {}, type {}, filter {:g}; gemm: {:.1f} GFLOP/s\n",
          report.title, machine_line(runtime_.info()), options_.generate, options_.n, type_letter<T>,
          options_.filter, limit_);
      if (peer_) say("peer          {} {}; ratio: its time / ours\n", peer_->name(), peer_->version());
      say("{:>6}{:>12}{:>14}{:>12}{:>10}{:>9}{:>12}{:>8}  {}\n", "block", "occupation", "products", "seconds",
          "GFLOP/s", "of gemm", "peer", "ratio", "check");
    }
    const double seconds = report.median_seconds(), gflops = 1e-9 * report.runs.back().flops / seconds;
    const auto& last = report.runs.back().check;
    say("{:>6}{:>12.4g}{:>14}{:>12.4g}{:>10.1f}{:>7.0f} %{:>12}{:>8}  {}\n", block, occupation,
        report.runs.back().result["products"].get<Index>(), seconds, gflops, 100 * gflops / limit_,
        report.peer ? fmt::format("{:.4g}", median(report.peer->seconds)) : "",
        report.peer ? fmt::format("{:.2f}", report.ratio()) : "",
        !last            ? "none"
        : last->passed() ? "passed"
                         : "FAILED");
  }

  void write(const Json& cases) {
    session_.together([&] {
      if (runtime_.rank() != 0 || options_.common.json.empty()) return;
      Report report = session_.new_report("bench_products");
      report.options = options_in_use();
      Json document = record_head(report);
      document["cases"] = cases;
      write_json(options_.common.json, document);
    });
  }

  Session& session_;
  Runtime& runtime_;
  const ProductsBenchOptions& options_;
  std::unique_ptr<ProductPeer<T>> peer_;
  double limit_ = unknown;
};

}  // namespace

int run_products_bench(ProductsBenchOptions& options) {
  validate(options);
  return in_session(options.common, [&](Session& session) {
    return with_scalar_type(options.type, [&]<class T>() { return ProductsRunner<T>(session, options)(); });
  });
}

int products_bench_main(int argc, char** argv) {
  return bench_main(argc, argv, run_products_bench);
}

}  // namespace tessera::program
