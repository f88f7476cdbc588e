// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/sparse/csb_partition.hpp>
#include <tessera/codelets/vectors/random_vectors.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/output_file.hpp>
#include <tessera/sparse_matrix.hpp>

#include "bench_mains.hpp"
#include "half_blocks.hpp"
#include "lobpcg_problem.hpp"
#include "machine_limits.hpp"
#include "output_files.hpp"
#include "program_main.hpp"
#include "rows_peer.hpp"
#include "saved_problem.hpp"
#include "session.hpp"
#include "spmm_options.hpp"
#include "spmm_plots.hpp"
#include "spmm_speedups.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Bytes of the copy that determines the limit of a GPU.
constexpr std::size_t copied_bytes = std::size_t(1) << 30;

template <class V, class T>
class SpmmRunner {
 public:
  SpmmRunner(Session& session, const SpmmBenchOptions& options, SparseProblem rows)
      : session_(session),
        runtime_(session.runtime()),
        options_(options),
        source_(source_of(options)),
        columns_(options.columns),
        report_(session.new_report("bench_spmm")),
        peer_(make_rows_peer<V, T>(runtime_, options.peer)),
        rows_(std::move(rows)) {}

  int operator()() {
    if (peer_) require_available(*peer_, options_.peer);
    make_matrix();
    describe();
    describe_tiles();
    measure_limit();
    for (int run = -options_.common.warmup; run < options_.common.repeat; ++run) one_round(run);
    if (peer_) peer_->release();
    return session_.finish(report_);
  }

 private:
  void make_matrix() {
    session_.progress().stage("making the matrix");
    a_ = std::make_unique<CsbMatrix<V, T>>(CsbMatrix<V, T>::build(
        runtime_, *rows_.a,
        {.groups = options_.nd, .segments = options_.segments, .progress = shown_share(session_)}));
    whole_entries_ = whole_entries(*a_);
    x_ = BlockVectors<T>(runtime_, a_->segments(), columns_);
    y_ = BlockVectors<T>(runtime_, a_->segments(), columns_);
    write_x();
    host_x_.resize(static_cast<std::size_t>(a_->order() * columns_));
    x_.get(host_x_.data(), columns_, columns_);
  }

  /// Writes the same random numbers each time, on the GPU to which each segment is assigned, or on
  /// the host. All other copies become invalid.
  void write_x() {
    Sequence sequence(runtime_);
    const RowSegments& segments = x_.segments();
    for (Index s = 0; s < x_.count(); ++s)
      sequence.insert(RandomVectors<T>{.v = x_.segment(s),
                                       .seed = options_.common.seed,
                                       .first_row = segments.begin(s),
                                       .columns = static_cast<std::int32_t>(columns_)},
                      {.gpu = segments.gpu(s)});
    const Status status = sequence.wait();
    if (!status) throw Error(status.message());
  }

  double flops() const {
    return 2 * flop_factor<T> * static_cast<double>(columns_) * static_cast<double>(whole_entries_);
  }
  /// X is read once and Y is written once.
  double vector_bytes() const { return 2. * sizeof(T) * static_cast<double>(a_->order() * columns_); }

  void describe() {
    SpmmBenchOptions used = options_;
    used.common = session_.used_options();
    if (source_.of_shell_model()) used.shell_model.interaction = source_.used_interaction();
    used.nd = a_->groups();
    used.segments = a_->segments()->count();
    Json& json = report_.options;
    json = option_table(used).json();
    json["matrix"] = source_.name();
    json["n"] = a_->order();
    json["scalar_type"] = std::string(1, type_letter<T>);
    json["stored_entries"] = a_->stored_entries();
    json["stored_bytes"] = a_->stored_bytes();
    report_.lines.emplace_back(
        "matrix",
        fmt::format("{}, n = {}, {} stored entries, {} ({:.2f} bytes an entry), {} groups, {} segments",
                    source_.name(), a_->order(), a_->stored_entries(), format_bytes(a_->stored_bytes()),
                    a_->stored_bytes() / static_cast<double>(a_->stored_entries()), a_->groups(),
                    a_->segments()->count()));
    report_.lines.emplace_back("vectors",
                               fmt::format("{}, in {}{}", columns_, is_complex<T> ? "complex " : "",
                                           sizeof(RealOf<T>) == 4 ? "float" : "double"));
  }

