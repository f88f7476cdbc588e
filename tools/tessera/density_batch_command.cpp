// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tessera/block_operations.hpp>
#include <tessera/density_matrices.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "density_check.hpp"
#include "density_problem.hpp"
#include "density_report.hpp"
#include "machine_limits.hpp"
#include "options.hpp"
#include "problem.hpp"
#include "scalar_types.hpp"
#include "session.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Keeps, of the gates of one name, the one that is nearest to its bound or farthest above it.
void merge_gates(std::vector<CheckGate>& all, const std::vector<CheckGate>& more) {
  for (const CheckGate& gate : more) {
    const auto same = std::ranges::find(all, gate.name, &CheckGate::name);
    if (same == all.end())
      all.push_back(gate);
    else if (!(gate.value * same->bound <= same->value * gate.bound))
      *same = gate;
  }
}

/// One run of `tessera density` with several Hamiltonians in scalar type T.
template <class T>
class DensityBatchRun {
 public:
  DensityBatchRun(const DensityProgramOptions& options, Session& session)
      : options_(options),
        session_(session),
        runtime_(session.runtime()),
        report_(session.new_report("density")),
        on_gpu_(options.keep_on == "gpu"),
        with_peer_(options.peer != "none"),
        common_mu_(options.common_mu && options.temperature > 0 && !options.mu) {}

  int operator()() {
    if (on_gpu_ && runtime_.gpus() == 0)
      throw InvalidArgument("--keep-on", options_.keep_on, "host, where no GPU is used");
    load();
    describe();
    for (int round = -options_.common.warmup; round < options_.common.repeat; ++round) one_round(round);
    return session_.finish(report_);
  }

 private:
  std::size_t count() const { return options_.hamiltonians.size(); }
  double weight(std::size_t k) const { return options_.weights.empty() ? 1 : options_.weights[k]; }
  double electrons(std::size_t k) const {
    const auto& given = options_.electrons;
    return given.empty() ? 0 : given[given.size() > 1 ? k : 0];
  }

  void load() {
    session_.progress().stage("reading the matrices");
    SparseShape shape;
    shape.runtime = &runtime_;
    shape.grid = process_grid(runtime_, options_.grid);
    shape.pattern = options_.blocks.empty() ? std::vector<Index>{23} : options_.blocks;
    shape.panel = options_.panel;
    if (!options_.block_sizes.empty())
      session_.together([&] { shape.sizes = read_block_sizes(options_.block_sizes); });
    double elements = 0;
    for (std::size_t k = 0; k < count(); ++k) {
      SparseShape of_this = shape;
      matrices_.push_back(load_density_matrices<T>(session_, source_of(options_, k), of_this));
      if (k > 0 && options_.overlaps.size() == 1) matrices_[k].overlap = matrices_[0].overlap;
      const auto n = static_cast<double>(matrices_[k].hamiltonian.rows());
      elements += n * n;
    }
    if (with_peer_ || options_.method == DensityMethod::dense)
      require_memory(runtime_, with_peer_ ? "--peer dense" : "--method dense",
                     4 * sizeof(T) * elements / runtime_.size());
  }

  DensityBatch<T> batch() const {
    DensityBatch<T> batch{.weights = options_.weights, .common_chemical_potential = common_mu_};
    for (std::size_t k = 0; k < count(); ++k)
      batch.problems.push_back({.hamiltonian = matrices_[k].hamiltonian,
                                .overlap = matrices_[k].overlap_if_any(),
                                .electrons = electrons(k),
                                .occupation = options_.occupation,
                                .temperature = options_.temperature,
                                .chemical_potential = options_.mu,
                                .gap = options_.gap_bounds});
    return batch;
  }

  DensityOptions solver_options() const {
    return {.method = options_.method,
            .filter_eps = options_.filter,
            .tolerance = options_.tolerance,
            .iterations = options_.iterations,
            .sign_order = options_.sign_order,
            .factor_order = options_.factor_order,
            .group_order = options_.group,
            .check = false};
  }

