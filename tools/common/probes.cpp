// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "probes.hpp"

#include <algorithm>
#include <cmath>

#include <tessera/matgen.hpp>

namespace tessera::program {

namespace {

using Complex = std::complex<double>;

void add_up(Runtime& runtime, Vector& x) {
  runtime.all_reduce_sum(reinterpret_cast<double*>(x.data()), 2 * static_cast<Index>(x.size()));
}

/// y(rows) += part op(tile) x, one tile at (row, col).
template <class T>
void add_tile(const MatrixView<T>& tile, Index row, Index col, bool diagonal, Shape shape, bool adjoint,
              const Vector& x, Vector& y) {
  for (Index c = 0; c < tile.cols; ++c)
    for (Index r = shape != Shape::general && diagonal ? c : 0; r < tile.rows; ++r) {
      const Complex element(tile(r, c));
      const Index i = row + r, j = col + c;
      if (shape == Shape::hermitian && i == j) {
        y[i] += element.real() * x[j];
        continue;
      }
      if (shape == Shape::hermitian || !adjoint) y[i] += element * x[j];
      if (shape == Shape::hermitian || adjoint) y[j] += std::conj(element) * x[i];
    }
}

}  // namespace

template <class T>
Vector times(Runtime& runtime, const TiledMatrix<T>& a, Shape shape, bool adjoint, const Vector& x) {
  Vector y(static_cast<std::size_t>(adjoint ? a.cols() : a.rows()));
  for (Index j = 0; j < a.col_tiles(); ++j)
    for (Index i = shape == Shape::general ? 0 : j; i < a.row_tiles(); ++i) {
      if (!a.tile(i, j).local()) continue;
      const HostAccess access(a.tile(i, j), HostAccess::Mode::read);
      add_tile(access.matrix<T>(), i * a.layout().tile_rows, j * a.layout().tile_cols, i == j, shape, adjoint,
               x, y);
    }
  add_up(runtime, y);
  return y;
}

template <class T>
Vector times(Runtime& runtime, const ColumnSlabs<T>& z, const Vector& x) {
  Vector y(static_cast<std::size_t>(z.rows()));
  for (Index s = 0; s < z.count(); ++s) {
    if (!z.slab(s).local()) continue;
    const HostAccess access(z.slab(s), HostAccess::Mode::read);
    add_tile(access.matrix<T>(), 0, z.first_col(s), false, Shape::general, false, x, y);
  }
  add_up(runtime, y);
  return y;
}

Vector random_vector(Index n, std::uint64_t seed) {
  Vector x(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) x[i] = random_uniform(seed, 7, i, 0);
  return x;
}

double distance(const Vector& x, const Vector& y) {
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = std::abs(x[i] - y[i]);
    worst = std::isnan(difference) ? HUGE_VAL : std::max(worst, difference);
  }
  return worst;
}

double largest(const Vector& x) {
  double result = 0;
  for (const Complex& element : x) result = std::max(result, std::abs(element));
  return result;
}

template <class T>
Invariants invariants(Runtime& runtime, const BandMatrix<T>& band) {
  double sums[2] = {0, 0};
  for (Index s = 0; s < band.segment_count(); ++s) {
    if (!band.segment(s).local()) continue;
    const HostAccess access(band.segment(s), HostAccess::Mode::read);
    const MatrixView<T> view = access.matrix<T>();
    for (Index j = 0; j < view.cols; ++j) {
      const Index below = std::min(band.bandwidth(), band.size() - 1 - (band.first_col(s) + j));
      sums[0] += static_cast<double>(real_part(view(0, j)));
      for (Index k = 0; k <= below; ++k) sums[1] += (k == 0 ? 1 : 2) * std::norm(Complex(view(k, j)));
    }
  }
  runtime.all_reduce_sum(sums, 2);
  return {sums[0], sums[1]};
}

template <class R>
Invariants invariants(const std::vector<R>& d, const std::vector<R>& e) {
  Invariants result;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const double a = static_cast<double>(d[i]), b = i + 1 < d.size() ? static_cast<double>(e[i]) : 0;
    result.trace += a;
    result.square += a * a + 2 * b * b;
  }
  return result;
}

template <class T>
double tridiagonal_residual(Runtime& runtime, const std::vector<RealOf<T>>& d,
                            const std::vector<RealOf<T>>& e, const std::vector<RealOf<T>>& values,
                            const ColumnSlabs<T>& z) {
  const Index n = z.rows();
  double worst = 0;
  for (Index s = 0; s < z.count(); ++s) {
    if (!z.slab(s).local()) continue;
    const HostAccess access(z.slab(s), HostAccess::Mode::read);
    const MatrixView<T> view = access.matrix<T>();
    for (Index k = 0; k < view.cols; ++k) {
      const double lambda = static_cast<double>(values[z.first_col(s) + k]);
      const auto entry = [&](Index i) { return Complex(view(i, k)); };
      for (Index i = 0; i < n; ++i) {
        Complex sum = (static_cast<double>(d[i]) - lambda) * entry(i);
        if (i > 0) sum += static_cast<double>(e[i - 1]) * entry(i - 1);
        if (i + 1 < n) sum += static_cast<double>(e[i]) * entry(i + 1);
        worst = std::isnan(std::abs(sum)) ? HUGE_VAL : std::max(worst, std::abs(sum));
      }
    }
  }
  runtime.all_reduce_max(&worst, 1);
  return worst;
}

#define TESSERA_INSTANTIATE(T)                                                                          \
  template Vector times<T>(Runtime&, const TiledMatrix<T>&, Shape, bool, const Vector&);                \
  template Vector times<T>(Runtime&, const ColumnSlabs<T>&, const Vector&);                             \
  template Invariants invariants<T>(Runtime&, const BandMatrix<T>&);                                    \
  template double tridiagonal_residual<T>(Runtime&, const std::vector<RealOf<T>>&,                      \
                                          const std::vector<RealOf<T>>&, const std::vector<RealOf<T>>&, \
                                          const ColumnSlabs<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE
template Invariants invariants<float>(const std::vector<float>&, const std::vector<float>&);
template Invariants invariants<double>(const std::vector<double>&, const std::vector<double>&);

}  // namespace tessera::program
