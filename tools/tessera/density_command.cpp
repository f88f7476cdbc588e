// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include <tessera/block_operations.hpp>
#include <tessera/density_matrix.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/output_file.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "density_check.hpp"
#include "density_former.hpp"
#include "density_plot.hpp"
#include "density_problem.hpp"
#include "density_report.hpp"
#include "density_steps.hpp"
#include "machine_limits.hpp"
#include "options.hpp"
#include "output_files.hpp"
#include "problem.hpp"
#include "scalar_types.hpp"
#include "session.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// One run of `tessera density` in scalar type T.
template <class T>
class DensityRun {
 public:
  DensityRun(const DensityProgramOptions& options, Session& session)
      : options_(options),
        session_(session),
        runtime_(session.runtime()),
        report_(session.new_report("density")) {}

  int operator()() {
    if (keeps_on_gpu() && runtime_.gpus() == 0)
      throw InvalidArgument("--keep-on", options_.keep_on, "host, where no GPU is used");
    make_matrices();
    describe();
    for (int round = -options_.common.warmup; round < options_.common.repeat; ++round) one_round(round);
    return session_.finish(report_);
  }

 private:
  bool keeps_on_gpu() const { return options_.keep_on == "gpu"; }
  bool has_peer() const { return options_.peer != "none"; }
  std::string source() const { return source_of(options_).name(); }

  void make_matrices() {
    shape_.runtime = &runtime_;
    shape_.grid = process_grid(runtime_, options_.grid);
    shape_.pattern = options_.blocks.empty() ? std::vector<Index>{23} : options_.blocks;
    shape_.panel = options_.panel;
    if (!options_.block_sizes.empty())
      session_.together([&] { shape_.sizes = read_block_sizes(options_.block_sizes); });
    session_.progress().stage(options_.generate.empty() ? "reading the matrices" : "making the matrices");
    matrices_ = load_density_matrices<T>(session_, source_of(options_), shape_);
    former_ = read_former(session_, options_, matrices_);
    if (!options_.electrons.empty())
      electrons_ = options_.electrons.front();
    else if (matrices_.electrons >= 0)
      electrons_ = static_cast<double>(matrices_.electrons) / 2 * options_.occupation;
    if (has_peer() || options_.method == DensityMethod::dense) {
      const auto n = static_cast<double>(matrices_.hamiltonian.rows());
      require_memory(runtime_, has_peer() ? "--peer dense" : "--method dense",
                     4 * sizeof(T) * n * n / runtime_.size());
    }
  }

  DensityProblem<T> problem() const {
    return {.hamiltonian = matrices_.hamiltonian,
            .overlap = matrices_.overlap_if_any(),
            .electrons = std::max(electrons_, 0.0),
            .occupation = options_.occupation,
            .temperature = options_.temperature,
            .chemical_potential = options_.mu,
            .inverse_factor = former_.factor_if_any(),
            .gap = former_.gap};
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
    const BlockSparseMatrix<T>& h = matrices_.hamiltonian;
    DensityProgramOptions used = options_;
    used.common = session_.used_options();
    used.panel = h.pattern().rows().panel_elements();
    used.grid = {shape_.grid.rows, shape_.grid.cols};
    const bool generated = !options_.generate.empty();
    if (generated) {
      const DensitySystemOptions system = system_options(source_of(options_));
      used.blocks = system.blocks;
      used.gap = system.gap, used.decay = system.decay, used.coupling = system.coupling;
      used.molecules = matrices_.molecules;
    } else if (options_.block_sizes.empty()) {
      used.blocks = shape_.pattern;
    }
    used.n = h.rows();
    used.moved = former_.moved;
    Json& json = report_.options;
    json = option_table(used).json();
    json["hamiltonian"] = source();
    json["n"] = h.rows();
    json["occupation"] = options_.occupation;
    if (!options_.mu) json["electrons"] = electrons_;
    describe_matrix("H", "hamiltonian", source(), h);
    if (matrices_.overlap.valid())
      describe_matrix("S", "overlap", generated ? options_.generate : options_.overlaps.front(),
                      matrices_.overlap);
    if (generated)
      report_.lines.emplace_back(
          "system", fmt::format("{} molecules, gap at least {:.4g} around {:.6g}", matrices_.molecules,
                                std::max(matrices_.gap_bound, 0.0), matrices_.mu));
    std::string text = options_.mu ? fmt::format("states below {:.10g}", *options_.mu)
                                   : fmt::format("{:.10g} electrons", electrons_);
    if (options_.temperature > 0) text += fmt::format(", kT {:g}", options_.temperature);
    text += fmt::format(", {:g} in a state, method {}, type {}, filter {:g}", options_.occupation,
                        to_string(options_.method), type_letter<T>, options_.filter);
    if (runtime_.gpus() > 0) text += keeps_on_gpu() ? ", H and S on the GPU" : ", H and S in host memory";
    report_.lines.emplace_back("density", text);
  }

