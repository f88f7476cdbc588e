// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>

#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::program {

namespace {

/// Eigenpairs of a symmetric m x m matrix, upper triangle; its vectors overwrite it. Ascending.
std::vector<double> small_eigenpairs(Index m, std::vector<double>& t) {
  std::vector<double> values(static_cast<std::size_t>(m));
  double size = 0;
  int integers = 0;
  int info = blas::heevd<double>('V', Uplo::upper, m, t.data(), m, values.data(), &size, -1, nullptr, 0,
                                 &integers, -1);
  std::vector<double> work(static_cast<std::size_t>(size));
  std::vector<int> iwork(static_cast<std::size_t>(integers));
  if (info == 0)
    info = blas::heevd<double>('V', Uplo::upper, m, t.data(), m, values.data(), work.data(),
                               static_cast<Index>(work.size()), nullptr, 0, iwork.data(),
                               static_cast<Index>(iwork.size()));
  if (info != 0) throw Error(fmt::format("LAPACK dsyevd failed with info = {}", info));
  return values;
}

template <class T>
class Lanczos {
 public:
  Lanczos(LanczosSpace<T>& space, const LanczosOptions& options)
      : space_(space),
        options_(options),
        most_(lanczos_vectors(options.count, space.order())),
        norm_(options.a_norm) {}

  LanczosResult solve() {
    for (Index kept = 0;; ++result_.restarts) {
      extend(kept);
      const Index converged = converged_pairs();
      if (converged >= options_.count || result_.restarts >= options_.restarts || is_invariant_) break;
      kept = kept_pairs(converged);
      space_.rotate(vectors_of(kept), m_, kept);
      theta_.resize(static_cast<std::size_t>(kept));
    }
    finish();
    return std::move(result_);
  }

 private:
  /// To the whole basis, and its Ritz pairs. @param kept  Ritz vectors that it begins with, of the values theta_
  void extend(Index kept) {
    for (Index j = kept; j < most_; ++j) space_.step(j);
    result_.columns_multiplied += most_ - kept;
    std::vector<double> h(static_cast<std::size_t>(most_ * most_)), beta(static_cast<std::size_t>(most_));
    space_.fetch(kept, most_, h, beta);
    for (Index i = 0; i < kept; ++i)
      h[static_cast<std::size_t>(i + i * most_)] = theta_[static_cast<std::size_t>(i)];
    m_ = most_;
    for (Index j = kept; j < most_; ++j) {
      const double b = beta[static_cast<std::size_t>(j)], a = h[static_cast<std::size_t>(j + j * most_)];
      if (!std::isfinite(a) || !std::isfinite(b)) throw Error("Lanczos: NaN or infinity in A times vectors");
      norm_seen_ = std::max({norm_seen_, std::abs(a), b});
      if (b > 100 * static_cast<double>(precision<T>) * std::max(norm_, norm_seen_)) continue;
      // What follows is rounding: the first j + 1 vectors span an invariant space.
      m_ = j + 1;
      is_invariant_ = m_ < space_.order();
      break;
    }
    if (m_ < options_.count)
      throw Error(fmt::format("Lanczos: the Krylov space of the start vector has {} dimensions", m_));
    s_.assign(static_cast<std::size_t>(m_ * m_), 0);
    for (Index j = 0; j < m_; ++j) std::copy_n(h.begin() + j * most_, j + 1, s_.begin() + j * m_);
    theta_ = small_eigenpairs(m_, s_);
    norm_seen_ = std::max({norm_seen_, std::abs(theta_.front()), std::abs(theta_.back())});
    last_beta_ = is_invariant_ ? 0 : beta[static_cast<std::size_t>(m_ - 1)];
    if (options_.largest) reverse();
  }

  /// From the wanted end on.
  void reverse() {
    std::reverse(theta_.begin(), theta_.end());
    for (Index i = 0; i < m_ / 2; ++i)
      std::swap_ranges(s_.begin() + i * m_, s_.begin() + (i + 1) * m_, s_.begin() + (m_ - 1 - i) * m_);
  }

