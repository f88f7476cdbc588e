// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <complex>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/lobpcg_checks.hpp>
#include <tessera/error.hpp>
#include <tessera/preconditioners.hpp>
#include <tessera/runtime/output_file.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "eigen_output.hpp"
#include "lobpcg_check.hpp"
#include "lobpcg_dimension.hpp"
#include "lobpcg_operator.hpp"
#include "lobpcg_problem.hpp"
#include "lobpcg_report.hpp"
#include "options.hpp"
#include "output_files.hpp"
#include "problem.hpp"
#include "residual_plot.hpp"
#include "saved_problem.hpp"
#include "session.hpp"
#include "shell_levels.hpp"
#include "sparse_eigen_peer.hpp"
#include "usage_error.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// The reason for the status, if it has one; otherwise its message.
std::string reason_of(const Status& status) {
  return status.reason.empty() ? status.message() : status.reason;
}

LobpcgNorm norm_of(const std::string& name) {
  return name == "backward"   ? LobpcgNorm::backward
         : name == "relative" ? LobpcgNorm::relative
                              : LobpcgNorm::absolute;
}

template <class T>
std::string words_of_type() {
  return fmt::format("{}{}", is_complex<T> ? "complex " : "", sizeof(RealOf<T>) == 4 ? "float" : "double");
}

/// One run of `tessera lobpcg` with matrix values of type V and vectors of type T.
template <class V, class T>
class LobpcgRun {
 public:
  LobpcgRun(const LobpcgProgramOptions& options, Session& session, SparseProblem rows)
      : options_(options),
        source_(source_of(options)),
        session_(session),
        runtime_(session.runtime()),
        report_(session.new_report("lobpcg")),
        peer_(make_sparse_eigen_peer<T>(runtime_, options.peer)),
        rows_(std::move(rows)) {}

  int operator()() {
    make_matrices();
    make_preconditioner();
    describe();
    for (int round = -options_.common.warmup; round < options_.common.repeat; ++round) one_round(round);
    return session_.finish(report_);
  }

 private:
  void make_matrices() {
    if (!options_.save_overlap.empty() && !rows_.b)
      throw UsageError("--save-overlap", options_.save_overlap, "is not possible", "a problem with B");
    set_solver();
    product_free_ = is_product_free(options_, rows_, runtime_);
    if (rows_.b && peer_ && !solves_generalized(options_.peer))
      throw UsageError("--peer", options_.peer, "is not possible", "another one, for A x = lambda B x");
    require_room();
    CsbOptions cut{.groups = options_.nd, .progress = shown_share(session_)};
    const double begin = now();
    if (product_free_)
      a_ = ProgramOperator<V, T>::without_matrix(runtime_, rows_.shell_model);
    else
      a_ = std::make_unique<ProgramOperator<V, T>>(runtime_, *rows_.a, cut);
    build_seconds_ = now() - begin;
    if (!options_.save_matrix.empty())
      save("matrix", options_.save_matrix, *a_->stored(), description_of(source_, rows_));
    cut.like = rows_.a.get();
    if (rows_.b) b_ = std::make_unique<CsbMatrix<V, T>>(CsbMatrix<V, T>::build(runtime_, *rows_.b, cut));
    if (!options_.save_overlap.empty()) save("overlap", options_.save_overlap, *b_, options_.overlap);
    problem_.a = &a_->get();
    // Vectors of the two have their rows in different orders.
    solve_.checkpoint.label = a_->stored() ? "--product stored" : "--product free";
    choose_method();
    problem_.b = b_.get();
  }

  void set_solver() {
    solve_.count = options_.k;
    solve_.block = options_.block;
    solve_.method = options_.method == "gd"        ? EigenMethod::generalized_davidson
                    : options_.method == "lobpcg"  ? EigenMethod::lobpcg
                    : options_.method == "lanczos" ? EigenMethod::lanczos
                                                   : EigenMethod::automatic;
    solve_.basis = options_.basis;
    solve_.end = options_.largest ? EigenEnd::largest : EigenEnd::smallest;
    solve_.tolerance = options_.tolerance > 0 ? options_.tolerance : single ? 1e-4 : 1e-8;
    solve_.norm = norm_of(options_.norm);
    solve_.variant = options_.variant == "basic" ? LobpcgVariant::basic : LobpcgVariant::orthonormal;
    solve_.iterations = options_.iterations;
    solve_.seed = options_.common.seed;
    solve_.resume = options_.resume;
    if (!options_.checkpoint.empty())
      solve_.checkpoint = {.path = options_.checkpoint,
                           .iterations = options_.checkpoint_iterations,
                           .seconds = options_.checkpoint_seconds};
  }

