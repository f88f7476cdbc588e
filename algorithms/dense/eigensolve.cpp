// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <tessera/algorithms/dense/back_band.hpp>
#include <tessera/algorithms/dense/back_tridiagonal.hpp>
#include <tessera/algorithms/dense/band_to_tridiagonal.hpp>
#include <tessera/algorithms/dense/cholesky.hpp>
#include <tessera/algorithms/dense/cholesky_parts.hpp>
#include <tessera/algorithms/dense/eigensolve_arguments.hpp>
#include <tessera/algorithms/dense/eigensolve_memory.hpp>
#include <tessera/algorithms/dense/one_stage.hpp>
#include <tessera/algorithms/dense/redistribute.hpp>
#include <tessera/algorithms/dense/reduce_to_band.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/algorithms/dense/task_memory.hpp>
#include <tessera/algorithms/dense/tridiagonal_eigen.hpp>
#include <tessera/algorithms/dense/vectors_output.hpp>
#include <tessera/algorithms/dense/vendor.hpp>
#include <tessera/codelets/dense/copy.hpp>
#include <tessera/eigensolve.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/require_memory.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

/// What a solve is once its stages are submitted.
template <class T>
struct SubmittedSolve {
  // The sequence goes first, and waits: its tasks write into the result.
  std::shared_ptr<EigenResult<T>> result;
  std::vector<Data> output;                       ///< pieces of the caller's array
  std::shared_ptr<CholeskyParts<T>> kept_factor;  ///< if the result has it
  std::unique_ptr<Sequence> sequence;
};

/// One solve: the state that its stages share while they are submitted.
template <class T>
class Solve {
 public:
  using R = RealOf<T>;
  Solve(Runtime& runtime, const TiledMatrix<T>& a, const TiledMatrix<T>* b, const EigenProblem<T>& problem,
        const EigensolveOptions& options)
      : runtime_(runtime),
        a_(a),
        b_(b),
        problem_(problem),
        n_(a.rows()),
        options_(options),
        result_(new EigenResult<T>),
        sequence_(new Sequence(runtime)) {
    result_->used = options_;
  }

  /// The solver as the list of its stages (letters as in Eq. 6 of the GPU-ELPA2 paper).
  SubmittedSolve<T> submit() {
    if (n_ > 0) {
      TiledMatrix<T> work = copy_input();
      if (generalized()) to_standard_form(work);
      if (options_.solver == Solver::vendor)
        solve_by_vendor(work);
      else if (options_.solver == Solver::one_stage)
        solve_one_stage(std::move(work));
      else
        solve_two_stage(std::move(work));
      if (result_->vectors.count() > 0 && problem_.vectors_to) move_vectors_to_caller();
    }
    return {std::move(result_), std::move(output_), std::move(kept_factor_), std::move(sequence_)};
  }

 private:
  void solve_two_stage(TiledMatrix<T> work) {
    const Data d = tridiagonal_piece(n_), e = tridiagonal_piece(n_ - 1);
    BandMatrix<T> band(runtime_, n_, options_.band);
    BandReflectors<T> band_reflectors;
    ChaseReflectors<T> chase_reflectors;
    sequence_->begin_stage("reduce_to_band");  // 6a
    reduce_to_band<T>(*sequence_, std::move(work), options_.update_width, band,
                      options_.vectors ? &band_reflectors : nullptr, reduction_groups(options_),
                      splits_reduction());
    sequence_->begin_stage("band_to_tridiagonal");  // 6b
    band_to_tridiagonal<T>(*sequence_, std::move(band), d, e, options_.vectors ? &chase_reflectors : nullptr);
    if (!solve_tridiagonal(d, e)) return;        // 6c
    sequence_->begin_stage("back_tridiagonal");  // 6d
    back_tridiagonal<T>(*sequence_, std::move(chase_reflectors), result_->vectors, ReflectorKernel::blocked,
                        options_.split_products);
    sequence_->begin_stage("back_band");  // 6e
    back_band<T>(*sequence_, std::move(band_reflectors), result_->vectors, options_.split_products);
    // Sums that are rounded towards zero have made the vectors shorter.
    for (Index j = 0; splittable<T> && options_.split_products && j < result_->vectors.count(); ++j)
      sequence_->insert(NormaliseColumns<T>{.x = result_->vectors.slab(j)});
    to_general_form();
  }

