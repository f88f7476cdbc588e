// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/dense/check.hpp>
#include <tessera/algorithms/dense/eigensolve_memory.hpp>
#include <tessera/eigensolve.hpp>
#include <tessera/error.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "eigen_output.hpp"
#include "eigen_peer.hpp"
#include "nominal_flops.hpp"
#include "options.hpp"
#include "problem.hpp"
#include "scalar_types.hpp"
#include "session.hpp"
#include "tuning.hpp"

namespace tessera::program {
using namespace detail;

namespace {

const char* type_name(char type) {
  switch (type) {
    case 's':
      return "single real (s)";
    case 'd':
      return "double real (d)";
    case 'c':
      return "single complex (c)";
    default:
      return "double complex (z)";
  }
}

EigenRange to_library(const RangeOption& range) {
  switch (range.kind) {
    case RangeOption::Kind::all:
      return EigenRange{};
    case RangeOption::Kind::index:
      return index_range(range.index_low, range.index_high);
    case RangeOption::Kind::value:
      break;
  }
  return value_range(range.value_low, range.value_high);
}

/// One run of `tessera eigen` in scalar type T.
template <class T>
class EigenRun {
 public:
  EigenRun(const EigenProgramOptions& options, Session& session)
      : options_(options),
        session_(session),
        runtime_(session.runtime()),
        report_(session.new_report("eigen")),
        peer_(make_eigen_peer<T>(runtime_, options.peer)) {}

  int operator()() {
    if (peer_) require_available(*peer_, options_.peer);
    if (!options_.tuning.empty()) tuning_ = read_tuning(options_.tuning);
    load_matrices();
    describe();
    const int rounds = options_.common.warmup + options_.common.repeat;
    for (int round = 0; round < rounds; ++round) one_round(round - options_.common.warmup);
    return session_.finish(report_);
  }

 private:
  bool generalized() const { return !options_.overlap.empty(); }

  void load_matrices() {
    const ProcessGrid grid = process_grid(runtime_, options_.grid);
    MatrixSource source{options_.matrix, options_.generate, options_.n, options_.common.seed, options_.scale};
    session_.progress().stage("reading the matrix");
    // The baseline for memory use is before the input is created.
    Index order = options_.n;
    if (!source.file.empty())
      session_.together([&] { order = MatrixMarketReader(source.file).header().rows; });
    session_.set_memory_unit(static_cast<double>(order) * static_cast<double>(order) * sizeof(T));
    choose_options(order);
    require_memory(runtime_, "eigen", needed_memory(order));
    a_ = load<T>(session_, source, grid, options_.tile);
    n_ = a_.matrix.rows();
    if (generalized()) {
      MatrixSource overlap{options_.overlap, "overlap", n_, options_.common.seed + 1, 1};
      if (options_.overlap == "generated") overlap.file.clear();
      b_ = load<T>(session_, overlap, grid, options_.tile);
      if (b_.matrix.rows() != n_)
        throw InputError(options_.overlap, 0,
                         fmt::format("is of order {}, the matrix of order {}", b_.matrix.rows(), n_));
      a_.exact_eigenvalues.reset();
    }
  }

  void choose_options(Index order) {
    solve_options_.solver = solver_from_string(options_.solver);
    solve_options_.range = to_library(options_.range);
    solve_options_.vectors = options_.vectors;
    solve_options_.tile = options_.tile;
    solve_options_.band = options_.band;
    solve_options_.update_width = options_.update_width;
    solve_options_.column_groups = options_.column_groups;
    solve_options_.split_products = options_.split_products;
    if (!options_.tuning.empty())
      apply_tuning(tuning_, type_letter<T>, order, options_.vectors, runtime_.workers() * runtime_.size(),
                   solve_options_);
    used_ = resolve_options<T>(runtime_, order, solve_options_);
  }