  double bound(double theta) const {
    const double norm = norm_ > 0 ? norm_ : norm_seen_;
    const double unit = options_.norm == "backward"   ? norm + std::abs(theta)
                        : options_.norm == "relative" ? std::abs(theta)
                                                      : 1;
    return options_.tolerance * unit;
  }

  /// In order from the wanted end, by |beta_m s_m|.
  Index converged_pairs() const {
    Index converged = 0;
    for (; converged < options_.count; ++converged) {
      const auto i = static_cast<std::size_t>(converged);
      if (!(std::abs(last_beta_ * s_[i * static_cast<std::size_t>(m_) + static_cast<std::size_t>(m_) - 1]) <=
            bound(theta_[i])))
        break;
    }
    return converged;
  }

  /// As ARPACK's dsaup2: with every pair that has converged one more is kept, up to half of the others.
  Index kept_pairs(Index converged) const {
    const Index kept = options_.count + std::min(converged, (m_ - options_.count) / 2);
    return kept == 1 && m_ >= 6 ? m_ / 2 : kept == 1 && m_ > 3 ? 2 : kept;
  }

  std::vector<double> vectors_of(Index count) const { return {s_.begin(), s_.begin() + m_ * count}; }

  void finish() {
    space_.rotate(vectors_of(options_.count), m_, options_.count);
    theta_.resize(static_cast<std::size_t>(options_.count));
    const std::vector<double> residuals = space_.residuals(theta_);
    result_.columns_multiplied += options_.count;
    constexpr double rounding = 1.1;  // of the estimate that has ended the iteration
    bool all = true;
    for (std::size_t i = 0; i < theta_.size(); ++i) {
      const double over = residuals[i] == 0 ? 0 : residuals[i] / bound(theta_[i]);
      result_.largest_residual = std::max(result_.largest_residual, over);
      all = all && over <= rounding;
      if (all) result_.values.push_back(theta_[i]);
    }
  }

  LanczosSpace<T>& space_;
  const LanczosOptions& options_;
  const Index most_;
  const double norm_;
  double norm_seen_ = 0, last_beta_ = 0;
  Index m_ = 0;
  bool is_invariant_ = false;
  std::vector<double> theta_, s_;
  LanczosResult result_;
};

template <class T>
class HostLanczos final : public LanczosSpace<T> {
 public:
  HostLanczos(FullRows<T> a, Index vectors, int threads)
      : a_(std::move(a)),
        n_(static_cast<Index>(a_.begins.size()) - 1),
        most_(vectors),
        threads_(threads),
        v_(static_cast<std::size_t>(n_ * (vectors + 1))),
        h_(static_cast<std::size_t>(vectors * vectors)),
        beta_(static_cast<std::size_t>(vectors)) {}

  Index order() const override { return n_; }
  void begin(const std::vector<T>& v) override { std::copy(v.begin(), v.end(), v_.begin()); }

  void step(Index j) override {
    T* const w = column(j + 1);
    multiply(column(j), w);
    std::vector<T> h(static_cast<std::size_t>(j + 1));
    T* const sum = h_.data() + j * most_;
    std::fill_n(sum, j + 1, T(0));
    for (int pass = 0; pass < 2; ++pass) {
      blas::gemm<T>(Op::transpose, Op::none, j + 1, 1, n_, 1, v_.data(), n_, w, n_, 0, h.data(), j + 1);
      blas::gemm<T>(Op::none, Op::none, n_, 1, j + 1, -1, v_.data(), n_, h.data(), j + 1, 1, w, n_);
      blas::axpy<T>(j + 1, 1, h.data(), 1, sum, 1);
    }
    beta_[static_cast<std::size_t>(j)] = length(w);
    const T factor = beta_[static_cast<std::size_t>(j)] > 0 ? 1 / beta_[static_cast<std::size_t>(j)] : T(0);
    for (Index i = 0; i < n_; ++i) w[i] *= factor;
  }

