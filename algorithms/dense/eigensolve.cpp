// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>

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

namespace tessera {
namespace {

/// One solve: the state that its stages share while they are submitted.
template <class T>
class Solve {
 public:
  using R = RealOf<T>;
  Solve(Runtime& runtime, const TiledMatrix<T>& a, const TiledMatrix<T>* b, const EigensolveOptions& options,
        T* z, Index ldz)
      : runtime_(runtime),
        a_(a),
        b_(b),
        n_(a.rows()),
        options_(options),
        z_(z),
        ldz_(ldz),
        result_(new EigenResult<T>),
        sequence_(new Sequence(runtime)) {
    result_->used = options_;
  }

  /// The solver as the list of its stages (letters as in Eq. 6 of the GPU-ELPA2 paper).
  Completion<EigenResult<T>> submit() {
    if (n_ > 0) {
      const ReturnedMemory returned(runtime_, returned_bytes(runtime_, n_, sizeof(T)));
      TiledMatrix<T> work = copy_input();
      if (b_) to_standard_form(work);
      if (options_.solver == Solver::vendor)
        solve_by_vendor(work);
      else if (options_.solver == Solver::one_stage)
        solve_one_stage(std::move(work));
      else
        solve_two_stage(std::move(work));
    }
    return {std::move(sequence_), std::move(result_)};
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
    if (options_.range.kind == EigenRange<>::Kind::value) {
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
    lo_ = range.kind == EigenRange<>::Kind::index ? range.lo : 0;
    hi_ = range.kind == EigenRange<>::Kind::index ? range.hi : n_;
    if (range.kind != EigenRange<>::Kind::value) return;
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
    result_->vectors = z_ ? ColumnSlabs<T>::wrap(runtime_, z_, ldz_, n_, hi_ - lo_, options_.slab_width)
                          : ColumnSlabs<T>(runtime_, n_, hi_ - lo_, options_.slab_width);
  }

  Runtime& runtime_;
  const TiledMatrix<T>& a_;
  const TiledMatrix<T>* b_;
  const Index n_;
  const EigensolveOptions options_;
  T* z_;
  Index ldz_;
  Index lo_ = 0, hi_ = 0;
  Data scale_, scale_b_;  ///< of the eigenvalues; of B
  TiledMatrix<T> factor_;
  // The sequence goes first, and waits: its tasks write into the result.
  std::shared_ptr<EigenResult<T>> result_;
  std::unique_ptr<Sequence> sequence_;
};

template <class T>
void check_square(const TiledMatrix<T>& a, const char* name) {
  if (a.rows() != a.cols())
    throw InvalidArgument(name, std::to_string(a.rows()) + " x " + std::to_string(a.cols()),
                          "a square matrix");
}

void check_leading_dimension(const char* name, Index ld, Index n) {
  if (ld < std::max<Index>(n, 1))
    throw InvalidArgument(name, std::to_string(ld), "at least n = " + std::to_string(n));
}

template <class T>
Completion<EigenResult<T>> submit(Runtime& runtime, const TiledMatrix<T>& a, const TiledMatrix<T>* b,
                                  const EigensolveOptions& options, T* z, Index ldz) {
  EigensolveOptions used;
  const auto check = [&] {
    check_square(a, "a");
    if (b) {
      check_square(*b, "b");
      if (b->rows() != a.rows())
        throw InvalidArgument("b", std::to_string(b->rows()) + " rows",
                              std::to_string(a.rows()) + " rows, as a");
    }
    used = resolve_options<T>(runtime, a.rows(), options);
  };
  const std::uint64_t arguments = argument_hash(hash_of(a), b ? hash_of(*b) : 0, hash_of(options));
  return collectively(runtime, "submit_eigensolve", arguments, check, [&] {
    require_memory(runtime, "eigensolve",
                   eigensolve_memory<T>(runtime, a.rows(), used, b != nullptr, z == nullptr));
    return Solve<T>(runtime, a, b, used, z, ldz).submit();
  });
}

/// The arrays of the blocking call.
template <class T>
struct Arrays {
  Index n;
  const T* a;
  Index lda;
  const T* b;
  Index ldb;
  RealOf<T>* w;
  T* z;
  Index ldz;
};

template <class T>
void check_arrays(const Runtime& runtime, const Arrays<T>& arrays, bool vectors) {
  const auto& [n, a, lda, b, ldb, w, z, ldz] = arrays;
  if (n < 0) throw InvalidArgument("n", std::to_string(n), "at least 0");
  if (n > 0 && !a) throw InvalidArgument("a", "null", "an array");
  if (n > 0 && !w) throw InvalidArgument("w", "null", "an array");
  if (n > 0 && vectors && !z) throw InvalidArgument("z", "null", "an array, or options.vectors = false");
  if (vectors) check_leading_dimension("ldz", ldz, n);
  if (runtime.size() > 1)
    throw InvalidArgument("runtime", std::to_string(runtime.size()) + " ranks",
                          "one process (use submit_eigensolve)");
  check_leading_dimension("lda", lda, n);
  if (b) check_leading_dimension("ldb", ldb, n);
}

template <class T>
Status solve_arrays(Runtime& runtime, Uplo uplo, const Arrays<T>& arrays, Index* count,
                    const EigensolveOptions& used) {
  const Index n = arrays.n;
  const TileLayout layout{n, n, used.tile, used.tile, {}, uplo};
  const ReturnedMemory returned(runtime, returned_bytes(runtime, n, sizeof(T)));
  // The wrapped arrays are only read.
  auto tiles_a = TiledMatrix<T>::wrap(runtime, const_cast<T*>(arrays.a), arrays.lda, layout);
  std::optional<TiledMatrix<T>> tiles_b;
  if (arrays.b) tiles_b = TiledMatrix<T>::wrap(runtime, const_cast<T*>(arrays.b), arrays.ldb, layout);
  auto completion = submit<T>(runtime, tiles_a, tiles_b ? &*tiles_b : nullptr, used, arrays.z, arrays.ldz);
  // A GPU's copies of them go as soon as they have been copied to the solver's own tiles.
  tiles_a.release_unchanged();
  if (tiles_b) tiles_b->release_unchanged();
  const Status status = completion.wait();
  const auto& values = completion.result().values;
  if (status.ok()) std::copy(values.begin(), values.end(), arrays.w);
  if (count) *count = static_cast<Index>(values.size());
  completion.result().vectors.release();
  return status;
}

}  // namespace

template <class T>
Completion<EigenResult<T>> submit_eigensolve(Runtime& runtime, const TiledMatrix<T>& a,
                                             const EigensolveOptions& options) {
  return submit<T>(runtime, a, nullptr, options, nullptr, 0);
}

template <class T>
Completion<EigenResult<T>> submit_eigensolve(Runtime& runtime, const TiledMatrix<T>& a,
                                             const TiledMatrix<T>& b, const EigensolveOptions& options) {
  return submit<T>(runtime, a, &b, options, nullptr, 0);
}

template <class T>
Status eigensolve(Runtime& runtime, Uplo uplo, Index n, const T* a, Index lda, const T* b, Index ldb,
                  RealOf<T>* w, T* z, Index ldz, Index* count, const EigensolveOptions& options) {
  const Arrays<T> arrays{n, a, lda, b, ldb, w, z, ldz};
  EigensolveOptions used;
  const auto check = [&] {
    check_arrays(runtime, arrays, options.vectors);
    used = resolve_options<T>(runtime, n, options);
  };
  return collectively(runtime, "eigensolve", 0, check,
                      [&] { return solve_arrays(runtime, uplo, arrays, count, used); });
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template Completion<EigenResult<T>> submit_eigensolve<T>(Runtime&, const TiledMatrix<T>&,                  \
                                                           const EigensolveOptions&);                        \
  template Completion<EigenResult<T>> submit_eigensolve<T>(Runtime&, const TiledMatrix<T>&,                  \
                                                           const TiledMatrix<T>&, const EigensolveOptions&); \
  template Status eigensolve<T>(Runtime&, Uplo, Index, const T*, Index, const T*, Index, RealOf<T>*, T*,     \
                                Index, Index*, const EigensolveOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
