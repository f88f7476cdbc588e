// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stages.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/dense/back_band.hpp>
#include <tessera/algorithms/dense/back_tridiagonal.hpp>
#include <tessera/algorithms/dense/band_to_tridiagonal.hpp>
#include <tessera/algorithms/dense/cholesky.hpp>
#include <tessera/algorithms/dense/tridiagonal_eigen.hpp>
#include <tessera/error.hpp>

#include "machine_limits.hpp"
#include "stage.hpp"

namespace tessera::program {
using namespace detail;

namespace {

template <class T>
class CholeskyBench final : public Stage<T> {
 public:
  using Stage<T>::Stage;
  void prepare() override { b_ = this->overlap(); }
  void submit(Sequence& sequence) override { cholesky(sequence, b_.matrix); }
  CheckRecord check() override {
    Runtime& runtime = this->runtime_;
    const Vector x = random_vector(this->n_, 3);
    const Vector expected = times(runtime, this->overlap().matrix, Shape::hermitian, false, x);
    const Vector y =
        times(runtime, b_.matrix, Shape::lower, false, times(runtime, b_.matrix, Shape::lower, true, x));
    CheckRecord check;
    check.residual = distance(expected, y) / (this->eps_ * b_.norm * largest(x));
    return check;
  }
  RoutineProblem<T> peer_problem() override {
    return {
        .routine = Routine::potrf, .n = this->n_, .a = gather_lower(this->runtime_, this->overlap().matrix)};
  }

 private:
  HermitianProblem<T> b_;
};

template <class T>
class ToStandardBench final : public Stage<T> {
 public:
  using Stage<T>::Stage;
  void prepare() override {
    a_ = this->matrix();
    l_ = this->overlap();
    this->run_now([&](Sequence& sequence) { cholesky(sequence, l_.matrix); });
  }
  void submit(Sequence& sequence) override { to_standard(sequence, a_.matrix, l_.matrix); }
  CheckRecord check() override {
    Runtime& runtime = this->runtime_;
    const Vector x = random_vector(this->n_, 3);
    const Vector expected = times(runtime, this->matrix().matrix, Shape::hermitian, false, x);
    Vector y = times(runtime, l_.matrix, Shape::lower, true, x);
    y = times(runtime, l_.matrix, Shape::lower, false, times(runtime, a_.matrix, Shape::hermitian, false, y));
    CheckRecord check;
    check.residual = distance(expected, y) / (this->eps_ * a_.norm * largest(x));
    return check;
  }
  RoutineProblem<T> peer_problem() override {
    return {.routine = Routine::hegst,
            .n = this->n_,
            .a = gather_lower(this->runtime_, this->matrix().matrix),
            .l = gather_lower(this->runtime_, l_.matrix)};
  }

 private:
  HermitianProblem<T> a_, l_;
};

template <class T>
class ReduceToBandBench final : public Stage<T> {
 public:
  using Stage<T>::Stage;
  void prepare() override {
    a_ = this->matrix();
    band_ = BandMatrix<T>(this->runtime_, this->n_, this->sizes_.band);
    reflectors_ = {};
  }
  void submit(Sequence& sequence) override { this->reduce(sequence, a_, band_, &reflectors_); }
  CheckRecord check() override { return this->similarity_check(a_, invariants(this->runtime_, band_)); }
  RoutineProblem<T> peer_problem() override { return this->hetrd_problem(" (to tridiagonal form)"); }

 private:
  HermitianProblem<T> a_;
  BandMatrix<T> band_;
  BandReflectors<T> reflectors_;
};

template <class T>
class BandToTridiagonalBench final : public Stage<T> {
 public:
  using Stage<T>::Stage;
  void prepare() override {
    a_ = this->matrix();
    band_ = BandMatrix<T>(this->runtime_, this->n_, this->sizes_.band);
    this->run_now([&](Sequence& sequence) { this->reduce(sequence, a_, band_, nullptr); });
    d_ = this->reals(this->n_);
    e_ = this->reals(this->n_ - 1);
    reflectors_ = {};
  }
  void submit(Sequence& sequence) override {
    band_to_tridiagonal(sequence, std::move(band_), d_, e_, &reflectors_);
  }
  CheckRecord check() override {
    return this->similarity_check(a_, invariants(this->host(d_, this->n_), this->host(e_, this->n_ - 1)));
  }