  void describe() {
    DensityProgramOptions used = options_;
    const ProcessGrid grid = process_grid(runtime_, options_.grid);
    used.common = session_.used_options();
    used.panel = matrices_.front().hamiltonian.pattern().rows().panel_elements();
    used.grid = {grid.rows, grid.cols};
    if (options_.blocks.empty() && options_.block_sizes.empty()) used.blocks = {23};
    Json& json = report_.options;
    json = option_table(used).json();
    json["occupation"] = options_.occupation;
    json["n"] = Json::array();
    double stored = 0;
    for (const DensityMatrices<T>& one : matrices_) {
      json["n"].push_back(one.hamiltonian.rows());
      stored += occupation(one.hamiltonian) / static_cast<double>(count());
    }
    const auto [least, most] =
        std::ranges::minmax(matrices_, {}, [](const auto& one) { return one.hamiltonian.rows(); });
    const Index lowest = least.hamiltonian.rows(), highest = most.hamiltonian.rows();
    report_.lines.emplace_back(
        "H",
        fmt::format("{} of them, n = {}, {:.3g} % of the elements stored", count(),
                    lowest == highest ? fmt::to_string(lowest) : fmt::format("{} to {}", lowest, highest),
                    100 * stored));
    std::string text = options_.mu ? fmt::format("states below {:.10g}, ", *options_.mu) : std::string();
    if (options_.temperature > 0) text += fmt::format("kT {:g}, ", options_.temperature);
    if (common_mu_) text += "one mu, ";
    report_.lines.emplace_back(
        "density", text + fmt::format("{:g} in a state, method {}, type {}, filter {:g}", options_.occupation,
                                      to_string(options_.method), type_letter<T>, options_.filter));
  }

  void place_operands() {
    for (const DensityMatrices<T>& one : matrices_) {
      place(runtime_, one.hamiltonian, on_gpu_);
      place(runtime_, one.overlap, on_gpu_);
    }
  }

  void one_round(int index) {
    const bool timed = index >= 0, last = index == options_.common.repeat - 1;
    session_.progress().stage(timed ? "the density matrices" : "warming up");
    place_operands();
    session_.begin_run();
    const DensityBatchResult<T> result = density_matrices(runtime_, batch(), solver_options());
    RunRecord run = session_.end_run({});
    if (result.status().code == StatusCode::task_failed) throw Error(result.status().message());
    run.submit_seconds = unknown;
    run.stages.clear();
    for (const DensityResult<T>& one : result.results) run.flops += one.flop;
    CheckRecord check;
    std::vector<DensityErrors> errors(count());
    if (timed && result && options_.common.wants_check(index)) check.gates = gates(result, errors);
    if (!result)
      check.failure = fmt::format("{}: {}", words_of(result.status()), failure_of(result.status()));
    if (with_peer_) run_peer(result, timed, check);
    if (check.any()) run.check = check;
    run.result = summary(result, errors);
    report_.options["method"] = to_string(result.results.front().method);
    if (last) {
      add_results(result);
      write_files(result);
    }
    if (timed) report_.runs.push_back(std::move(run));
  }

  /// With a given mu the nearest whole number of states; at a temperature what was found.
  double wanted(std::size_t k, double found) const {
    if (common_mu_ || (options_.mu && options_.temperature > 0)) return found;
    return options_.mu ? options_.occupation * std::round(found / options_.occupation) : electrons(k);
  }

  std::vector<CheckGate> gates(const DensityBatchResult<T>& result, std::vector<DensityErrors>& errors) {
    session_.progress().stage("checking");
    const DensityBatch<T> problems = batch();
    const double unit = density_unit<T>(options_.filter);
    std::vector<CheckGate> all;
    double sum = 0;
    for (std::size_t k = 0; k < count(); ++k) {
      const DensityResult<T>& one = result.results[k];
      errors[k] = density_errors(runtime_, problems.problems[k], one.density, options_.filter);
      merge_gates(all, density_checks(errors[k], unit, one.electrons, wanted(k, one.electrons),
                                      options_.occupation, options_.temperature));
      sum += weight(k) * electrons(k);
    }
    if (common_mu_)
      merge_gates(all,
                  {density_checks({}, unit, result.electrons, sum, options_.occupation, options_.temperature)
                       .back()});
    return all;
  }

  /// The same by dense eigenpairs. Its time counts from a warm-up on as ours does.
  void run_peer(const DensityBatchResult<T>& ours, bool timed, CheckRecord& check) {
    if (options_.mu && !ours) return;  // how many states there are is not known
    session_.progress().stage("the dense density matrices");
    DensityBatch<T> same = batch();
    DensityOptions solve = solver_options();
    solve.method = DensityMethod::dense;
    for (std::size_t k = 0; k < count() && options_.temperature == 0; ++k) {
      same.problems[k].chemical_potential.reset();
      if (options_.mu) same.problems[k].electrons = wanted(k, ours.results[k].electrons);
    }
    place_operands();
    runtime_.barrier();
    const double begin = now();
    const DensityBatchResult<T> theirs = density_matrices(runtime_, same, solve);
    double seconds = now() - begin;
    runtime_.all_reduce_max(&seconds, 1);
    if (!timed) return;
    if (!report_.peer) {
      const auto gpus = static_cast<int>(runtime_.gpus());
      report_.peer =
          PeerRecord{"density_matrices, method dense", gpus > 0 ? 0 : cpu_threads(runtime_), {}, {}, gpus};
    }
    PeerRecord& peer = *report_.peer;
    peer.seconds.push_back(seconds);
    if (!theirs) {
      check.failure = fmt::format("{} --peer dense: {}", check.failure, failure_of(theirs.status()));
      return;
    }
    peer.result = {{"energy", theirs.energy}, {"mu", number_or_null(theirs.chemical_potential)}};
    if (!ours) return;
    double elements = 0;
    for (std::size_t k = 0; k < count(); ++k)
      elements = std::max(elements,
                          largest_difference(runtime_, ours.results[k].density, theirs.results[k].density));
    const double energy = ours.energy - theirs.energy;
    peer.result["energy_difference"] = energy;
    peer.result["largest_difference"] = elements;
    peer.note = fmt::format("energy ours - theirs {:.3g}, largest |P - theirs| {:.3g}", energy, elements);
  }