  /// Host memory that this rank needs: the input, plus the maximum of what the solver, the peer or
  /// the check need. The peer works on its own copy while our vectors are in memory.
  double needed_memory(Index order) const {
    const double matrices = generalized() ? 2 : 1, n = static_cast<double>(order);
    const Index count = max_vectors(order, used_);
    const double input =
        matrices * lower_tiles_memory(runtime_, order, input_tile(runtime_, order, options_.tile), sizeof(T));
    const double vectors = sizeof(T) * n * static_cast<double>(count) / runtime_.size();
    double most = eigensolve_memory<T>(runtime_, order, used_, generalized());
    double after = 0;
    if (peer_) after = sizeof(T) * n * (matrices * n + 2 * static_cast<double>(count));
    // The matrices and a copy of each, vectors of two routines, and the workspace, which is as large as two matrices.
    if (solves_on_all_ranks(options_.peer)) after = sizeof(T) * n * n * (2 * matrices + 4) / runtime_.size();
    // LAPACK's values by two routines, each of which overwrites the matrix.
    if (options_.peer == "lapack" && !options_.vectors) after += sizeof(T) * n * n;
    if (options_.common.check != CheckPolicy::none && count > 0)
      after = std::max(after, check_eigenpairs_memory<T>(runtime_, order, count, generalized()));
    return input + std::max(most, vectors + after);
  }

  void describe() {
    const std::string source = options_.matrix.empty() ? options_.generate : options_.matrix;
    const ProcessGrid grid = a_.matrix.layout().grid;
    EigenProgramOptions resolved = options_;
    resolved.common = session_.used_options();
    resolved.n = n_;
    resolved.solver = std::string(to_string(used_.solver));
    resolved.tile = used_.tile;
    resolved.band = used_.band;
    resolved.update_width = used_.update_width;
    resolved.column_groups = used_.column_groups;
    resolved.split_products = used_.split_products;
    resolved.grid = {grid.rows, grid.cols};
    Json& json = report_.options;
    json = option_table(resolved).json();
    json["matrix"] = source;
    json["n"] = n_;
    json["slab_width"] = used_.slab_width;
    report_.lines.emplace_back("matrix",
                               fmt::format("{}, n = {}, {}", source, n_, type_name(type_letter<T>)));
    if (generalized()) report_.lines.emplace_back("overlap", options_.overlap);
    std::string solver = fmt::format("{}, {}, {}", to_string(used_.solver), to_string(options_.range),
                                     options_.vectors ? "with vectors" : "values only");
    if (used_.solver == Solver::two_stage)
      solver +=
          fmt::format(", tile {}, band {}, update width {}", used_.tile, used_.band, used_.update_width);
    if (used_.solver == Solver::two_stage && used_.column_groups > 1)
      solver += fmt::format(", {} column groups", used_.column_groups);
    if (used_.solver == Solver::two_stage && used_.split_products)
      solver += type_letter<T> == 'z' ? ", three real products" : ", split products";
    report_.lines.emplace_back("solver", solver);
  }

  /// Runs the solver, then the peer. `index` is the number of the timed run; negative: a warm-up
  /// run.
  void one_round(int index) {
    const bool timed = index >= 0;
    session_.progress().stage(timed ? fmt::format("solving, run {} of {}", index + 1, options_.common.repeat)
                                    : std::string("warming up"));
    // The previous run may have evicted a large matrix from the GPUs' memory.
    a_.matrix.prefetch();
    if (generalized()) b_.matrix.prefetch();
    session_.begin_run();
    EigenProblem<T> problem{.a = a_.matrix};
    if (generalized()) problem.b = b_.matrix;
    auto completion = submit_eigensolve(runtime_, problem, solve_options_);
    const Status status = completion.wait();
    RunRecord run = session_.end_run(completion.statistics());
    if (!status) throw Error(status.message());
    const EigenResult<T>& result = completion.result();
    const auto count = static_cast<Index>(result.values.size());
    set_nominal_flops(run, n_, count, used_.band, flop_factor<T>);
    run.result = summary(result);

    const bool last = index == options_.common.repeat - 1;
    const bool check = timed && options_.common.wants_check(index);
    EigenPeerSolution<T> peer;
    if (peer_) peer = solve_peer(index, check, result.first);
    if (check) {
      session_.progress().stage("checking");
      run.check = check_ours(result, peer);
    }
    if (last) {
      add_results(result);
      if (!options_.output.empty()) {
        session_.progress().stage("writing the output");
        write_eigenpairs<T>(session_, options_.output, result.values, result.vectors);
      }
    }
    if (timed) report_.runs.push_back(std::move(run));
  }

