// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/block_operations.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "bench_mains.hpp"
#include "density_bench_options.hpp"
#include "density_bench_peer.hpp"
#include "density_check.hpp"
#include "density_steps.hpp"
#include "machine_limits.hpp"
#include "output_files.hpp"
#include "problem.hpp"
#include "program_main.hpp"
#include "scalar_types.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Orders of the dense products that determine the limit: for CPUs, and for one GPU.
constexpr Index cpu_limit_order = 2000, one_gpu_limit_order = 8192;
/// Electrons of an occupied state.
constexpr double in_a_state = 2;

/// One method with one filter, for one system.
template <class T>
struct DensityCase {
  DensityMethod method = DensityMethod::automatic;
  double filter = 0;
  Report report{};
  double energy = unknown;             ///< of the last run; unknown if it failed
  double energy_difference = unknown;  ///< the peer's subtracted
  std::string status{};                ///< of the last run that failed
};

/// The least and the largest gap that these bounds leave; null for what is not known.
Json gap_json(const GapBounds& bounds) {
  return Json::array({number_or_null(std::max(bounds.lumo.lower - bounds.homo.upper, 0.0)),
                      number_or_null(bounds.lumo.upper - bounds.homo.lower)});
}

/// Largest less least, relative to the median.
double spread(const Report& report) {
  const auto less = [](const RunRecord& a, const RunRecord& b) { return a.total_seconds < b.total_seconds; };
  const auto [least, most] = std::minmax_element(report.runs.begin(), report.runs.end(), less);
  return (most->total_seconds - least->total_seconds) / report.median_seconds();
}

template <class T>
class DensityBench {
 public:
  DensityBench(Session& session, const DensityBenchOptions& options)
      : session_(session), runtime_(session.runtime()), options_(options) {}

  int operator()() {
    if (on_gpu() && runtime_.gpus() == 0)
      throw InvalidArgument("--keep-on", options_.keep_on, "host, where no GPU is used");
    if (options_.peer != "none") peer_ = std::make_unique<DensityPeer<T>>(session_, options_.peer);
    session_.progress().stage("the machine's limit");
    const int gpus = runtime_.gpus() * runtime_.size();
    limit_ = gpus > 0 ? measure_gpu_limits<T>(one_gpu_limit_order).gflops * gpus
                      : measure_gemm_limit<T>(runtime_, cpu_limit_order, 1);
    Json cases = Json::array();
    bool passed = true, first = true;
    for (const DensitySource& source : sources_of(options_)) {
      std::vector<DensityCase<T>> of_system = one_system(source);
      print(of_system, std::exchange(first, false));
      for (DensityCase<T>& one : of_system) {
        passed = passed && one.report.passed();
        cases.push_back(case_json(one));
      }
    }
    session_.progress().done();
    write(cases);
    return passed ? exit_good : exit_check_failed;
  }

 private:
  bool on_gpu() const { return options_.keep_on == "gpu"; }

  /// All cases of a system, run in turns, and the peer once a round.
  std::vector<DensityCase<T>> one_system(const DensitySource& source) {
    session_.progress().stage(source.generate.empty() ? "reading the matrices" : "making the matrices");
    load(source);
    std::vector<DensityCase<T>> cases;
    for (const DensityMethod method : options_.methods)
      for (const double filter : options_.filters) cases.push_back(new_case(source, method, filter));
    std::optional<PeerRecord> record;
    if (peer_) record = peer_->record();
    DensityPeerResult<T> theirs;
    for (int run = -options_.common.warmup; run < options_.common.repeat; ++run) {
      if (peer_) {
        place_operands();
        theirs = peer_->run(problem(), solver_options(DensityMethod::dense, options_.filters.front()));
        if (run >= 0 && !std::isnan(theirs.seconds)) peer_->add_run(*record, theirs.seconds);
      }
      for (DensityCase<T>& one : cases) one_run(one, run, theirs);
    }
    for (DensityCase<T>& one : cases)
      if (record) add_peer(one, *record, theirs);
    return cases;
  }

  void load(const DensitySource& source) {
    SparseShape shape;
    shape.runtime = &runtime_;
    shape.grid = process_grid(runtime_, options_.grid);
    shape.pattern = options_.blocks.empty() ? std::vector<Index>{23} : options_.blocks;
    if (!options_.block_sizes.empty())
      session_.together([&] { shape.sizes = read_block_sizes(options_.block_sizes); });
    matrices_ = {};
    matrices_ = load_density_matrices<T>(session_, source, shape);
    const bool has_dense = std::ranges::count(options_.methods, DensityMethod::dense) > 0;
    const auto n = static_cast<double>(matrices_.hamiltonian.rows());
    if (peer_ || has_dense)
      require_memory(runtime_, peer_ ? "--peer " + options_.peer : std::string("--methods dense"),
                     sizeof(T) * n * n * (peer_ ? peer_->matrices() : 4.0 / runtime_.size()));
    electrons_ = source.generate.empty() ? options_.electrons : static_cast<double>(matrices_.electrons);
  }