  /// Not of a generalized problem: its standard form may be large beside the reflectors, which share a scale with it.
  bool splits_reduction() const { return options_.split_products && !(generalized() && splittable<T>); }

  void solve_one_stage(TiledMatrix<T> work) {
    const Data d = tridiagonal_piece(n_), e = tridiagonal_piece(n_ - 1);
    OneStageReflectors<T> reflectors;
    sequence_->begin_stage("tridiagonalize");
    tridiagonalize<T>(*sequence_, std::move(work), d, e, options_.vectors ? &reflectors : nullptr);
    if (!solve_tridiagonal(d, e)) return;
    sequence_->begin_stage("back_one_stage");
    back_one_stage<T>(*sequence_, std::move(reflectors), result_->vectors);
    to_general_form();
  }

  void solve_by_vendor(const TiledMatrix<T>& work) {
    // LAPACK computes values and vectors together, so with a range by value all vectors of the task are
    // needed at once: the values are found first.
    const Data values = tridiagonal_piece(n_);
    sequence_->begin_stage("vendor");
    if (options_.range.kind == EigenRange::Kind::value) {
      vendor_eigensolve<T>(*sequence_, work, 0, n_, values, nullptr);
      choose_range(values);
      if (options_.vectors && hi_ > lo_) {
        const Data again = tridiagonal_piece(n_);
        make_slabs();
        vendor_eigensolve<T>(*sequence_, work, lo_, hi_, again, &result_->vectors);
      }
    } else {
      choose_range(values);
      if (options_.vectors && hi_ > lo_) make_slabs();
      vendor_eigensolve<T>(*sequence_, work, lo_, hi_, values,
                           result_->vectors.count() ? &result_->vectors : nullptr);
    }
    export_values(values);
    if (result_->vectors.count()) to_general_form();
  }

  /// Values, then the vectors of the range; false when there are none to transform back.
  bool solve_tridiagonal(const Data& d, const Data& e) {
    sequence_->begin_stage("tridiagonal_eigen");
    TridiagonalEigen<T> eigen(*sequence_, n_, d, e, options_.vectors);
    choose_range(eigen.values());
    export_values(eigen.values());
    if (!options_.vectors || hi_ <= lo_) return false;
    make_slabs();
    eigen.submit_vectors(*sequence_, lo_, hi_, result_->vectors, options_.split_products);
    return true;
  }

  /// A in tiles of our own, scaled to the size of one.
  TiledMatrix<T> copy_input() {
    sequence_->begin_stage("input");
    TiledMatrix<T> work(runtime_, own_tiles(runtime_, a_.layout(), n_, options_.tile));
    scale_ = check_and_scale(*sequence_, a_);
    copy_hermitian(*sequence_, a_, scale_, work);
    if (generalized()) {
      copy_factor(work.layout());
      // (s A) x' = l' (t B) x' has l' = l s / t, and x = sqrt(t) x' for x^H B x = 1.
      Data quotient = Data::bytes(runtime_, sizeof(R), Data::every_rank);
      sequence_->insert(DivideScales<R>{.a = scale_, .b = factor_->scale, .quotient = quotient},
                        {.priority = 4});
      scale_ = std::move(quotient);
    }
    if (memory_matters(runtime_, n_, sizeof(T)) && work.row_tiles() == 1) {
      a_.free_gpu_copies_after(work.tile(0, 0));
      if (b_) b_->free_gpu_copies_after(factor_->l.tile(0, 0));
    }
    return work;
  }

  bool generalized() const { return b_ || problem_.b_factor; }