  void describe_matrix(const char* label, const char* key, const std::string& from,
                       const BlockSparseMatrix<T>& x) {
    const double share = occupation(x);
    report_.options[fmt::format("occupation_{}", key)] = share;
    report_.lines.emplace_back(
        label, fmt::format("{}, n = {}, {} x {} blocks, {:.3g} % of the elements stored", from, x.rows(),
                           x.block_rows(), x.block_cols(), 100 * share));
  }

  void place_operands() {
    place(runtime_, matrices_.hamiltonian, keeps_on_gpu());
    place(runtime_, matrices_.overlap, keeps_on_gpu());
  }

  /// Prints each step when it ends, from rank 0. Set on every rank, because the library asks all of
  /// them whether to go on.
  IterationMonitor monitor(bool timed) {
    if (!timed || options_.common.quiet || options_.common.json_alone()) return {};
    session_.progress().done();
    return [this, gpus = runtime_.any_gpus(), first = true](const IterationStep& step) mutable {
      if (runtime_.rank() != 0) return true;
      if (first) print_text(stdout, step_heading(gpus));
      first = false;
      print_text(stdout, step_row(step, gpus));
      std::fflush(stdout);
      return true;
    };
  }

  /// Computes the density matrix, then the peer's. `index` is the number of the timed run; negative:
  /// a warm-up run.
  void one_round(int index) {
    const bool timed = index >= 0, last = index == options_.common.repeat - 1;
    DensityOptions solve = solver_options();
    session_.progress().stage(timed ? "the density matrix" : "warming up");
    place_operands();
    solve.monitor = monitor(timed);
    session_.begin_run();
    const DensityResult<T> result = density_matrix(runtime_, problem(), solve);
    RunRecord run = session_.end_run({});
    if (result.status().code == StatusCode::task_failed) throw Error(result.status().message());
    set_stages(run, result);
    CheckRecord check;
    DensityErrors errors;
    if (timed && result && options_.common.wants_check(index)) {
      session_.progress().stage("checking");
      errors = density_errors(runtime_, problem(), result.density, options_.filter);
      check.gates = density_checks(errors, density_unit<T>(options_.filter), result.electrons,
                                   wanted_electrons(result), options_.occupation, options_.temperature);
    }
    if (!result)
      check.failure = fmt::format("{}: {}", words_of(result.status()), failure_of(result.status()));
    if (has_peer()) run_peer(result, timed, check);
    if (check.any()) run.check = check;
    run.result = density_summary(result, errors, matrices_.hamiltonian.rows(), matrices_.molecules);
    report_.options["method"] = to_string(result.method);
    if (last) {
      add_results(run, result, errors);
      write_files(result);
    }
    if (timed) report_.runs.push_back(std::move(run));
  }

  /// With a given mu, the nearest whole number of states; at a temperature what was found.
  double wanted_electrons(const DensityResult<T>& result) const {
    if (options_.mu && options_.temperature > 0) return result.electrons;
    return options_.mu ? options_.occupation * std::round(result.electrons / options_.occupation)
                       : electrons_;
  }

  /// The same by dense eigenpairs. Its time counts from a warm-up on as ours does.
  void run_peer(const DensityResult<T>& ours, bool timed, CheckRecord& check) {
    if (options_.mu && !ours) return;  // how many states there are is not known
    session_.progress().stage("the dense density matrix");
    DensityProblem<T> same = problem();
    DensityOptions solve = solver_options();
    if (options_.temperature == 0) same.chemical_potential.reset();
    if (options_.mu) same.electrons = wanted_electrons(ours);
    solve.method = DensityMethod::dense;
    place_operands();
    runtime_.barrier();
    const double begin = now();
    const DensityResult<T> theirs = density_matrix(runtime_, same, solve);
    double seconds = now() - begin;
    runtime_.all_reduce_max(&seconds, 1);
    if (!timed) return;
    if (!report_.peer) {
      const auto gpus = static_cast<int>(runtime_.gpus());
      report_.peer =
          PeerRecord{"density_matrix, method dense", gpus > 0 ? 0 : cpu_threads(runtime_), {}, {}, gpus};
    }
    PeerRecord& peer = *report_.peer;
    peer.seconds.push_back(seconds);
    if (!theirs) {
      check.failure = fmt::format("{} --peer dense: {}", check.failure, failure_of(theirs.status()));
      return;
    }
    peer.result = {{"energy", theirs.energy},
                   {"mu", number_or_null(theirs.chemical_potential)},
                   {"homo", interval_json(theirs.gap.homo)},
                   {"lumo", interval_json(theirs.gap.lumo)}};
    if (!ours) return;
    const double energy = ours.energy - theirs.energy,
                 elements = largest_difference(runtime_, ours.density, theirs.density);
    peer.result["energy_difference"] = energy;
    peer.result["largest_difference"] = elements;
    peer.note = fmt::format("energy ours - theirs {:.3g}, largest |P - theirs| {:.3g}", energy, elements);
  }