  DensityProblem<T> problem() const {
    DensityProblem<T> problem{.hamiltonian = matrices_.hamiltonian,
                              .overlap = matrices_.overlap_if_any(),
                              .electrons = electrons_,
                              .occupation = in_a_state,
                              .temperature = options_.temperature};
    if (const double half = matrices_.gap_bound / 2; options_.known_gap && half > 0)
      problem.gap = {{unknown, matrices_.mu - half}, {matrices_.mu + half, unknown}};
    return problem;
  }

  DensityOptions solver_options(DensityMethod method, double filter) const {
    return {.method = method, .filter_eps = filter, .check = false};
  }

  DensityCase<T> new_case(const DensitySource& source, DensityMethod method, double filter) {
    DensityCase<T> one{.method = method, .filter = filter, .report = session_.new_report("bench_density")};
    one.report.limit = LimitRecord{"gemm", limit_, unknown};
    Json& json = one.report.options = options_in_use();
    const BlockSparseMatrix<T>& h = matrices_.hamiltonian;
    for (const char* of_all : {"generate", "molecules", "methods"}) json.erase(of_all);
    json["system"] = source.name();
    json["n"] = h.rows();
    json["block_rows"] = h.block_rows();
    if (matrices_.molecules > 0) {
      const DensitySystemOptions system = system_options(source);
      json["molecules"] = matrices_.molecules;
      json["blocks"] = system.blocks;
      json["gap"] = *system.gap;
      json["decay"] = *system.decay;
      json["coupling"] = *system.coupling;
      json["gap_bound"] = matrices_.gap_bound;
    }
    json["electrons"] = electrons_;
    json["method"] = to_string(method);
    json["filter"] = filter;
    json["occupation_hamiltonian"] = occupation(h);
    return one;
  }

  void place_operands() {
    place(runtime_, matrices_.hamiltonian, on_gpu());
    place(runtime_, matrices_.overlap, on_gpu());
  }

  void one_run(DensityCase<T>& one, int index, const DensityPeerResult<T>& theirs) {
    const bool timed = index >= 0, checked = timed && options_.common.wants_check(index);
    session_.progress().stage(to_string(one.method));
    place_operands();
    session_.begin_run();
    const DensityResult<T> result =
        density_matrix(runtime_, problem(), solver_options(one.method, one.filter));
    RunRecord run = session_.end_run({});
    if (result.status().code == StatusCode::task_failed) throw Error(result.status().message());
    run.submit_seconds = unknown;
    run.stages = stages_of_steps(result, result.method == DensityMethod::dense ? "dense" : "rest");
    run.flops = result.flop;
    run.result = {{"status", words_of(result.status())},
                  {"method", to_string(result.method)},
                  {"products", result.products},
                  {"flop", result.flop},
                  {"iterations", result.steps.size()},
                  {"energy", result ? number_or_null(result.energy) : Json()},
                  {"electrons", result ? number_or_null(result.electrons) : Json()},
                  {"gap", result ? gap_json(result.gap) : Json::array({Json(), Json()})},
                  {"occupation", result ? Json(occupation(result.density)) : Json()}};
    if (index == options_.common.repeat - 1) run.result["steps"] = steps_json(result.steps);
    one.energy = result ? result.energy : unknown;
    if (!result) {
      one.status = words_of(result.status());
      run.check.emplace().failure = result.status().message();
    } else if (checked) {
      check(one, run, result, theirs);
    }
    if (timed) one.report.runs.push_back(std::move(run));
  }

  void check(DensityCase<T>& one, RunRecord& run, const DensityResult<T>& result,
             const DensityPeerResult<T>& theirs) {
    session_.progress().stage("checking");
    const DensityErrors errors = density_errors(runtime_, problem(), result.density, one.filter);
    run.check.emplace().gates = density_checks(errors, density_unit<T>(one.filter), result.electrons,
                                               electrons_, in_a_state, options_.temperature);
    run.result["idempotency"] = number_or_null(errors.idempotency);
    run.result["commutator"] = number_or_null(errors.commutator);
    if (theirs.density)
      run.result["largest_difference"] = largest_difference(runtime_, result.density, *theirs.density);
  }

  void add_peer(DensityCase<T>& one, const PeerRecord& record, const DensityPeerResult<T>& theirs) {
    one.report.peer = record;
    one.energy_difference = one.energy - theirs.energy;
    Json& json = one.report.peer->result;
    json["energy"] = number_or_null(theirs.energy);
    json["energy_difference"] = number_or_null(one.energy_difference);
    if (matrices_.molecules > 0)
      json["energy_difference_per_molecule"] = number_or_null(per_molecule(one.energy_difference));
  }