  /// The tiles of B, still to be factorised, or the given factor.
  void copy_factor(const TileLayout& layout) {
    if (!b_) {
      factor_ = factor_in(*sequence_, problem_.b_factor, layout);
      return;
    }
    const auto parts = parts_to_factorize(*sequence_, *b_, layout);
    factor_ = parts;
    if (!options_.keep_factor) return;
    kept_factor_ = parts;
    result_->b_factor = CholeskyFactor<T>(parts);
  }

  void to_standard_form(const TiledMatrix<T>& work) {
    if (b_) {
      sequence_->begin_stage("cholesky");
      cholesky<T>(*sequence_, factor_->l);
    }
    sequence_->begin_stage("to_standard");
    to_standard<T>(*sequence_, work, factor_->l);
  }

  void to_general_form() {
    if (!generalized()) return;
    sequence_->begin_stage("to_general");
    to_general<T>(*sequence_, factor_->l, result_->vectors);
    for (Index j = 0; j < result_->vectors.count(); ++j)
      sequence_->insert(ScaleByRoot<T>{.scale = factor_->scale, .x = result_->vectors.slab(j)});
  }

  void move_vectors_to_caller() {
    if (array_in_one_process(runtime_, problem_.vectors_to)) return;
    sequence_->begin_stage("output");
    output_ = move_vectors(*sequence_, std::move(result_->vectors), problem_.vectors_to);
    result_->vectors = {};
  }

  Data tridiagonal_piece(Index count) const {
    return Data::bytes(runtime_, sizeof(R) * static_cast<std::size_t>(std::max<Index>(count, 1)),
                       Data::every_rank);
  }

  /// lo_, hi_. A range by value needs the eigenvalues: the only place where submitting waits.
  void choose_range(const Data& values) {
    const auto& range = options_.range;
    lo_ = range.kind == EigenRange::Kind::index ? range.lo : 0;
    hi_ = range.kind == EigenRange::Kind::index ? range.hi : n_;
    if (range.kind != EigenRange::Kind::value) return;
    const HostAccess values_access(values, HostAccess::Mode::read);
    const HostAccess scale_access(scale_, HostAccess::Mode::read);
    // After a failure the values mean nothing and may differ between the ranks: all take the empty range.
    double failed = sequence_->failed() ? 1 : 0;
    runtime_.all_reduce_max(&failed, 1);
    const auto w = values_access.array<R>();
    const R scale = scale_access.array<R>()[0];
    const auto count_upto = [&](double bound) {
      return static_cast<Index>(
          std::count_if(w.begin(), w.end(), [&](R x) { return double(x / scale) <= bound; }));
    };
    lo_ = failed > 0 ? 0 : count_upto(range.above);
    hi_ = failed > 0 ? 0 : std::max(lo_, count_upto(range.upto));
  }

  void export_values(const Data& values) {
    result_->first = lo_;
    result_->values.resize(static_cast<std::size_t>(hi_ - lo_));
    if (hi_ <= lo_) return;
    auto out = std::make_shared<Data>(Data::wrap_bytes(runtime_, result_->values.data(),
                                                       sizeof(R) * result_->values.size(), Data::every_rank));
    sequence_->insert(
        ExportValues<R>{.values = values, .scale = scale_, .out = *out, .first = lo_, .count = hi_ - lo_},
        {.priority = 4});
    sequence_->keep(std::move(out));
  }

  void make_slabs() {
    const Index count = hi_ - lo_, width = options_.slab_width;
    const MatrixOutput<T>& output = problem_.vectors_to;
    T* const z = array_in_one_process(runtime_, output);
    result_->vectors = z ? ColumnSlabs<T>::wrap(runtime_, z, output.ld(), n_, count, width)
                         : ColumnSlabs<T>(runtime_, n_, count, width);
  }

  Runtime& runtime_;
  const TiledMatrix<T>& a_;
  const TiledMatrix<T>* b_;
  const EigenProblem<T>& problem_;
  const Index n_;
  const EigensolveOptions options_;
  Index lo_ = 0, hi_ = 0;
  Data scale_;  ///< of the eigenvalues
  std::shared_ptr<const CholeskyParts<T>> factor_;
  std::shared_ptr<CholeskyParts<T>> kept_factor_;
  // The sequence goes first, and waits: its tasks write into the result.
  std::shared_ptr<EigenResult<T>> result_;
  std::vector<Data> output_;
  std::unique_ptr<Sequence> sequence_;
};