  void save(const char* what, const std::string& file, const CsbMatrix<V, T>& matrix,
            const std::string& description) {
    session_.progress().stage(fmt::format("saving the {}", what));
    saved_.push_back(save_matrix(session_, file, matrix, description));
  }

  /// Checks the memory for the vectors and for the peer's dense matrices, before the matrix is
  /// built.
  void require_room() const {
    const double order = static_cast<double>(rows_.a->order());
    LobpcgOptions sized = solve_;
    choose_sizes(runtime_, {.n = rows_.a->order(), .wide_bytes = wide_bytes, .plain = is_plain()}, sized);
    double needed = 0;
    if (!runtime_.any_gpus())
      needed = lobpcg_memory(order / runtime_.size(), sized, rows_.b != nullptr, sizeof(T));
    if (rows_.of_shell_model() && options_.quantum_numbers)  // all vectors, in double, too
      needed += order * static_cast<double>(options_.k) * (single ? 12 : 8);
    if (product_free_)  // the order of rows, the diagonal, and vectors in both orders
      needed += order * (16 + 2. * static_cast<double>(options_.k) * sizeof(T));
    if (options_.common.check != CheckPolicy::none) needed += check_memory(order, options_.k, sizeof(T));
    if (options_.peer == "dense") needed += order * order * sizeof(T) * (rows_.b ? 4 : 3);
    require_memory(runtime_, "lobpcg", needed);
  }

  /// Neither B nor a preconditioner is asked for.
  bool is_plain() const { return !rows_.b && program::is_plain(options_); }

  /// The method and the preconditioner that stand for `auto`.
  void choose_method() {
    LobpcgOptions sized = solve_;
    choose_sizes(runtime_,
                 {.n = a_->get().order(),
                  .stored_entries = a_->get().stored_entries(),
                  .wide_bytes = wide_bytes,
                  .plain = is_plain()},
                 sized);
    solve_.method = sized.method;
    sizes_ = {sized.block, sized.basis};
    if (solve_.method == EigenMethod::lanczos) {
      preconditioner_name_ = "none";
      return;
    }
    // A deep basis makes up for what the tiles know beyond the diagonal.
    const bool deep = solve_.method == EigenMethod::generalized_davidson;
    preconditioner_name_ = options_.preconditioner != "auto"                ? options_.preconditioner
                           : !a_->stored() || (deep && options_.steps == 0) ? "jacobi"
                                                                            : "fom";
  }

  /// Creates new preconditioners for each run, because they store Ritz values.
  void make_preconditioner() {
    const std::optional<double>& shift = options_.shift;
    const double b_norm = b_ ? b_->norm_bound() : 1;
    chebyshev_ = nullptr;
    if (preconditioner_name_ == "jacobi")
      preconditioner_ = std::make_unique<JacobiPreconditioner<T>>(
          runtime_, a_->get().segments(), a_->diagonal(), JacobiOptions{solve_.end, shift, b_norm});
    else if (preconditioner_name_ == "fom")
      preconditioner_ = std::make_unique<FomPreconditioner<V, T>>(
          runtime_, *a_->stored(), FomOptions{solve_.end, steps(), shift, b_norm});
    else if (preconditioner_name_ == "chebyshev") {
      auto made = std::make_unique<ChebyshevPreconditioner<T>>(
          runtime_, a_->get(), ChebyshevOptions{solve_.end, degree(), shift, std::nullopt, b_norm});
      chebyshev_ = made.get();
      preconditioner_ = std::move(made);
    }
    problem_.preconditioner = preconditioner_.get();
  }