  /// The tiles that the rows have, or into which they are cut, and the cells of the stored half.
  void describe_tiles() {
    if (options_.histogram.empty()) return;
    session_.progress().stage("counting the tiles");
    const CsbPartition cut =
        csb_partition(runtime_, *rows_.a, {.groups = options_.nd, .segments = options_.segments});
    const std::span<const Index> given = rows_.a->tiles();
    const std::vector<Index> tiles =
        given.empty() ? cut.tiles : std::vector<Index>(given.begin(), given.end());
    std::vector<Index> of_tiles;
    for (std::size_t t = 0; t + 1 < tiles.size(); ++t) of_tiles.push_back(tiles[t + 1] - tiles[t]);
    const std::vector<SizeHistogram> histograms{
        {fmt::format("tiles of {}", source_.name()), "rows of a tile", of_tiles},
        {fmt::format("cells of {}", source_.name()), "stored entries of a cell",
         block_sizes(*rows_.a, cut.bands, host_threads(runtime_))}};
    for (const SizeHistogram& histogram : histograms) {
      report_.options["histograms"].push_back(to_json(histogram));
      std::string name = "histogram";
      for (const std::string& line : table_of(histogram))
        report_.lines.emplace_back(std::exchange(name, ""), line);
    }
    session_.together([&] {
      if (runtime_.rank() == 0) write_file(options_.histogram, svg(histograms));
    });
  }

  void measure_limit() {
    session_.progress().stage("the machine's limit");
    const int gpus = runtime_.gpus() * runtime_.size();
    const double rate = gpus > 0 ? measure_gpu_copy(copied_bytes) * gpus : measure_copy(runtime_);
    report_.limit = LimitRecord{"copy", unknown, rate};
  }

  RunRecord product() {
    session_.progress().stage("spmm");
    session_.begin_run();
    Sequence sequence(runtime_);
    sequence.begin_stage("spmm");
    a_->apply(sequence, x_, y_, columns_);
    const Status status = sequence.wait();
    RunRecord run = session_.end_run(sequence.statistics());
    if (!status) throw Error(status.message());
    return run;
  }

  void one_round(int index) {
    // Every run must include the transfers of x between GPUs, as in a solver.
    if (runtime_.gpus() > 1) write_x();
    RunRecord run = product();
    const double bytes = a_->stored_bytes() + vector_bytes(), seconds = run.total_seconds;
    run.flops = flops();
    for (StageRecord& stage : run.stages) {
      stage.flops = flops();
      stage.bytes = bytes;
    }
    run.result = {{"seconds", seconds},
                  {"flop", flops()},
                  {"stream_bytes", a_->stored_bytes()},
                  {"bytes", bytes},
                  {"stream_bytes_per_second", a_->stored_bytes() / seconds},
                  {"flop_per_byte", flops() / bytes},
                  {"limit_fraction", bytes / seconds / report_.limit->copy_rate}};
    const bool timed = index >= 0, checked = timed && options_.common.wants_check(index);
    std::vector<T> y;
    if (checked) {
      y.resize(host_x_.size());
      y_.get(y.data(), columns_, columns_);
      run.check = check(y);
    }
    if (peer_) time_peer(timed, checked ? &*run.check : nullptr, y);
    if (timed) report_.runs.push_back(std::move(run));
    if (index == options_.common.repeat - 1) describe_rates();
  }

  /// Rates of the median run.
  void describe_rates() {
    const double bytes = a_->stored_bytes() + vector_bytes(), seconds = report_.median_seconds();
    report_.results.emplace_back(
        "stream",
        fmt::format("{:.3g} GB/s of the stored matrix; {:.3g} GB/s with X and Y, {:.2f} of the copy rate",
                    a_->stored_bytes() / seconds * 1e-9, bytes / seconds * 1e-9,
                    bytes / seconds / report_.limit->copy_rate));
    report_.results.emplace_back("intensity", fmt::format("{:.2f} flop a byte", flops() / bytes));
    if (peer_) describe_peer_rates();
  }

  /// What the peer's kernels read and write at least, at its median time.
  void describe_peer_rates() {
    const double bytes = peer_->matrix_bytes() + vector_bytes(), seconds = median(report_.peer->seconds);
    report_.peer->result = {{"bytes", bytes},
                            {"bytes_per_second", bytes / seconds},
                            {"flop_per_byte", flops() / bytes},
                            {"limit_fraction", bytes / seconds / report_.limit->copy_rate}};
    report_.results.emplace_back(
        "baseline",
        fmt::format("{:.3g} GB/s of its matrix with X and Y, {:.2f} of the copy rate; {:.2f} flop a byte",
                    bytes / seconds * 1e-9, bytes / seconds / report_.limit->copy_rate, flops() / bytes));
  }

