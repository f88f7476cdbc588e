// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench_stages.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/dense/back_band.hpp>
#include <tessera/algorithms/dense/back_tridiagonal.hpp>
#include <tessera/algorithms/dense/band_to_tridiagonal.hpp>
#include <tessera/algorithms/dense/cholesky.hpp>
#include <tessera/algorithms/dense/tridiagonal_eigen.hpp>
#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/dense/gemm.hpp>
#include <tessera/runtime/error.hpp>

#include "bench_stage.hpp"

namespace tessera::program {

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
  double peer(std::string& name) override {
    std::vector<T> b = gather_lower(this->runtime_, this->overlap().matrix);
    const Index n = this->n_;
    name = this->peer_on_gpu() ? fmt::format("cusolver Xpotrf ({})", type_letter<T>)
                               : fmt::format("lapack {}potrf", type_letter<T>);
    if (this->peer_on_gpu()) return time_cusolver_potrf(b, n);
    return this->time_lapack([&] { return blas::potrf<T>(Uplo::lower, n, b.data(), n); });
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
  double peer(std::string& name) override {
    if (this->peer_on_gpu()) return unknown;
    name = fmt::format("lapack {}{}gst", type_letter<T>, is_complex<T> ? "he" : "sy");
    std::vector<T> a = gather_lower(this->runtime_, this->matrix().matrix),
                   l = gather_lower(this->runtime_, l_.matrix);
    const Index n = this->n_;
    return this->time_lapack([&] { return blas::hegst<T>(1, Uplo::lower, n, a.data(), n, l.data(), n); });
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
  double peer(std::string& name) override {
    const double seconds = this->time_hetrd(name);
    name += " (to tridiagonal form)";
    return seconds;
  }

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

/// Both stages to tridiagonal form.
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
  double peer(std::string& name) override { return this->time_hetrd(name); }

 private:
  HermitianProblem<T> a_;
  BandMatrix<T> band_;
  Data d_, e_;
  BandReflectors<T> band_reflectors_;
  ChaseReflectors<T> chase_reflectors_;
};

/// The tridiagonal matrix that the stages before make, or at once the one that was asked for.
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
    eigen.submit_vectors(sequence, 0, this->count_, z_);
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
  double peer(std::string& name) override {
    if (this->peer_on_gpu()) return unknown;
    name = fmt::format("lapack {}stedc", type_letter<Real>);
    const Index n = this->n_;
    std::vector<Real> d = d_, e = e_, z(n * n), work(1 + 4 * n + n * n);
    e.resize(n);
    std::vector<int> iwork(3 + 5 * n);
    return this->time_lapack([&] {
      return blas::stedc<Real>('I', n, d.data(), e.data(), z.data(), n, work.data(),
                               static_cast<Index>(work.size()), iwork.data(),
                               static_cast<Index>(iwork.size()));
    });
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
                     elpa ? ReflectorKernel::one_by_one : ReflectorKernel::blocked);
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
  void submit(Sequence& sequence) override { back_band(sequence, std::move(reflectors_), z_); }
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
  double peer(std::string& name) override {
    const std::vector<T> l = gather_lower(this->runtime_, l_.matrix);
    name = fmt::format("{} {}trsm", this->peer_on_gpu() ? "cublas" : "blas", type_letter<T>);
    if (this->peer_on_gpu()) return time_cublas_trsm(l, this->n_, this->count_);
    std::vector<T> z(static_cast<std::size_t>(this->n_ * this->count_), T(1));
    return this->time_lapack([&] {
      blas::trsm<T>(Side::left, Uplo::lower, Op::adjoint, Diag::non_unit, this->n_, this->count_, T(1),
                    l.data(), this->n_, z.data(), this->n_);
      return 0;
    });
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
    // Large enough for a GEMM at full speed, small enough that the last tiles do not leave workers idle.
    const Index wanted = this->options_.tile;
    const bool gpus = this->runtime_.gpus() > 0;
    const Index parts = gpus ? 4 : 8, largest = gpus ? 4096 : 512;
    const Index tile = wanted > 0 ? wanted : std::clamp<Index>(ceil_div(this->n_, parts), 192, largest);
    const TileLayout layout{this->n_, this->n_, tile, tile, this->grid_, Uplo::general};
    c_ = TiledMatrix<T>(this->runtime_, layout);
    if (a_.rows() > 0) return;
    a_ = filled(layout, 11);
    b_ = filled(layout, 12);
  }
  void submit(Sequence& sequence) override {
    for (Index k = 0; k < a_.col_tiles(); ++k)
      for (Index j = 0; j < c_.col_tiles(); ++j)
        for (Index i = 0; i < c_.row_tiles(); ++i) {
          const Index m = c_.tile_rows(i), n = c_.tile_cols(j), depth = a_.tile_cols(k);
          sequence.insert(Gemm<T>{.a = a_.tile(i, k),
                                  .b = b_.tile(k, j),
                                  .sum = c_.tile(i, j),
                                  .part_a = {0, 0, m, depth},
                                  .part_b = {0, 0, depth, n},
                                  .part_c = {0, 0, m, n}});
        }
  }
  CheckRecord check() override {
    const Vector x = random_vector(this->n_, 3);
    const Vector expected =
        times(this->runtime_, a_, Shape::general, false, times(this->runtime_, b_, Shape::general, false, x));
    const double n = static_cast<double>(this->n_);
    CheckRecord check;
    check.residual = distance(expected, times(this->runtime_, c_, Shape::general, false, x)) /
                     (this->eps_ * n * largest(x));
    return check;
  }
  double peer(std::string& name) override {
    const Index n = this->n_;
    name = fmt::format("{} {}gemm", this->peer_on_gpu() ? "cublas" : "blas", type_letter<T>);
    if (this->peer_on_gpu()) return time_cublas_gemm<T>(n);
    const auto size = static_cast<std::size_t>(n * n);
    const std::vector<T> a(size, T(1)), b(size, T(2));
    std::vector<T> c(size);
    return this->time_lapack([&] {
      blas::gemm<T>(Op::none, Op::none, n, n, n, T(1), a.data(), n, b.data(), n, T(0), c.data(), n);
      return 0;
    });
  }

 private:
  TiledMatrix<T> filled(const TileLayout& layout, std::uint64_t seed) {
    TiledMatrix<T> matrix(this->runtime_, layout);
    fill_general(matrix, seed);
    matrix.prefetch();
    return matrix;
  }
  TiledMatrix<T> a_, b_, c_;
};

template <class T, template <class> class Bench>
std::unique_ptr<StageBench> make(Session& session, const BenchProgramOptions& options) {
  return std::make_unique<Bench<T>>(session, options);
}

}  // namespace

template <class T>
std::unique_ptr<StageBench> make_stage_bench(Session& session, const BenchProgramOptions& options) {
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

template <class T>
double measure_gemm_limit(Session& session, Index n, int repeat) {
  BenchProgramOptions options;
  options.n = n;
  GemmBench<T> bench(session, options);
  double best = HUGE_VAL;
  for (int run = -1; run < repeat; ++run) {
    bench.prepare();
    session.runtime().barrier();
    const double start = now();
    Sequence sequence(session.runtime());
    bench.submit(sequence);
    const Status status = sequence.wait();
    double seconds = now() - start;
    if (!status) throw Error(status.message());
    session.runtime().all_reduce_max(&seconds, 1);
    if (run >= 0) best = std::min(best, seconds);
  }
  const double order = static_cast<double>(n);
  return flop_factor<T> * 2 * order * order * order / best * 1e-9;
}

#define TESSERA_INSTANTIATE(T)                                                                    \
  template std::unique_ptr<StageBench> make_stage_bench<T>(Session&, const BenchProgramOptions&); \
  template double measure_gemm_limit<T>(Session&, Index, int);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