  const char* method_name() const {
    return solve_.method == EigenMethod::lobpcg    ? "lobpcg"
           : solve_.method == EigenMethod::lanczos ? "lanczos"
                                                   : "gd";
  }
  std::string method_title() const {
    if (solve_.method == EigenMethod::lanczos) return "block Lanczos";
    if (solve_.method != EigenMethod::lobpcg) return "GD+k";
    return solve_.variant == LobpcgVariant::basic ? "LOBPCG (basic)" : "LOBPCG";
  }
  int steps() const { return options_.steps > 0 ? options_.steps : FomOptions{}.steps; }
  int degree() const { return options_.degree > 0 ? options_.degree : ChebyshevOptions{}.degree; }

  void describe() {
    LobpcgProgramOptions used = options_;
    used.common = session_.used_options();
    if (source_.of_shell_model()) used.shell_model.interaction = source_.used_interaction();
    used.tolerance = solve_.tolerance;
    used.method = method_name();
    used.block = sizes_.first;
    used.basis = sizes_.second;
    used.preconditioner = preconditioner_name_;
    used.steps = steps();
    used.degree = degree();
    used.product = a_->stored() ? "stored" : "free";
    if (a_->stored()) used.nd = a_->stored()->groups();
    Json& json = report_.options;
    json = option_table(used).json();  // includes the block size that the solver chose
    json["matrix"] = source_.name();
    json["n"] = a_->get().order();
    json["type"] = std::string(1, type_letter<T>);
    describe_matrix(json);
    describe_files(report_, source_, *rows_.a, build_seconds_, saved_);
    if (!rows_.spectrum.text.empty()) report_.lines.emplace_back("spectrum", rows_.spectrum.text);
    report_.lines.emplace_back(
        "solver", fmt::format("{}, {} {}, tolerance {:g} {}, preconditioner {}, vectors in {}",
                              method_title(), options_.k, options_.largest ? "largest" : "smallest",
                              solve_.tolerance, options_.norm, preconditioner_name_, words_of_type<T>()));
  }

  void describe_matrix(Json& json) {
    const std::string name = fmt::format("{}{}, n = {}, ", source_.name(), rows_.b ? " (generalized)" : "",
                                         a_->get().order()),
                      made = ", made in " + format_seconds(build_seconds_);
    if (const auto* const free = a_->free()) {
      json["products_a_column"] = free->products();
      json["table_bytes"] = free->table_bytes();
      report_.lines.emplace_back(
          "matrix", name +
                        fmt::format("not stored: {:.3g} products a column from lists of {}", free->products(),
                                    format_bytes(free->table_bytes())) +
                        made);
      return;
    }
    const CsbMatrix<V, T>& a = *a_->stored();
    json["stored_entries"] = a.stored_entries();
    json["stored_bytes"] = a.stored_bytes();
    const double row = static_cast<double>(whole_entries(a)) / static_cast<double>(a.order());
    report_.lines.emplace_back(
        "matrix",
        name +
            fmt::format("{} stored entries ({:.3g} a row of the whole), {} in {}", a.stored_entries(), row,
                        format_bytes(a.stored_bytes()), words_of_type<V>()) +
            made);
  }

