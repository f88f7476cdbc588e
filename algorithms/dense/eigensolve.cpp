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
#include <tessera/algorithms/dense/eigensolve_memory.hpp>
#include <tessera/algorithms/dense/one_stage.hpp>
#include <tessera/algorithms/dense/redistribute.hpp>
#include <tessera/algorithms/dense/reduce_to_band.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/algorithms/dense/task_memory.hpp>
#include <tessera/algorithms/dense/tridiagonal_eigen.hpp>
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
  std::unique_ptr<Sequence> sequence;
};

/// One solve: the state that its stages share while they are submitted.
template <class T>
class Solve {
 public:
  using R = RealOf<T>;
  Solve(Runtime& runtime, const TiledMatrix<T>& a, const TiledMatrix<T>* b, const EigensolveOptions& options,
        const ArrayOutput<T>& z)
      : runtime_(runtime),
        a_(a),
        b_(b),
        n_(a.rows()),
        options_(options),
        z_(z),
        result_(new EigenResult<T>),
        sequence_(new Sequence(runtime)) {
    result_->used = options_;
  }

  /// The solver as the list of its stages (letters as in Eq. 6 of the GPU-ELPA2 paper).
  SubmittedSolve<T> submit() {
    if (n_ > 0) {
      TiledMatrix<T> work = copy_input();
      if (b_) to_standard_form(work);
      if (options_.solver == Solver::vendor)
        solve_by_vendor(work);
      else if (options_.solver == Solver::one_stage)
        solve_one_stage(std::move(work));
      else
        solve_two_stage(std::move(work));
    }
    return {std::move(result_), std::move(sequence_)};
  }

 private:
  void solve_two_stage(TiledMatrix<T> work) {
    const Data d = tridiagonal_piece(n_), e = tridiagonal_piece(n_ - 1);
    BandMatrix<T> band(runtime_, n_, options_.band);
    BandReflectors<T> band_reflectors;
    ChaseReflectors<T> chase_reflectors;
    sequence_->begin_stage("reduce_to_band");  // 6a
    reduce_to_band<T>(*sequence_, std::move(work), options_.update_width, band,
                      options_.vectors ? &band_reflectors : nullptr, reduction_groups(options_));
    sequence_->begin_stage("band_to_tridiagonal");  // 6b
    band_to_tridiagonal<T>(*sequence_, std::move(band), d, e, options_.vectors ? &chase_reflectors : nullptr);
    if (!solve_tridiagonal(d, e)) return;        // 6c
    sequence_->begin_stage("back_tridiagonal");  // 6d
    back_tridiagonal<T>(*sequence_, std::move(chase_reflectors), result_->vectors);
    sequence_->begin_stage("back_band");  // 6e
    back_band<T>(*sequence_, std::move(band_reflectors), result_->vectors);
    to_general_form();
  }

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
    eigen.submit_vectors(*sequence_, lo_, hi_, result_->vectors);
    return true;
  }

  /// A in tiles of our own, scaled to the size of one.
  TiledMatrix<T> copy_input() {
    sequence_->begin_stage("input");
    TiledMatrix<T> work(runtime_, own_layout());
    scale_ = check_and_scale(*sequence_, a_);
    copy_hermitian(*sequence_, a_, scale_, work);
    if (b_) {
      factor_ = TiledMatrix<T>(runtime_, own_layout());
      scale_b_ = check_and_scale(*sequence_, *b_, true);
      copy_hermitian(*sequence_, *b_, scale_b_, factor_);
      // (s A) x' = l' (t B) x' has l' = l s / t, and x = sqrt(t) x' for x^H B x = 1.
      Data quotient = Data::bytes(runtime_, sizeof(R), Data::every_rank);
      sequence_->insert(DivideScales<R>{.a = scale_, .b = scale_b_, .quotient = quotient}, {.priority = 4});
      scale_ = std::move(quotient);
    }
    if (memory_matters(runtime_, n_, sizeof(T)) && work.row_tiles() == 1) {
      a_.free_gpu_copies_after(work.tile(0, 0));
      if (b_) b_->free_gpu_copies_after(factor_.tile(0, 0));
    }
    return work;
  }

  void to_standard_form(const TiledMatrix<T>& work) {
    sequence_->begin_stage("cholesky");
    cholesky<T>(*sequence_, factor_);
    sequence_->begin_stage("to_standard");
    to_standard<T>(*sequence_, work, factor_);
  }

  void to_general_form() {
    if (!b_) return;
    sequence_->begin_stage("to_general");
    to_general<T>(*sequence_, factor_, result_->vectors);
    for (Index j = 0; j < result_->vectors.count(); ++j)
      sequence_->insert(ScaleByRoot<T>{.scale = scale_b_, .x = result_->vectors.slab(j)});
  }

  TileLayout own_layout() const {
    const ProcessGrid grid = a_.layout().grid.rows * a_.layout().grid.cols == runtime_.size()
                                 ? a_.layout().grid
                                 : ProcessGrid::squarest(runtime_.size());
    return {n_, n_, options_.tile, options_.tile, grid, Uplo::lower};
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
    result_->vectors = z_ ? ColumnSlabs<T>::wrap(runtime_, z_.array(), z_.ld(), n_, count, width)
                          : ColumnSlabs<T>(runtime_, n_, count, width);
  }

  Runtime& runtime_;
  const TiledMatrix<T>& a_;
  const TiledMatrix<T>* b_;
  const Index n_;
  const EigensolveOptions options_;
  const ArrayOutput<T> z_;
  Index lo_ = 0, hi_ = 0;
  Data scale_, scale_b_;  ///< of the eigenvalues; of B
  TiledMatrix<T> factor_;
  // The sequence goes first, and waits: its tasks write into the result.
  std::shared_ptr<EigenResult<T>> result_;
  std::unique_ptr<Sequence> sequence_;
};

