// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/contraction.hpp>

namespace tessera::detail {

template <class T>
BlockSparseMatrix<T> inverse_root_terms(BlockAlgebra<T>& algebra, int order, BlockSparseMatrix<T> y) {
  const auto& c = inverse_root_coefficients;
  if (order == 2) {
    algebra.scale(c[1], y);
    return y;
  }
  if (order == 3) {
    auto w = algebra.copied(y);
    algebra.product(c[2], y, y, c[1], w);
    return w;
  }
  // By powers (Paterson and Stockmeyer 1973): the terms from the highest power on as one product.
  const auto y2 = algebra.product(1, y, y, y.layout());
  if (order <= 5) {
    auto w = algebra.sum({{c[1], &y}, {c[2], &y2}});
    if (order == 4) {
      algebra.product(c[3], y, y2, 1, w);
    } else {
      const auto high = algebra.sum({{c[3], &y}, {c[4], &y2}});
      algebra.product(1, y2, high, 1, w);
    }
    return w;
  }
  const auto y3 = algebra.product(1, y, y2, y.layout());
  auto w = algebra.sum({{c[1], &y}, {c[2], &y2}, {c[3], &y3}});
  auto high = algebra.sum({{c[4], &y}, {c[5], &y2}});
  if (order == 7) algebra.add(1, high, c[6], y3);
  algebra.product(1, y3, high, 1, w);
  return w;
}

SpectralMap inverse_root_map(int order) {
  return [order](double t) {
    double p = 0;
    for (int k = order - 1; k >= 0; --k)
      p = p * (1 - t) + inverse_root_coefficients[static_cast<std::size_t>(k)];
    // Beyond a zero of p the sign of an eigenvalue, or of a vector, would change.
    return p > 0 ? t * p * p : -1;
  };
}

namespace {

/// The image of an interval. Polynomials of low degree: enough points see their extrema.
SpectralInterval image(const SpectralMap& map, SpectralInterval of, double scale) {
  constexpr int points = 200;
  SpectralInterval found{map(scale * of.upper), map(scale * of.upper)};
  for (int k = 0; k < points; ++k) {
    const double t = map(scale * (of.lower + k * (of.upper - of.lower) / points));
    found.lower = std::min(found.lower, t);
    found.upper = std::max(found.upper, t);
  }
  return found;
}

}  // namespace

double Contraction::next_scale() {
  // Below this the unscaled step converges at its full order.
  constexpr double near = 0.05;
  if (!map_ || (within_.lower > 1 - near && within_.upper < 1 + near)) return 1;
  double best = 1, ratio = 0;
  constexpr int candidates = 300;
  for (int k = 1; k <= candidates; ++k) {
    const double scale = 3.0 * k / candidates / within_.upper;
    const SpectralInterval after = image(map_, within_, scale);
    if (after.lower > 0 && after.lower / after.upper > ratio) best = scale, ratio = after.lower / after.upper;
  }
  within_ = image(map_, within_, best);
  return best;
}

template <class T>
PositiveInterval positive_interval_of(Runtime& runtime, const BlockSparseMatrix<T>& a,
                                      double& lowest_ritz_value) {
  const auto ends_to = [&](double tolerance) {
    const ExtremalResult ends = extremal_eigenvalues<T>(runtime, {.a = a}, {.tolerance = tolerance});
    if (!ends && ends.status().code != StatusCode::iterations_exhausted) throw IterationEnded{ends.status()};
    return ends;
  };
  ExtremalResult ends = ends_to(ends_tolerance);
  // The lower end matters relative to itself.
  const auto known = [&] { return ends.lowest.bound > 0.3 * ends.lowest.value; };
  if (!known() && ends.lowest.value > 0)
    ends = ends_to(0.3 * ends.lowest.value / (ends.highest.value - ends.lowest.value));
  lowest_ritz_value = ends.lowest.value;
  constexpr double margin = 1.02;  // beyond the upper end is where steps diverge
  const double upper = margin * ends.highest.bound;
  const double least = 10 * static_cast<double>(precision<T>) * upper;
  return {std::max(known() ? ends.lowest.bound : 0.01 * ends.lowest.value, least), upper, known()};
}

template <class T>
PositiveInterval positive_interval(Runtime& runtime, const BlockSparseMatrix<T>& a, const char* stage) {
  double lowest = 0;
  const PositiveInterval found = positive_interval_of(runtime, a, lowest);
  if (!(lowest > 0) && a.rows() > 0)
    throw IterationEnded{
        {StatusCode::not_positive_definite, stage, 0, fmt::format("an eigenvalue near {:.3e}", lowest)}};
  return found;
}

#define TESSERA_INSTANTIATE(T)                                                                       \
  template BlockSparseMatrix<T> inverse_root_terms<T>(BlockAlgebra<T>&, int, BlockSparseMatrix<T>);  \
  template PositiveInterval positive_interval_of<T>(Runtime&, const BlockSparseMatrix<T>&, double&); \
  template PositiveInterval positive_interval<T>(Runtime&, const BlockSparseMatrix<T>&, const char*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