  /// Runs the solver, then the peer. `index` is the number of the timed run; negative: a warm-up
  /// run.
  void one_round(int index) {
    const bool timed = index >= 0;
    make_preconditioner();
    // Set on every rank, because the solver asks all of them whether to continue.
    const bool shown = !options_.common.quiet && timed;
    std::FILE* const to = options_.common.json_alone() ? stderr : stdout;
    LobpcgOptions solve = solve_;
    bool table_begun = false;
    if (shown) {
      session_.progress().done();
      solve.monitor = [&](const LobpcgStep& step) {
        if (runtime_.rank() == 0) print_step(to, step, static_cast<std::size_t>(options_.k), !table_begun);
        table_begun = true;
        return true;
      };
    }
    session_.begin_run();
    LobpcgResult<T> result = lobpcg(runtime_, problem_, solve);
    RunRecord run = session_.end_run(result.statistics);
    if (result.status().code == StatusCode::task_failed) throw Error(result.status().message());
    result.vectors = a_->by_rows(std::move(result.vectors), static_cast<Index>(result.values.size()));
    set_stages(run, result.history);
    run.result = summary(result);
    const bool last = index == options_.common.repeat - 1;
    std::vector<double> reference;
    std::string against;
    known_values(reference, against);
    std::string mismatch;
    if (peer_) mismatch = solve_peer(timed, result.values, reference, against);
    if (timed) {
      CheckRecord check;
      if (options_.common.wants_check(index)) {
        session_.progress().stage("checking");
        check = check_pairs<V, T>(
            runtime_, {*rows_.a, rows_.b.get(), a_->get().norm_bound(), b_ ? b_->norm_bound() : 1}, solve_,
            result, reference, against);
        check.failure = mismatch;
      }
      if (!result)
        check.failure = fmt::format("not converged: {}{}{}", reason_of(result.status()),
                                    mismatch.empty() ? "" : "; ", mismatch);
      if (check.any()) run.check = check;
    }
    if (last) {
      find_states(result);
      if (states_) run.result["shell_model"] = json_of(*states_);
      add_results(result);
      write_files(result);
    }
    if (timed) report_.runs.push_back(std::move(run));
  }

  /// The wanted eigenvalues that are known exactly, starting at the wanted end of the spectrum:
  /// all, some or none.
  void known_values(std::vector<double>& values, std::string& name) const {
    const auto& known = options_.largest ? rows_.spectrum.largest : rows_.spectrum.lowest;
    if (known) values = known(options_.k);
    const auto count = static_cast<Index>(values.size());
    if (count > 0) name = "the exact eigenvalues";
    if (count > 0 && count < options_.k) name += fmt::format(" ({} of {} are known)", count, options_.k);
  }

  /// The peer's eigenvalues become the reference for those that are not known exactly. @returns why the check fails
  /// because of them: a peer that computes one vector at a time may miss pairs
  std::string solve_peer(bool timed, const std::vector<double>& ours, std::vector<double>& reference,
                         std::string& against) {
    session_.progress().stage(options_.peer);
    peer_->prepare({.a = rows_.a.get(),
                    .b = rows_.b.get(),
                    .count = options_.k,
                    .block = options_.block,
                    .iterations = options_.iterations,
                    .largest = options_.largest,
                    .whole_entries = a_->stored() ? whole_entries(*a_->stored()) : 0,
                    .seed = options_.common.seed,
                    .tolerance = solve_.tolerance,
                    .a_norm = a_->get().norm_bound(),
                    .norm = options_.norm,
                    .preconditioner = preconditioner_name_});
    const double seconds = peer_->run();
    const SparseEigenSolution theirs = peer_->result();
    peer_->release();
    const std::vector<double>& values = theirs.values;
    if (timed) {
      add_peer_seconds(report_, *peer_, seconds);
      report_.peer->result = theirs.record;
      report_.peer->result["values"] = values;
      if (const auto found = static_cast<Index>(values.size()); found < options_.k)
        report_.peer->note = fmt::format("it converged {} of {} pairs", found, options_.k);
    }
    const std::string mismatch = solves_generalized(options_.peer)
                                     ? std::string()
                                     : different_values(ours, values, solve_, a_->get().norm_bound(),
                                                        static_cast<double>(precision<V>));
    if (values.size() <= reference.size()) return mismatch;
    against = reference.empty() ? peer_->name() : fmt::format("{} and {}", against, peer_->name());
    reference.insert(reference.end(), values.begin() + static_cast<std::ptrdiff_t>(reference.size()),
                     values.end());
    return mismatch;
  }

  /// The vectors of X; of pairs in groups those of the block, as of block Lanczos.
  Index block_of() const {
    const bool whole = options_.k <= 32 && solve_.method != EigenMethod::lanczos;
    return std::max(sizes_.first, whole ? options_.k : 0);
  }