  /// `first`: index of our first value in the whole spectrum, which is also that of the peer's
  /// first value.
  EigenPeerSolution<T> solve_peer(int index, bool check, Index first) {
    session_.progress().stage(options_.peer);
    EigenPeerProblem<T> problem{
        .n = n_, .range = options_.range, .vectors = options_.vectors, .fetch = check};
    if (solves_on_all_ranks(options_.peer)) {
      problem.a_tiles = &a_.matrix;
      if (generalized()) problem.b_tiles = &b_.matrix;
    } else {
      problem.a = gather_lower(runtime_, a_.matrix);
      if (generalized()) problem.b = gather_lower(runtime_, b_.matrix);
    }
    peer_->prepare(std::move(problem));
    const double seconds = peer_->run();
    EigenPeerSolution<T> peer = peer_->result();
    peer_->release();
    if (index < 0) return peer;
    add_peer_seconds(report_, *peer_, seconds);
    report_.peer->result = peer.record;
    if (check) {
      CheckRecord record;
      if (options_.vectors && !peer.vectors.empty()) {
        const auto count = static_cast<Index>(peer.values.size());
        peer.slabs =
            ColumnSlabs<T>::wrap(runtime_, peer.vectors.data(), n_, n_, count, std::min<Index>(count, 256));
      }
      if (peer.slabs.count() > 0) check_pairs(record, peer.values, peer.slabs);
      peer.slabs.release();
      if (a_.exact_eigenvalues)
        compare_values(record, peer.values, *a_.exact_eigenvalues, first, "the exact eigenvalues");
      report_.peer->check = record;
    }
    return peer;
  }

  void check_pairs(CheckRecord& record, const std::vector<RealOf<T>>& values, const ColumnSlabs<T>& z) {
    const EigenCheck check =
        check_eigenpairs<T>(runtime_, a_.matrix, generalized() ? &b_.matrix : nullptr, values, z);
    const auto known = [](double x) { return std::isnan(x) ? HUGE_VAL : x; };
    record.residual = known(check.residual);
    record.orthogonality = known(check.orthogonality);
  }

  /// max |lambda - reference| / (n ||A||_1 eps). For the generalized problem, the largest
  /// |reference| replaces the norm.
  template <class Reference>
  void compare_values(CheckRecord& record, const std::vector<RealOf<T>>& values,
                      const std::vector<Reference>& reference, Index first, const std::string& name) {
    double worst = 0, scale = a_.norm;
    if (generalized()) {
      scale = 0;
      for (const Reference x : reference) scale = std::max(scale, std::abs(static_cast<double>(x)));
    }
    const std::size_t offset = static_cast<std::size_t>(first);
    const std::size_t count = std::min(values.size(), reference.size() - std::min(offset, reference.size()));
    for (std::size_t k = 0; k < count; ++k) {
      const double difference =
          std::abs(static_cast<double>(values[k]) - static_cast<double>(reference[offset + k]));
      worst = std::isnan(difference) ? HUGE_VAL : std::max(worst, difference);
    }
    record.values_difference = worst;
    if (worst > 0) worst /= static_cast<double>(n_) * scale * static_cast<double>(precision<T>);
    record.values = worst;
    record.values_against = name;
  }