 private:
  HermitianProblem<T> a_;
  BandMatrix<T> band_;
  Data d_, e_;
  ChaseReflectors<T> reflectors_;
};

/// Both stages of the reduction to tridiagonal form.
template <class T>
class TridiagonalizeBench final : public Stage<T> {
 public:
  using Stage<T>::Stage;
  void prepare() override {
    a_ = this->matrix();
    band_ = BandMatrix<T>(this->runtime_, this->n_, this->sizes_.band);
    d_ = this->reals(this->n_);
    e_ = this->reals(this->n_ - 1);
    band_reflectors_ = {};
    chase_reflectors_ = {};
  }
  void submit(Sequence& sequence) override {
    sequence.begin_stage("reduce_to_band");
    this->reduce(sequence, a_, band_, &band_reflectors_);
    sequence.begin_stage("band_to_tridiagonal");
    band_to_tridiagonal(sequence, std::move(band_), d_, e_, &chase_reflectors_);
  }
  CheckRecord check() override {
    return this->similarity_check(a_, invariants(this->host(d_, this->n_), this->host(e_, this->n_ - 1)));
  }
  RoutineProblem<T> peer_problem() override { return this->hetrd_problem(); }

 private:
  HermitianProblem<T> a_;
  BandMatrix<T> band_;
  Data d_, e_;
  BandReflectors<T> band_reflectors_;
  ChaseReflectors<T> chase_reflectors_;
};

/// Eigenpairs of the tridiagonal matrix that the previous stages compute. Later rounds use the same
/// matrix.
template <class T>
class TridiagonalEigenBench final : public Stage<T> {
 public:
  using Stage<T>::Stage;
  using Real = RealOf<T>;
  void prepare() override {
    const Index n = this->n_;
    if (d_.empty()) {
      auto a = this->matrix();
      BandMatrix<T> band(this->runtime_, n, this->sizes_.band);
      const Data d = this->reals(n), e = this->reals(n - 1);
      this->run_now([&](Sequence& sequence) {
        this->reduce(sequence, a, band, nullptr);
        band_to_tridiagonal<T>(sequence, std::move(band), d, e, nullptr);
      });
      d_ = this->host(d, n);
      e_ = this->host(e, n - 1);
    }
    d_data_ = put(d_);
    e_data_ = put(e_);
    z_ = ColumnSlabs<T>(this->runtime_, n, this->count_, this->sizes_.slab_width);
  }
  void submit(Sequence& sequence) override {
    TridiagonalEigen<T> eigen(sequence, this->n_, d_data_, e_data_, true);
    eigen.submit_vectors(sequence, 0, this->count_, z_, this->sizes_.split_products);
    eigen_ = std::make_shared<TridiagonalEigen<T>>(std::move(eigen));
  }
  CheckRecord check() override {
    const std::vector<Real> values = this->host(eigen_->values(), this->n_);
    double norm = 0;
    for (Index i = 0; i < this->n_; ++i)
      norm = std::max(norm, std::abs(static_cast<double>(d_[i])) +
                                (i + 1 < this->n_ ? 2 * std::abs(static_cast<double>(e_[i])) : 0.0));
    CheckRecord check;
    check.residual = tridiagonal_residual<T>(this->runtime_, d_, e_, values, z_) / (this->eps_ * norm);
    check.orthogonality =
        std::abs(squared_norm(this->runtime_, z_) / static_cast<double>(this->count_) - 1) / this->eps_;
    return check;
  }
  RoutineProblem<T> peer_problem() override {
    return {.routine = Routine::stedc, .n = this->n_, .d = d_, .e = e_};
  }

 private:
  Data put(const std::vector<Real>& values) {
    Data data = this->reals(static_cast<Index>(values.size()));
    const HostAccess access(data, HostAccess::Mode::write);
    std::copy(values.begin(), values.end(), access.array<Real>().begin());
    return data;
  }
  std::vector<Real> d_, e_;
  Data d_data_, e_data_;
  ColumnSlabs<T> z_;
  std::shared_ptr<TridiagonalEigen<T>> eigen_;
};

template <class T>
class BackTridiagonalBench final : public Stage<T> {
 public:
  using Stage<T>::Stage;
  void prepare() override {
    const Index n = this->n_;
    auto a = this->matrix();
    BandMatrix<T> band(this->runtime_, n, this->sizes_.band);
    const Data d = this->reals(n), e = this->reals(n - 1);
    reflectors_ = {};
    this->run_now([&](Sequence& sequence) {
      this->reduce(sequence, a, band, nullptr);
      band_to_tridiagonal<T>(sequence, std::move(band), d, e, &reflectors_);
    });
    z_ = this->random_vectors(5);
    before_ = squared_norm(this->runtime_, z_);
  }
  void submit(Sequence& sequence) override {
    const bool elpa = this->options_.kernel == "elpa";
    back_tridiagonal(sequence, std::move(reflectors_), z_,
                     elpa ? ReflectorKernel::one_by_one : ReflectorKernel::blocked,
                     this->sizes_.split_products);
  }
  CheckRecord check() override { return this->norm_check(before_, squared_norm(this->runtime_, z_)); }