  /// max |Y - A X| / (eps (|A| |X|)) over all elements, with A X computed by plain loops over the
  /// rows.
  CheckRecord check(const std::vector<T>& y) const {
    session_.progress().stage("checking");
    const auto k = static_cast<std::size_t>(columns_);
    using S = detail::WideOf<T>;
    struct Sums {
      std::vector<S> values;
      std::vector<double> magnitudes;
    };
    // Each thread has its own sums.
    const int threads = threads_with_bytes(runtime_, (sizeof(S) + sizeof(double)) * y.size());
    std::vector<Sums> of_threads(static_cast<std::size_t>(threads));
    for_stored<S>(*rows_.a, threads, [&](Index row, Index column, S given, int thread) {
      Sums& sums = of_threads[static_cast<std::size_t>(thread)];
      if (sums.values.empty()) sums = {std::vector<S>(y.size()), std::vector<double>(y.size())};
      const S stored = static_cast<S>(static_cast<V>(given));
      const auto add = [&](S value, Index to, Index from) {
        for (std::size_t j = 0; j < k; ++j) {
          const S term = value * static_cast<S>(host_x_[static_cast<std::size_t>(from) * k + j]);
          sums.values[static_cast<std::size_t>(to) * k + j] += term;
          sums.magnitudes[static_cast<std::size_t>(to) * k + j] += std::abs(term);
        }
      };
      add(stored, row, column);
      if (row != column) add(conjugate(stored), column, row);
    });
    CheckRecord record;
    record.residual = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      S sum = 0;
      double magnitude = 0;
      for (const Sums& sums : of_threads)
        if (!sums.values.empty()) sum += sums.values[i], magnitude += sums.magnitudes[i];
      const double difference = std::abs(static_cast<S>(y[i]) - sum);
      const double error = difference == 0 ? 0 : difference / (static_cast<double>(precision<T>) * magnitude);
      record.residual = std::isnan(error) ? HUGE_VAL : std::max(record.residual, error);
    }
    return record;
  }

  /// If `check` is not null, adds the largest difference from the peer's product to it.
  void time_peer(bool timed, CheckRecord* check, const std::vector<T>& ours) {
    session_.progress().stage(peer_->name());
    peer_->prepare({.a = rows_.a.get(),
                    .shell_model = rows_.of_shell_model() ? &rows_.shell_model : nullptr,
                    .x = &host_x_,
                    .columns = columns_,
                    .segments = a_->segments()->count(),
                    .fetch = check != nullptr});
    const double seconds = peer_->run();
    if (timed) add_peer_seconds(report_, *peer_, seconds);
    if (!check) return;
    const std::vector<T> theirs = peer_->result();
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      largest = std::max(largest, static_cast<double>(std::abs(ours[i])));
      difference = std::max(difference, static_cast<double>(std::abs(ours[i] - theirs[i])));
    }
    check->values_difference = difference;
    check->values = largest > 0 ? difference / (largest * static_cast<double>(precision<T>) *
                                                std::sqrt(static_cast<double>(a_->order())))
                                : 0;
    check->values_against = peer_->name();
  }

  Session& session_;
  Runtime& runtime_;
  const SpmmBenchOptions& options_;
  const SparseSource source_;
  Index columns_;
  Report report_;
  std::unique_ptr<RowsPeer<T>> peer_;
  SparseProblem rows_;
  std::unique_ptr<CsbMatrix<V, T>> a_;
  Index whole_entries_ = 0;
  BlockVectors<T> x_, y_;
  std::vector<T> host_x_;
};

/// From records of earlier runs: a table, a picture, a record.
int compare_speedups(SpmmBenchOptions& options) {
  return run_on_all_ranks([&] {
    if (!speaks()) return exit_good;
    const std::vector<HeatMap> maps = speedups_of(options.speedups);
    Report report = new_record("bench_spmm");
    report.options["speedups"] = options.speedups;
    Json record = record_head(report);
    record["maps"] = Json::array();
    for (const HeatMap& map : maps) {
      if (!options.common.json_alone() && !options.common.quiet)
        for (const std::string& line : table_of(map)) say("{}\n", line);
      Json values = Json::array();
      for (const auto& row : map.values) {
        values.push_back(Json::array());
        for (const auto& value : row) values.back().push_back(value ? Json(*value) : Json());
      }
      record["maps"].push_back(
          {{"title", map.title}, {"matrices", map.rows}, {"vectors", map.columns}, {"speedups", values}});
    }
    if (!options.plot.empty()) write_file(options.plot, svg(maps));
    if (!options.common.json.empty()) write_json(options.common.json, record);
    return exit_good;
  });
}

/// Matrix values of V in float or double, and vectors of T.
template <class Float, class Double>
int run_in(Session& session, const SpmmBenchOptions& options, SparseProblem rows) {
  if (options.storage == 'd') return SpmmRunner<Double, Double>(session, options, std::move(rows))();
  if (options.type == 'd') return SpmmRunner<Float, Double>(session, options, std::move(rows))();
  return SpmmRunner<Float, Float>(session, options, std::move(rows))();
}

}  // namespace

int run_spmm_bench(SpmmBenchOptions& options) {
  validate(options);
  if (!options.speedups.empty()) return compare_speedups(options);
  option_table(options).require_formats();
  return in_session(options.common, [&](Session& session) {
    // Before the matrix is made.
    if (const auto peer = make_rows_peer<double, double>(session.runtime(), options.peer))
      require_available(*peer, options.peer);
    session.progress().stage("making the matrix");
    SparseProblem rows = load_rows(session, source_of(options));
    if (rows.a->hermitian())
      return run_in<std::complex<float>, std::complex<double>>(session, options, std::move(rows));
    return run_in<float, double>(session, options, std::move(rows));
  });
}

int spmm_bench_main(int argc, char** argv) {
  return bench_main(argc, argv, run_spmm_bench);
}

}  // namespace tessera::program