/// A solve whose vectors go to the caller's array.
template <class T>
class WorkIntoArray final : public Work {
 public:
  explicit WorkIntoArray(SubmittedSolve<T> solve) : solve_(std::move(solve)) {}
  bool ready() const override { return solve_.sequence->ready(); }
  Status finish() override {
    const Status status = solve_.sequence->wait();
    solve_.result->vectors.release();  // the array is up to date after that
    return status;
  }
  SequenceStatistics statistics() const override { return solve_.sequence->statistics(); }

 private:
  SubmittedSolve<T> solve_;
};

template <class T>
void check_input(const Runtime& runtime, const std::string& name, const MatrixInput<T>& input) {
  const TileLayout& layout = input.layout();
  const Index n = input.order();
  if (n < 0) throw InvalidArgument(name + ".n", std::to_string(n), "at least 0");
  if (layout.rows != layout.cols)
    throw InvalidArgument(name, std::to_string(layout.rows) + " x " + std::to_string(layout.cols),
                          "a square matrix");
  if (input.tiles() && n > 0 && !input.tiles()->valid())
    throw InvalidArgument(name, "tiles that were never made, or are released", "a matrix");
  if (input.kind() == MatrixInput<T>::Kind::block_cyclic) try {
      TiledMatrix<T>::require_block_cyclic(runtime, input.array(), input.ld(), layout);
    } catch (const InvalidArgument& wrong) {
      throw InvalidArgument(name + "." + wrong.name(), wrong.value(), wrong.expected());
    }
  if (input.kind() != MatrixInput<T>::Kind::array) return;
  if (n > 0 && !input.array()) throw InvalidArgument(name, "null", "an array");
  if (runtime.size() > 1)
    throw InvalidArgument(name, "a whole array on " + std::to_string(runtime.size()) + " ranks",
                          "a block-cyclic array or a TiledMatrix");
  if (input.ld() < std::max<Index>(n, 1))
    throw InvalidArgument(name + ".ld", std::to_string(input.ld()), "at least n = " + std::to_string(n));
}