  Json summary(const LobpcgResult<T>& result) const {
    Json json;
    json["n"] = a_->get().order();
    json["status"] = words_of(result.status());
    json["message"] = reason_of(result.status());
    json["values"] = result.values;
    json["residuals"] = result.residuals;
    json["scaled_residuals"] = result.scaled_residuals;
    json["iterations"] = result.iterations;
    json["restarts"] = result.restarts;
    json["converged"] = result.converged;
    json["method"] = method_name();
    json["block"] = block_of();
    json["multiplications"] = result.multiplications;
    json["columns_multiplied"] = result.columns_multiplied;
    if (chebyshev_)
      json["preconditioner_multiplications"] = {{"calls", chebyshev_->multiplications()},
                                                {"columns", chebyshev_->columns_multiplied()}};
    json["history"] = history_json(result.history);
    if (!options_.resume.empty()) json["iterations_before"] = result.iterations_before;
    if (!options_.checkpoint.empty()) {
      json["checkpoints"] = result.checkpoints;
      json["checkpoint_failure"] =
          result.checkpoint_failure.empty() ? Json() : Json(result.checkpoint_failure);
    }
    return json;
  }

  void find_states(const LobpcgResult<T>& result) {
    if (!rows_.of_shell_model() || !options_.quantum_numbers || result.values.empty()) return;
    if constexpr (!is_complex<T>) {
      session_.progress().stage("angular momenta");
      states_ = shell_model_states(runtime_, rows_.shell_model, result.vectors,
                                   static_cast<Index>(result.values.size()));
    }
  }

  void add_results(const LobpcgResult<T>& result) {
    auto& lines = report_.results;
    lines.emplace_back("status",
                       fmt::format("{}: {}", words_of(result.status()), reason_of(result.status())));
    lines.emplace_back(
        "iterations",
        fmt::format("{} of {} vectors ({} restarts), {} products with {} columns in all", result.iterations,
                    block_of(), result.restarts, result.multiplications, result.columns_multiplied));
    if (chebyshev_)
      lines.emplace_back("", fmt::format("and {} products with {} columns in the preconditioner",
                                         chebyshev_->multiplications(), chebyshev_->columns_multiplied()));
    if (!options_.resume.empty())
      lines.emplace_back(
          "", fmt::format("{} iterations of these before {}", result.iterations_before, options_.resume));
    if (!options_.checkpoint.empty())
      lines.emplace_back("checkpoint",
                         !result.checkpoint_failure.empty() ? "not written: " + result.checkpoint_failure
                         : result.checkpoints > 0           ? "written to " + options_.checkpoint
                                                  : "not written: the solve was over before it was due");
    for (std::size_t j = 0; j < result.values.size(); ++j)
      lines.emplace_back(j == 0 ? "eigenvalues" : "",
                         fmt::format("{:>4}  {:>22.14g}   residual {:.2e}{}", j + 1, result.values[j],
                                     j < result.residuals.size() ? result.residuals[j] : unknown,
                                     states_ ? "   " + quantum_numbers(states_->states[j]) : ""));
    if (!states_) return;
    for (auto& line : occupation_lines(*states_)) lines.push_back(std::move(line));
  }

