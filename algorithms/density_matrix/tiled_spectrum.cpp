// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include <tessera/algorithms/block_sparse/lanczos.hpp>
#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/algorithms/density_matrix/orthonormal_basis.hpp>
#include <tessera/algorithms/density_matrix/tiled_spectrum.hpp>
#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/codelets/density/lanczos_steps.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

namespace {

template <class T>
using Vector = std::vector<T>;

/// An orthonormal basis, one vector beside the other.
template <class T>
class Basis {
 public:
  explicit Basis(Index rows) : rows_(rows) {}
  void append(const Vector<T>& v) {
    elements_.insert(elements_.end(), v.begin(), v.end());
    ++count_;
  }
  /// w := w - V V^H w, twice; the last component of V^H w.
  T orthogonalise(Vector<T>& w) const {
    std::vector<T> h(static_cast<std::size_t>(count_));
    T last = 0;
    for (int twice = 0; twice < 2; ++twice) {
      blas::gemm<T>(Op::adjoint, Op::none, count_, 1, rows_, T(1), elements_.data(), rows_, w.data(), rows_,
                    T(0), h.data(), count_);
      last += h.back();
      blas::gemm<T>(Op::none, Op::none, rows_, 1, count_, T(-1), elements_.data(), rows_, h.data(), count_,
                    T(1), w.data(), rows_);
    }
    return last;
  }

 private:
  Index rows_, count_ = 0;
  std::vector<T> elements_;
};

/// Products of a Hermitian matrix in tiles with vectors of the host, the same on all ranks.
template <class T>
class TiledProduct {
 public:
  TiledProduct(Runtime& runtime, const TiledMatrix<T>& a) : runtime_(runtime), a_(a), sequence_(runtime) {
    for (Index i = 0; i < a.row_tiles(); ++i)
      x_.push_back(Data::matrix(runtime, a.tile_rows(i), 1, sizeof(T), Data::every_rank));
    for (Index j = 0; j < a.col_tiles(); ++j)
      for (Index i = j; i < a.row_tiles(); ++i) {
        parts_.push_back(
            {i, j, Op::none, Data::matrix(runtime, a.tile_rows(i), 1, sizeof(T), a.owner(i, j))});
        if (i != j)
          parts_.push_back(
              {i, j, Op::adjoint, Data::matrix(runtime, a.tile_rows(j), 1, sizeof(T), a.owner(i, j))});
      }
  }
  /// A x
  Vector<T> operator()(const Vector<T>& x) {
    for (Index i = 0; i < a_.row_tiles(); ++i) {
      const HostAccess access(x_[static_cast<std::size_t>(i)], HostAccess::Mode::write);
      std::copy_n(x.data() + i * a_.layout().tile_rows, a_.tile_rows(i), access.template matrix<T>().data);
    }
    for (const Part& part : parts_) {
      const bool straight = part.op == Op::none;
      const Index rows = a_.tile_rows(part.i), cols = a_.tile_cols(part.j);
      sequence_.insert(Gemm<T>{.a = a_.tile(part.i, part.j),
                               .b = x_[static_cast<std::size_t>(straight ? part.j : part.i)],
                               .c = overwrite(part.sum),
                               .op_a = part.op,
                               .part_a = {0, 0, rows, cols},
                               .part_b = {0, 0, straight ? cols : rows, 1},
                               .part_c = {0, 0, straight ? rows : cols, 1}});
    }
    Vector<T> y(x.size());
    for (const Part& part : parts_) {
      if (!part.sum.local()) continue;
      const HostAccess access(part.sum, HostAccess::Mode::read);
      const auto sum = access.template matrix<T>();
      T* const to = y.data() + (part.op == Op::none ? part.i : part.j) * a_.layout().tile_rows;
      for (Index k = 0; k < sum.rows; ++k) to[k] += sum(k, 0);
    }
    add_up(y);
    return y;
  }
  void finish() {
    const Status status = sequence_.wait();
    if (!status.ok()) throw IterationEnded{status};
  }

 private:
  struct Part {
    Index i, j;
    Op op;
    Data sum;
  };
  void add_up(Vector<T>& y) const {
    if (runtime_.size() == 1) return;
    std::vector<double> all;
    for (const T& value : y) {
      all.push_back(real_part(value));
      if constexpr (is_complex<T>) all.push_back(imag_part(value));
    }
    runtime_.all_reduce_sum(all.data(), static_cast<Index>(all.size()));
    for (std::size_t k = 0; k < y.size(); ++k) {
      if constexpr (is_complex<T>)
        y[k] = T(RealOf<T>(all[2 * k]), RealOf<T>(all[2 * k + 1]));
      else
        y[k] = T(all[k]);
    }
  }
  Runtime& runtime_;
  const TiledMatrix<T>& a_;
  Sequence sequence_;
  std::vector<Data> x_;
  std::vector<Part> parts_;
};

/// x / ||x||; its norm.
template <class T>
double normalise(Vector<T>& x) {
  double square = 0;
  for (const T& value : x) square += static_cast<double>(std::norm(value));
  const double norm = std::sqrt(square);
  if (norm > 0)
    for (T& value : x) value *= RealOf<T>(1 / norm);
  return norm;
}

/// Of a Lanczos step: v^H A v, and the norm of the next vector before it is made one.
struct LanczosCoefficients {
  double diagonal, beside;
};

template <class T>
Vector<T> random_direction(Index n) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  Vector<T> v(static_cast<std::size_t>(n));
  for (T& value : v) value = T(RealOf<T>(normal(random)));
  normalise(v);
  return v;
}