template <class T>
void check_problem(const Runtime& runtime, const EigenProblem<T>& problem, bool vectors) {
  const Index n = problem.a.order();
  if (!problem.a) throw InvalidArgument("a", "nothing", "a matrix");
  check_input(runtime, "a", problem.a);
  if (problem.b) {
    check_input(runtime, "b", problem.b);
    if (problem.b.order() != n)
      throw InvalidArgument("b", std::to_string(problem.b.order()) + " rows",
                            std::to_string(n) + " rows, as a");
  }
  if (!vectors || !problem.vectors_to) return;
  if (n > 0 && !problem.vectors_to.array())
    throw InvalidArgument("vectors_to", "null", "an array, or options.vectors = false");
  if (problem.vectors_to.ld() < std::max<Index>(n, 1))
    throw InvalidArgument("vectors_to.ld", std::to_string(problem.vectors_to.ld()),
                          "at least n = " + std::to_string(n));
  if (runtime.size() > 1)
    throw InvalidArgument("vectors_to", "a whole array on " + std::to_string(runtime.size()) + " ranks",
                          "none: the result has the vectors");
}

/// Of what must be the same on all ranks.
template <class T>
std::uint64_t hash_of_input(const MatrixInput<T>& input) {
  return argument_hash(sizeof(T), is_complex<T>, input.kind(), hash_of(input.layout()));
}

/// The matrix as tiles: the caller's, or wrapped ones of its array, which are only read and go as soon as the
/// solver's own tiles have their contents.
template <class T>
class InputTiles {
 public:
  InputTiles(Runtime& runtime, const MatrixInput<T>& input, Index tile) : tiles_(input.tiles()) {
    if (tiles_ || !input) return;
    TileLayout layout = input.layout();
    T* const memory = const_cast<T*>(input.array());
    if (input.kind() == MatrixInput<T>::Kind::array) {
      layout.tile_rows = layout.tile_cols = tile;
      own_ = TiledMatrix<T>::wrap(runtime, memory, input.ld(), layout);
    } else {
      own_ = TiledMatrix<T>::wrap_block_cyclic(runtime, memory, input.ld(), layout);
    }
    tiles_ = &*own_;
  }
  InputTiles(const InputTiles&) = delete;
  InputTiles& operator=(const InputTiles&) = delete;
  const TiledMatrix<T>* get() const noexcept { return tiles_; }
  void release() {
    if (own_) own_->release_unchanged();
  }

 private:
  std::optional<TiledMatrix<T>> own_;
  const TiledMatrix<T>* tiles_;
};

template <class T>
Completion<EigenResult<T>> submit(Runtime& runtime, const EigenProblem<T>& problem,
                                  const EigensolveOptions& used) {
  const Index n = problem.a.order();
  const bool own_vectors = !problem.vectors_to;
  require_memory(runtime, "eigensolve", eigensolve_memory<T>(runtime, n, used, bool(problem.b), own_vectors));
  const ReturnedMemory returned(runtime, returned_bytes(runtime, n, sizeof(T)));
  InputTiles<T> a(runtime, problem.a, used.tile), b(runtime, problem.b, used.tile);
  auto solve = Solve<T>(runtime, *a.get(), b.get(), used, problem.vectors_to).submit();
  a.release();
  b.release();
  std::shared_ptr<EigenResult<T>> result = solve.result;
  if (own_vectors) return {std::move(solve.sequence), std::move(result)};
  return {std::make_unique<WorkIntoArray<T>>(std::move(solve)), std::move(result)};
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
    check_problem(runtime, problem, options.vectors);
    used = resolve_options<T>(runtime, problem.a.order(), options);
  };
  const std::uint64_t arguments =
      argument_hash(hash_of_input(problem.a), hash_of_input(problem.b), hash_of(options));
  return collectively(runtime, "submit_eigensolve", arguments, check,
                      [&] { return submit(runtime, problem, used); });
}

#define TESSERA_INSTANTIATE(T)                                                               \
  template Completion<EigenResult<T>> submit_eigensolve<T>(Runtime&, const EigenProblem<T>&, \
                                                           const EigensolveOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