  void fetch(Index first, Index m, std::vector<double>& h, std::vector<double>& beta) override {
    for (Index j = first; j < m; ++j) {
      std::copy_n(h_.begin() + j * most_, j + 1, h.begin() + j * m);
      beta[static_cast<std::size_t>(j)] = static_cast<double>(beta_[static_cast<std::size_t>(j)]);
    }
  }

  void rotate(const std::vector<double>& s, Index m, Index count) override {
    constexpr Index part = 1 << 14;
    const std::vector<T> c(s.begin(), s.end());
    std::vector<T> rows(static_cast<std::size_t>(part * count));
    for (Index first = 0; first < n_; first += part) {
      const Index here = std::min(part, n_ - first);
      blas::gemm<T>(Op::none, Op::none, here, count, m, 1, v_.data() + first, n_, c.data(), m, 0, rows.data(),
                    here);
      for (Index j = 0; j < count; ++j) std::copy_n(rows.data() + j * here, here, column(j) + first);
    }
    if (m == most_) std::copy_n(column(m), n_, column(count));
  }

  std::vector<double> residuals(const std::vector<double>& theta) override {
    std::vector<double> residuals;
    T* const w = column(most_);
    for (std::size_t i = 0; i < theta.size(); ++i) {
      const T* const x = column(static_cast<Index>(i));
      multiply(x, w);
      blas::axpy<T>(n_, static_cast<T>(-theta[i]), x, 1, w, 1);
      residuals.push_back(static_cast<double>(length(w)) / static_cast<double>(length(x)));
    }
    return residuals;
  }

 private:
  T* column(Index j) { return v_.data() + j * n_; }

  T length(const T* x) const {
    double sum = 0;
    for (Index i = 0; i < n_; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    return static_cast<T>(std::sqrt(sum));
  }

  void multiply(const T* x, T* y) const {
    constexpr Index part = 1 << 12;
    parallel_for(threads_, (n_ + part - 1) / part, [&](Index p, int) {
      for (Index i = p * part; i < std::min(n_, (p + 1) * part); ++i) {
        T sum = 0;
        for (Index e = a_.begins[static_cast<std::size_t>(i)]; e < a_.begins[static_cast<std::size_t>(i) + 1];
             ++e)
          sum += a_.values[static_cast<std::size_t>(e)] * x[a_.columns[static_cast<std::size_t>(e)]];
        y[i] = sum;
      }
    });
  }

  const FullRows<T> a_;
  const Index n_, most_;
  const int threads_;
  std::vector<T> v_, h_, beta_;
};

}  // namespace

Index lanczos_vectors(Index count, Index n) {
  constexpr Index fewest = 20;
  return std::min(std::max(2 * count + 1, fewest), n);
}

template <class T>
void begin_lanczos(LanczosSpace<T>& space, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> v(static_cast<std::size_t>(space.order()));
  double square = 0;
  for (double& x : v) x = normal(random), square += x * x;
  std::vector<T> unit(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) unit[i] = static_cast<T>(v[i] / std::sqrt(square));
  space.begin(unit);
}

template <class T>
LanczosResult solve_by_lanczos(LanczosSpace<T>& space, const LanczosOptions& options) {
  return Lanczos<T>(space, options).solve();
}

template <class T>
std::unique_ptr<LanczosSpace<T>> make_host_lanczos(FullRows<T> a, Index vectors, int threads) {
  return std::make_unique<HostLanczos<T>>(std::move(a), vectors, threads);
}

#define TESSERA_INSTANTIATE(T)                                                      \
  template void begin_lanczos(LanczosSpace<T>&, std::uint64_t);                     \
  template LanczosResult solve_by_lanczos(LanczosSpace<T>&, const LanczosOptions&); \
  template std::unique_ptr<LanczosSpace<T>> make_host_lanczos(FullRows<T>, Index, int);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