  void write_files(const LobpcgResult<T>& result) {
    if (!options_.plot.empty()) write_text("writing the plot", options_.plot, svg(plot(result)));
    write_levels(result);
    if (options_.output.empty()) return;
    if (result.values.empty()) {
      report_.results.emplace_back("output", "not written: there are no eigenpairs");
      return;
    }
    session_.progress().stage("writing the output");
    const auto n = static_cast<std::size_t>(a_->get().order()), k = result.values.size();
    std::vector<T> rows(n * k), columns(n * k);
    result.vectors.get(rows.data(), static_cast<Index>(k), static_cast<Index>(k));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < k; ++j) columns[i + j * n] = rows[i * k + j];
    write_eigenpairs<T>(session_, options_.output,
                        std::vector<RealOf<T>>(result.values.begin(), result.values.end()), columns,
                        states_ ? matrices_of(*states_) : std::vector<NamedMatrix>{});
  }

  void write_levels(const LobpcgResult<T>& result) {
    if (options_.levels.empty()) return;
    if (!states_) {
      report_.results.emplace_back("levels", rows_.of_shell_model()
                                                 ? "not written: there are no eigenpairs"
                                                 : "not written: the matrix is of no shell model");
      return;
    }
    // `shell:48Cr:0` with `gx1a.int`: 48Cr-0_gx1a
    std::string nucleus = rows_.kind.substr(rows_.kind.find(':') + 1);
    std::replace(nucleus.begin(), nucleus.end(), ':', '-');
    std::string name = nucleus + "_" + std::filesystem::path(rows_.interaction).stem().string();
    std::replace(name.begin(), name.end(), ' ', '_');
    write_text("writing the levels", options_.levels,
               levels_text(options_.levels, result.values, *states_, name));
  }

  void write_text(const char* stage, const std::string& file, const std::string& text) {
    session_.progress().stage(stage);
    session_.together([&] {
      if (runtime_.rank() == 0) write_file(file, text);
    });
  }

  ResidualPlot plot(const LobpcgResult<T>& result) const {
    ResidualPlot plot;
    plot.title = fmt::format("{}, {}, n = {}, preconditioner {}", method_title(), source_.name(),
                             a_->get().order(), preconditioner_name_);
    plot.residual = fmt::format("residual, {}", options_.norm);
    plot.tolerance = solve_.tolerance;
    plot.curves.resize(static_cast<std::size_t>(options_.k));
    for (const LobpcgStep& step : result.history) {
      plot.iterations.push_back(static_cast<double>(step.iteration));
      for (std::size_t j = 0; j < plot.curves.size(); ++j)
        plot.curves[j].push_back(j < step.residuals.size() ? step.residuals[j] : 0);
    }
    for (const double value : result.values)
      plot.labels.push_back(fmt::format("{}: {:.6g}", plot.labels.size() + 1, value));
    return plot;
  }

  static constexpr bool single = sizeof(RealOf<T>) == 4;
  static constexpr std::size_t wide_bytes = sizeof(double) * (is_complex<T> ? 2 : 1);
  const LobpcgProgramOptions& options_;
  const SparseSource source_;
  Session& session_;
  Runtime& runtime_;
  Report report_;
  std::unique_ptr<SparseEigenPeer> peer_;
  SparseProblem rows_;
  std::unique_ptr<ProgramOperator<V, T>> a_;
  std::unique_ptr<CsbMatrix<V, T>> b_;
  bool product_free_ = false;
  double build_seconds_ = 0;
  std::vector<SavedFile> saved_;
  std::string preconditioner_name_;
  std::pair<Index, Index> sizes_;           ///< block and basis (0: none) as they are used
  std::optional<ShellModelStates> states_;  ///< of the last run
  std::unique_ptr<Preconditioner<T>> preconditioner_;
  const ChebyshevPreconditioner<T>* chebyshev_ = nullptr;
  LobpcgProblem<T> problem_;
  LobpcgOptions solve_;
};

/// The matrices, once it is known that the peer is there.
SparseProblem load_problem(const LobpcgProgramOptions& options, Session& session) {
  if (const auto peer = make_sparse_eigen_peer<double>(session.runtime(), options.peer))
    require_available(*peer, options.peer);
  session.progress().stage(options.matrix.empty() ? "making the matrix" : "reading the matrix");
  return load_rows(session, source_of(options));
}

/// Values of V in float or double, and vectors of T. Vectors of a Hermitian A or B are complex.
template <class Float, class Double>
int run_in(const LobpcgProgramOptions& options, Session& session, SparseProblem rows) {
  if (options.storage == 'd') return LobpcgRun<Double, Double>(options, session, std::move(rows))();
  if (options.vectors_type == 'd') return LobpcgRun<Float, Double>(options, session, std::move(rows))();
  return LobpcgRun<Float, Float>(options, session, std::move(rows))();
}

}  // namespace

int run_lobpcg(LobpcgProgramOptions& options) {
  validate(options);
  option_table(options).require_formats();
  return in_session(options.common, [&](Session& session) {
    return naming_options([&] {
      if (options.dimension) return tell_dimension(options, session);
      SparseProblem rows = load_problem(options, session);
      if (rows.a->hermitian() || (rows.b && rows.b->hermitian()))
        return run_in<std::complex<float>, std::complex<double>>(options, session, std::move(rows));
      return run_in<float, double>(options, session, std::move(rows));
    });
  });
}

}  // namespace tessera::program