  Json summary(const DensityBatchResult<T>& result, const std::vector<DensityErrors>& errors) const {
    const bool there = bool(result);
    const auto known = [there](double x) { return there ? number_or_null(x) : Json(); };
    Json json;
    json["status"] = words_of(result.status());
    json["method"] = to_string(result.results.front().method);
    json["energy"] = known(result.energy);
    json["entropy"] = known(result.entropy);
    json["free_energy"] = known(result.free_energy);
    json["mu"] = known(result.chemical_potential);
    json["electrons"] = known(result.electrons);
    json["homo"] = there ? interval_json(result.gap.homo) : Json::array({Json(), Json()});
    json["lumo"] = there ? interval_json(result.gap.lumo) : Json::array({Json(), Json()});
    json["gap"] = there ? interval_json(gap_of(result.gap)) : Json::array({Json(), Json()});
    if (!there) json["message"] = failure_of(result.status());
    Index products = 0;
    double flop = 0;
    json["problems"] = Json::array();
    for (std::size_t k = 0; k < count(); ++k) {
      const DensityResult<T>& one = result.results[k];
      products += one.products;
      flop += one.flop;
      Json of_one = density_summary(one, errors[k], matrices_[k].hamiltonian.rows(), 0);
      of_one["weight"] = weight(k);
      json["problems"].push_back(std::move(of_one));
    }
    json["products"] = products;
    json["flop"] = flop;
    return json;
  }

  void add_results(const DensityBatchResult<T>& result) {
    auto& lines = report_.results;
    if (!result)
      lines.emplace_back("status",
                         fmt::format("{}: {}", words_of(result.status()), failure_of(result.status())));
    for (std::size_t k = 0; k < count(); ++k) {
      const DensityResult<T>& one = result.results[k];
      const std::string found = one ? fmt::format("{:.10g} electrons, mu {:.8g}, energy {:.12g}",
                                                  one.electrons, one.chemical_potential, one.energy)
                                    : words_of(one.status());
      lines.emplace_back(fmt::format("H {}", k + 1),
                         fmt::format("weight {:g}, {}, {} products", weight(k), found, one.products));
    }
    if (!result) return;
    lines.emplace_back("energy", fmt::format("{:.12g}", result.energy));
    if (options_.temperature > 0)
      lines.emplace_back("free energy",
                         fmt::format("{:.12g}, entropy {:.8g} k_B", result.free_energy, result.entropy));
    lines.emplace_back("electrons", fmt::format("{:.10g}", result.electrons));
    if (common_mu_) lines.emplace_back("mu", fmt::format("{:.10g}", result.chemical_potential));
    if (options_.temperature == 0) lines.emplace_back("gap", interval_text(gap_of(result.gap)));
  }

  void write_files(const DensityBatchResult<T>& result) {
    if (options_.output.empty()) return;
    if (!result) {
      report_.results.emplace_back("output", "not written: not all density matrices are there");
      return;
    }
    session_.progress().stage("writing the output");
    for (std::size_t k = 0; k < count(); ++k) save_sparse(output_of(options_, k), result.results[k].density);
  }

  const DensityProgramOptions& options_;
  Session& session_;
  Runtime& runtime_;
  Report report_;
  const bool on_gpu_, with_peer_, common_mu_;
  std::vector<DensityMatrices<T>> matrices_;
};

}  // namespace

int run_density_batch(const DensityProgramOptions& options) {
  return in_session(options.common, [&](Session& session) {
    return naming_options([&] {
      return with_scalar_type(options.type,
                              [&]<class T>() { return DensityBatchRun<T>(options, session)(); });
    });
  });
}

}  // namespace tessera::program