  CheckRecord check_ours(const EigenResult<T>& result, const PeerSolution<T>& peer) {
    CheckRecord record;
    if (n_ == 0) return record;
    if (options_.vectors && !result.values.empty()) check_pairs(record, result.values, result.vectors);
    if (a_.exact_eigenvalues)
      compare_values(record, result.values, *a_.exact_eigenvalues, result.first, "the exact eigenvalues");
    else if (!peer.name.empty() && peer.values.size() == result.values.size())
      compare_values(record, result.values, peer.values, 0, peer.name);
    if (!generalized() && static_cast<Index>(result.values.size()) == n_) {
      double sum = 0;
      for (const RealOf<T> value : result.values) sum += static_cast<double>(value);
      const double difference = std::abs(sum - a_.trace);
      const double unit = static_cast<double>(n_) * a_.norm * static_cast<double>(precision<T>);
      record.trace = std::isnan(difference) ? HUGE_VAL : difference > 0 ? difference / unit : 0;
    }
    return record;
  }

  Json summary(const EigenResult<T>& result) const {
    Json json;
    json["n"] = n_;
    json["count"] = result.values.size();
    json["first_index"] = result.first;
    if (!result.values.empty()) {
      json["first"] = result.values.front();
      json["last"] = result.values.back();
    }
    if (const auto frontier = frontier_orbitals(result)) {
      json["homo"] = frontier->first;
      json["lumo"] = frontier->second;
      json["gap"] = frontier->second - frontier->first;
    }
    return json;
  }

  /// Highest occupied and lowest unoccupied eigenvalue for --electrons, if both are in the range.
  std::optional<std::pair<double, double>> frontier_orbitals(const EigenResult<T>& result) const {
    if (options_.electrons <= 0) return std::nullopt;
    const Index homo = options_.electrons / 2 - 1 - result.first;
    if (homo < 0 || homo + 1 >= static_cast<Index>(result.values.size())) return std::nullopt;
    return std::pair(static_cast<double>(result.values[homo]), static_cast<double>(result.values[homo + 1]));
  }

  void add_results(const EigenResult<T>& result) {
    auto& lines = report_.results;
    if (result.values.empty())
      lines.emplace_back("eigenvalues", "none in the range");
    else
      lines.emplace_back(
          "eigenvalues",
          fmt::format("{}, number {} to {}: {:.10g} to {:.10g}", result.values.size(), result.first,
                      result.first + static_cast<Index>(result.values.size()) - 1, result.values.front(),
                      result.values.back()));
    if (options_.electrons < 0) return;
    if (const auto frontier = frontier_orbitals(result)) {
      lines.emplace_back("HOMO", fmt::format("{:.10f}", frontier->first));
      lines.emplace_back("LUMO", fmt::format("{:.10f}", frontier->second));
      lines.emplace_back("gap", fmt::format("{:.10f}", frontier->second - frontier->first));
    } else {
      lines.emplace_back("HOMO, LUMO",
                         fmt::format("of {} electrons are not in the range", options_.electrons));
    }
  }

  const EigenProgramOptions& options_;
  Session& session_;
  Runtime& runtime_;
  Report report_;
  std::unique_ptr<EigenPeer<T>> peer_;
  Index n_ = 0;
  HermitianProblem<T> a_, b_;
  std::vector<TuningEntry> tuning_;
  EigensolveOptions solve_options_, used_;
};

/// The scalar type that the file headers require: z if any of them is complex; otherwise d.
char default_type(const EigenProgramOptions& options) {
  if (options.matrix.empty()) return 'd';
  for (const std::string& file : {options.matrix, options.overlap})
    if (!file.empty() && MatrixMarketReader(file).header().field == MatrixMarketField::complex) return 'z';
  return 'd';
}

}  // namespace

int run_eigen(EigenProgramOptions& options) {
  validate(options);
  option_table(options).require_formats();
  if (options.overlap != "generated") require_format(options.overlap, FileFormat::matrix_market);
  if (options.type == 0) options.type = default_type(options);
  return in_session(options.common, [&](Session& session) {
    return with_scalar_type(options.type, [&]<class T>() { return EigenRun<T>(options, session)(); });
  });
}

}  // namespace tessera::program