/// Lanczos steps with vectors of the host.
template <class T>
class HostLanczos {
 public:
  HostLanczos(Runtime& runtime, const TiledMatrix<T>& a, Index)
      : product_(runtime, a), basis_(a.rows()), v_(random_direction<T>(a.rows())) {}
  std::vector<LanczosCoefficients> extend(Index steps) {
    std::vector<LanczosCoefficients> found;
    for (Index k = 0; k < steps; ++k) {
      basis_.append(v_);
      v_ = product_(v_);
      const double diagonal = static_cast<double>(real_part(basis_.orthogonalise(v_)));
      found.push_back({diagonal, normalise(v_)});
    }
    return found;
  }
  void finish() { product_.finish(); }

 private:
  TiledProduct<T> product_;
  Basis<T> basis_;
  Vector<T> v_;
};

/// The same of a matrix in one tile, where that is: the host sees the coefficients alone.
template <class T>
class TileLanczos {
 public:
  TileLanczos(Runtime& runtime, const TiledMatrix<T>& a, Index most)
      : a_(a),
        basis_(Data::matrix(runtime, a.rows(), most + 1, sizeof(T))),
        work_(Data::scratch(runtime, static_cast<std::size_t>(lanczos_work(most)) * sizeof(T))),
        sequence_(runtime) {
    const Vector<T> v = random_direction<T>(a.rows());
    const HostAccess access(basis_, HostAccess::Mode::write);
    std::copy(v.begin(), v.end(), access.template matrix<T>().data);
  }
  std::vector<LanczosCoefficients> extend(Index steps) {
    const Data found =
        Data::bytes(sequence_.runtime(), static_cast<std::size_t>(steps) * sizeof(LanczosCoefficients));
    sequence_.insert(LanczosSteps<T>{.a = a_.tile(0, 0),
                                     .basis = basis_,
                                     .coefficients = found,
                                     .work = work_,
                                     .n = a_.rows(),
                                     .first = first_,
                                     .steps = steps});
    first_ += steps;
    const HostAccess access(found, HostAccess::Mode::read);
    const auto values = access.array<const LanczosCoefficients>();
    return {values.begin(), values.end()};
  }
  void finish() {
    const Status status = sequence_.wait();
    if (!status.ok()) throw IterationEnded{status};
  }

 private:
  const TiledMatrix<T>& a_;
  const Data basis_, work_;
  Sequence sequence_;
  Index first_ = 0;
};

template <class Lanczos, class T>
SpectralInterval interval_by(Runtime& runtime, const TiledMatrix<T>& a) {
  constexpr Index between = 4;        // steps from one look at the Ritz values to the next
  constexpr double tolerance = 1e-2;  // of the width: looser bounds cost a purification nearly nothing
  const Index most = std::min<Index>(a.rows(), 100);
  Lanczos lanczos(runtime, a, most);
  KrylovMatrix krylov;
  RitzEnds ends;
  for (bool over = false; !over;) {
    for (const auto& [diagonal, beside] : lanczos.extend(std::min(between, most - krylov.size()))) {
      krylov.diagonal.push_back(diagonal);
      krylov.beside.push_back(beside);
      if (!std::isfinite(diagonal) || !std::isfinite(beside)) {
        lanczos.finish();
        throw IterationEnded{{StatusCode::not_finite, "purification", 0, "NaN or infinity in the matrix"}};
      }
      const double scale = std::abs(krylov.diagonal.front()) + krylov.beside.front();
      over = krylov.size() == most || beside <= 10 * static_cast<double>(precision<T>) * scale;
      if (over) break;
    }
    ends = ritz_ends(krylov);
    const double width = ends.highest.value - ends.lowest.value;
    over = over || std::max(ends.lowest.residual, ends.highest.residual) <= tolerance * width;
  }
  lanczos.finish();
  return widened({ends.lowest.value - ends.lowest.residual, ends.highest.value + ends.highest.residual});
}

}  // namespace

template <class T>
SpectralInterval spectrum_of_tiles(Runtime& runtime, const HermitianTiles<T>& a) {
  const bool whole = runtime.size() == 1 && runtime.any_gpus() && a.tiles().row_tiles() == 1;
  return whole ? interval_by<TileLanczos<T>>(runtime, a.tiles())
               : interval_by<HostLanczos<T>>(runtime, a.tiles());
}

#define TESSERA_INSTANTIATE(T) \
  template SpectralInterval spectrum_of_tiles<T>(Runtime&, const HermitianTiles<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