 private:
  ChaseReflectors<T> reflectors_;
  ColumnSlabs<T> z_;
  double before_ = 0;
};

template <class T>
class BackBandBench final : public Stage<T> {
 public:
  using Stage<T>::Stage;
  void prepare() override {
    auto a = this->matrix();
    BandMatrix<T> band(this->runtime_, this->n_, this->sizes_.band);
    reflectors_ = {};
    this->run_now([&](Sequence& sequence) { this->reduce(sequence, a, band, &reflectors_); });
    z_ = this->random_vectors(5);
    before_ = squared_norm(this->runtime_, z_);
  }
  void submit(Sequence& sequence) override {
    back_band(sequence, std::move(reflectors_), z_, this->sizes_.split_products);
  }
  CheckRecord check() override { return this->norm_check(before_, squared_norm(this->runtime_, z_)); }

 private:
  BandReflectors<T> reflectors_;
  ColumnSlabs<T> z_;
  double before_ = 0;
};

template <class T>
class ToGeneralBench final : public Stage<T> {
 public:
  using Stage<T>::Stage;
  void prepare() override {
    l_ = this->overlap();
    this->run_now([&](Sequence& sequence) { cholesky(sequence, l_.matrix); });
    z_ = this->random_vectors(5);
    x_ = random_vector(this->count_, 3);
    before_ = times(this->runtime_, z_, x_);
  }
  void submit(Sequence& sequence) override { to_general(sequence, l_.matrix, z_); }
  CheckRecord check() override {
    const Vector solution = times(this->runtime_, z_, x_);
    const Vector back = times(this->runtime_, l_.matrix, Shape::lower, true, solution);
    CheckRecord check;
    check.residual = distance(back, before_) / (this->eps_ * l_.norm * std::max(largest(solution), 1e-300));
    return check;
  }
  RoutineProblem<T> peer_problem() override {
    return {.routine = Routine::trsm,
            .n = this->n_,
            .columns = this->count_,
            .a = gather_lower(this->runtime_, l_.matrix)};
  }

 private:
  HermitianProblem<T> l_;
  ColumnSlabs<T> z_;
  Vector x_, before_;
};

/// C := A B by tiles, A and B random.
template <class T>
class GemmBench final : public Stage<T> {
 public:
  using Stage<T>::Stage;
  void prepare() override {
    if (!product_)
      product_ = std::make_unique<TiledGemm<T>>(this->runtime_, this->n_, this->options_.tile, this->grid_);
    product_->prepare();
  }
  void submit(Sequence& sequence) override { product_->submit(sequence); }
  CheckRecord check() override {
    const auto product_with = [&](const TiledMatrix<T>& matrix, const Vector& x) {
      return times(this->runtime_, matrix, Shape::general, false, x);
    };
    const Vector x = random_vector(this->n_, 3);
    const Vector expected = product_with(product_->a(), product_with(product_->b(), x));
    const double n = static_cast<double>(this->n_);
    CheckRecord check;
    check.residual = distance(expected, product_with(product_->c(), x)) / (this->eps_ * n * largest(x));
    return check;
  }
  RoutineProblem<T> peer_problem() override { return {.routine = Routine::gemm, .n = this->n_}; }

 private:
  std::unique_ptr<TiledGemm<T>> product_;
};

template <class T, template <class> class Bench>
std::unique_ptr<StageBench<T>> make(Session& session, const DenseBenchOptions& options) {
  return std::make_unique<Bench<T>>(session, options);
}

}  // namespace

template <class T>
EigensolveOptions stage_sizes(Runtime& runtime, const DenseBenchOptions& options) {
  EigensolveOptions wanted;
  wanted.solver = Solver::two_stage;
  wanted.tile = options.tile;
  wanted.band = options.band;
  wanted.update_width = options.update_width;
  wanted.column_groups = options.column_groups;
  wanted.split_products = options.split_products;
  return resolve_options<T>(runtime, options.n, wanted);
}

template <class T>
std::unique_ptr<StageBench<T>> make_stage_bench(Session& session, const DenseBenchOptions& options) {
  const std::string& stage = options.stage;
  if (stage == "cholesky") return make<T, CholeskyBench>(session, options);
  if (stage == "to_standard") return make<T, ToStandardBench>(session, options);
  if (stage == "reduce_to_band") return make<T, ReduceToBandBench>(session, options);
  if (stage == "band_to_tridiagonal") return make<T, BandToTridiagonalBench>(session, options);
  if (stage == "tridiagonalize") return make<T, TridiagonalizeBench>(session, options);
  if (stage == "tridiagonal_eigen") return make<T, TridiagonalEigenBench>(session, options);
  if (stage == "back_tridiagonal") return make<T, BackTridiagonalBench>(session, options);
  if (stage == "back_band") return make<T, BackBandBench>(session, options);
  if (stage == "to_general") return make<T, ToGeneralBench>(session, options);
  if (stage == "gemm") return make<T, GemmBench>(session, options);
  throw InvalidArgument("stage", stage, "one of the stages that --help lists");
}

#define TESSERA_INSTANTIATE(T)                                                   \
  template EigensolveOptions stage_sizes<T>(Runtime&, const DenseBenchOptions&); \
  template std::unique_ptr<StageBench<T>> make_stage_bench<T>(Session&, const DenseBenchOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