  double per_molecule(double x) const {
    return matrices_.molecules > 0 ? x / static_cast<double>(matrices_.molecules) : unknown;
  }

  Json options_in_use() const {
    const ProcessGrid grid = process_grid(runtime_, options_.grid);
    DensityBenchOptions used = options_;
    used.common = session_.used_options();
    used.grid = {grid.rows, grid.cols};
    return option_table(used).json();
  }

  Json case_json(const DensityCase<T>& one) const {
    Json json = to_json(one.report);
    const Json head = record_head(one.report);
    for (const auto& item : head.items())
      if (item.key() != "options") json.erase(item.key());
    const double seconds = one.report.median_seconds();
    json["seconds"] = {{"median", seconds}, {"spread", spread(one.report)}};
    if (one.report.options.contains("molecules"))
      json["seconds"]["per_molecule"] = seconds / one.report.options["molecules"].template get<double>();
    json["tflops"] = number_or_null(tflops(one));
    return json;
  }

  /// NaN where no products are counted.
  double tflops(const DensityCase<T>& one) const {
    const double flop = one.report.runs.back().flops;
    return flop > 0 ? 1e-12 * flop / one.report.median_seconds() : unknown;
  }

  /// Prints a system and a row for each of its cases; before the first one what holds for all.
  void print(const std::vector<DensityCase<T>>& cases, bool first) {
    session_.progress().done();
    if (runtime_.rank() != 0 || options_.common.quiet || options_.common.json_alone()) return;
    const Report& any = cases.front().report;
    if (first) {
      say("{}\nmachine       {}\nruns          type {}, {} to warm up, median of {}; gemm: {:.4g} TFLOP/s\n",
          any.title, machine_line(runtime_.info()), type_letter<T>, options_.common.warmup,
          options_.common.repeat, 1e-3 * limit_);
      if (peer_) say("peer          {} {}; ratio: its time / ours\n", any.peer->name, any.peer->version);
    }
    const std::string molecules =
        matrices_.molecules > 0 ? fmt::format(", {} molecules", matrices_.molecules) : std::string();
    say("\n{}, n = {}{}, {:.10g} electrons, {:.3g} % of H stored\n", any.options["system"].get<std::string>(),
        matrices_.hamiltonian.rows(), molecules, electrons_,
        100 * any.options["occupation_hamiltonian"].get<double>());
    say("{:<13}{:>8}{:>10}{:>9}{:>9}{:>10}{:>12}{:>8}{:>12}  {}\n", "method", "filter", "seconds", "spread",
        "products", "TFLOP/s", "s/molecule", "ratio", "dE/molecule", "check");
    for (const DensityCase<T>& one : cases) print_row(one);
  }

  void print_row(const DensityCase<T>& one) {
    const auto known = [](const char* form, double x) {
      return std::isnan(x) ? std::string() : fmt::format(fmt::runtime(form), x);
    };
    const Json& found = one.report.runs.back().result;
    const std::string used = found["method"], asked = to_string(one.method);
    const auto& last = one.report.runs.back().check;
    say("{:<13}{:>8}{:>10.4g}{:>7.1f} %{:>9}{:>10}{:>12}{:>8}{:>12}  {}\n",
        used == asked ? asked : fmt::format("{}: {}", asked, used), fmt::format("{:g}", one.filter),
        one.report.median_seconds(), 100 * spread(one.report),
        found["products"] == 0 ? std::string() : found["products"].dump(), known("{:.4g}", tflops(one)),
        known("{:.3g}", per_molecule(one.report.median_seconds())),
        one.report.peer ? fmt::format("{:.2f}", one.report.ratio()) : "",
        known("{:.1e}", per_molecule(one.energy_difference)),
        !one.status.empty() ? one.status
        : !last             ? "none"
        : last->passed()    ? "passed"
                            : "FAILED");
  }

  void write(const Json& cases) {
    session_.together([&] {
      if (runtime_.rank() != 0 || options_.common.json.empty()) return;
      Report report = session_.new_report("bench_density");
      report.options = options_in_use();
      Json document = record_head(report);
      document["cases"] = cases;
      write_json(options_.common.json, document);
    });
  }

  Session& session_;
  Runtime& runtime_;
  const DensityBenchOptions& options_;
  std::unique_ptr<DensityPeer<T>> peer_;
  double limit_ = unknown;
  DensityMatrices<T> matrices_;  ///< of the present system
  double electrons_ = 0;         ///< likewise
};

}  // namespace

int run_density_bench(DensityBenchOptions& options) {
  validate(options);
  option_table(options).require_formats();
  return in_session(options.common, [&](Session& session) {
    return naming_options([&] {
      return with_scalar_type(options.type, [&]<class T>() { return DensityBench<T>(session, options)(); });
    });
  });
}

int density_bench_main(int argc, char** argv) {
  return bench_main(argc, argv, run_density_bench);
}

}  // namespace tessera::program