  static void set_stages(RunRecord& run, const DensityResult<T>& result) {
    run.submit_seconds = unknown;
    run.stages = stages_of_steps(result, result.method == DensityMethod::dense ? "dense" : "rest");
    run.flops = result.flop;
  }

  void add_results(const RunRecord& run, const DensityResult<T>& result, const DensityErrors& errors) {
    auto& lines = report_.results;
    const auto line = [&](const char* label, std::string text) {
      lines.emplace_back(label, std::move(text));
    };
    if (!result)
      line("status", fmt::format("{}: {}", words_of(result.status()), failure_of(result.status())));
    line("method",
         fmt::format("{}, {} steps, {} products of matrices, {:.4g} flop{}", to_string(result.method),
                     result.steps.size(), result.products, result.flop,
                     result.seconds > 0 && result.flop > 0
                         ? fmt::format(", {:.1f} GFLOP/s over all", 1e-9 * result.flop / result.seconds)
                         : ""));
    if (!result) return;
    std::string energy = fmt::format("{:.12g}", result.energy);
    if (matrices_.molecules > 0)
      energy += fmt::format(", {:.12g} a molecule", result.energy / static_cast<double>(matrices_.molecules));
    line("energy", std::move(energy));
    const bool warm = options_.temperature > 0;
    if (warm)
      line("free energy", fmt::format("{:.12g}, entropy {:.8g} k_B", result.free_energy, result.entropy));
    line("electrons", fmt::format("{:.10g}", result.electrons));
    line("mu", fmt::format("{:.10g}", result.chemical_potential));
    if (!warm || result.method == DensityMethod::dense) {
      line("HOMO", interval_text(result.gap.homo));
      line("LUMO", interval_text(result.gap.lumo));
      line("gap", interval_text(gap_of(result.gap)));
    }
    if (!std::isnan(errors.commutator))
      line("errors", (warm ? std::string() : fmt::format("idempotency {:.3g}, ", errors.idempotency)) +
                         fmt::format("commutator {:.3g}", errors.commutator));
    line("P", fmt::format("{} blocks, {:.3g} % of the elements", result.density.pattern().blocks(),
                          100 * run.result["occupation"].template get<double>()));
  }

  void write_files(const DensityResult<T>& result) {
    if (!options_.plot.empty()) {
      session_.progress().stage("writing the plot");
      session_.together([&] {
        if (runtime_.rank() == 0) write_file(options_.plot, svg(plot(result)));
      });
    }
    if (options_.output.empty() && options_.save.empty()) return;
    if (!result) {
      report_.results.emplace_back("output", "not written: there is no density matrix");
      return;
    }
    session_.progress().stage("writing the output");
    if (!options_.output.empty()) save_sparse(options_.output, result.density);
    if (!options_.save.empty()) write_density_state(options_.save, state_of(problem(), result));
  }

  ResidualPlot plot(const DensityResult<T>& result) const {
    ResidualPlot plot = plot_of_steps(result.steps);
    plot.title = fmt::format("Density matrix, {}, n = {}, method {}, filter {:g}", source(),
                             matrices_.hamiltonian.rows(), to_string(result.method), options_.filter);
    plot.tolerance = options_.tolerance;
    return plot;
  }

  const DensityProgramOptions& options_;
  Session& session_;
  Runtime& runtime_;
  Report report_;
  SparseShape shape_;
  DensityMatrices<T> matrices_;
  DensityFormer<T> former_;
  double electrons_ = -1;  ///< negative: not known
};

/// z if any file is complex; otherwise d.
char default_type(const DensityProgramOptions& options) {
  for (const auto* files : {&options.hamiltonians, &options.overlaps})
    if (std::ranges::any_of(*files, is_complex_file)) return 'z';
  return 'd';
}

}  // namespace

int run_density(DensityProgramOptions& options) {
  validate(options);
  option_table(options).require_formats();
  if (options.type == 0) options.type = default_type(options);
  if (options.hamiltonians.size() > 1) return run_density_batch(options);
  return in_session(options.common, [&](Session& session) {
    return naming_options([&] {
      return with_scalar_type(options.type, [&]<class T>() { return DensityRun<T>(options, session)(); });
    });
  });
}

}  // namespace tessera::program