/// The tasks of a solve, and what remains to be done when they have ended.
template <class T>
class SolveWork final : public Work {
 public:
  explicit SolveWork(SubmittedSolve<T> solve, bool in_place)
      : solve_(std::move(solve)), in_place_(in_place) {}
  bool ready() const override { return solve_.sequence->ready(); }
  Status finish() override {
    return guarded(solve_.sequence->runtime(), [&] {
      const Status status = solve_.sequence->wait();
      // The caller's array is up to date after that.
      solve_.output.clear();
      if (in_place_) solve_.result->vectors.release();
      if (status && solve_.kept_factor) solve_.kept_factor->made = true;
      return status;
    });
  }
  SequenceStatistics statistics() const override { return solve_.sequence->statistics(); }

 private:
  SubmittedSolve<T> solve_;
  bool in_place_;
};

template <class T>
void check_problem(const Runtime& runtime, const EigenProblem<T>& problem) {
  const Index n = problem.a.order();
  if (!problem.a) throw InvalidArgument("a", "nothing", "a matrix");
  check_input(runtime, "a", problem.a);
  if (problem.b) {
    check_input(runtime, "b", problem.b);
    if (problem.b.order() != n)
      throw InvalidArgument("b", std::to_string(problem.b.order()) + " rows",
                            std::to_string(n) + " rows, as a");
  }
  if (problem.b_factor) {
    if (problem.b) throw InvalidArgument("b_factor", "a factor beside b", "one of them");
    check_factor(runtime, problem.b_factor, n);
  }
}

template <class T>
std::uint64_t hash_of_problem(const EigenProblem<T>& problem) {
  const auto& factor = problem.b_factor.parts();
  return argument_hash(hash_of(problem.a), hash_of(problem.b), factor ? hash_of(factor->l) : 0,
                       hash_of(problem.vectors_to));
}

template <class T>
Completion<EigenResult<T>> submit(Runtime& runtime, const EigenProblem<T>& problem,
                                  const EigensolveOptions& used) {
  const Index n = problem.a.order();
  const bool in_place = array_in_one_process(runtime, problem.vectors_to) != nullptr;
  const TileLayout tiles = own_tiles(runtime, problem.a.layout(), n, used.tile);
  const bool makes_factor = problem.b || (problem.b_factor && !lies_in(problem.b_factor, tiles));
  const MatrixKind vectors_to = in_place ? MatrixKind::array : problem.vectors_to.kind();
  require_memory(runtime, "eigensolve", eigensolve_memory<T>(runtime, n, used, makes_factor, vectors_to));
  const ReturnedMemory returned(runtime, returned_bytes(runtime, n, sizeof(T)));
  InputTiles<T> a(runtime, problem.a, used.tile), b(runtime, problem.b, used.tile);
  auto solve = Solve<T>(runtime, *a.get(), b.get(), problem, used).submit();
  a.release();
  b.release();
  std::shared_ptr<EigenResult<T>> result = solve.result;
  return {std::make_unique<SolveWork<T>>(std::move(solve), in_place), std::move(result)};
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
Completion<EigenResult<T>> submit_eigensolve(Runtime& runtime, const EigenProblem<T>& problem,
                                             const EigensolveOptions& options) {
  EigensolveOptions used;
  const auto check = [&] {
    check_problem(runtime, problem);
    used = resolve_options<T>(runtime, problem.a.order(), options);
    if (used.vectors) check_output(runtime, problem.vectors_to, problem.a.order(), used);
  };
  return collectively(runtime, "submit_eigensolve", argument_hash(hash_of_problem(problem), hash_of(options)),
                      check, [&] { return submit(runtime, problem, used); });
}

#define TESSERA_INSTANTIATE(T)                                                               \
  template Completion<EigenResult<T>> submit_eigensolve<T>(Runtime&, const EigenProblem<T>&, \
                                                           const EigensolveOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
