// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>

#include <tessera/algorithms/density_matrix/inverse_root_levels.hpp>

namespace tessera::detail {

namespace {

using Coefficients = std::array<double, 7>;

double value(const Coefficients& q, double y) noexcept {
  double sum = 0;
  for (std::size_t power = q.size(); power-- > 0;) sum = sum * y + q[power];
  return sum;
}

/// Newton's interpolation of y^{-1/2} in degree + 1 of Chebyshev's points, as powers of y.
Coefficients interpolated(const SpectralInterval& y, int degree) {
  std::array<double, 7> points{}, differences{};
  const auto count = static_cast<std::size_t>(degree) + 1;
  for (std::size_t k = 0; k < count; ++k) {
    const double node =
        std::cos((2.0 * static_cast<double>(k) + 1) * std::numbers::pi / (2.0 * static_cast<double>(count)));
    points[k] = (y.upper + y.lower + (y.upper - y.lower) * node) / 2;
    differences[k] = 1 / std::sqrt(points[k]);
  }
  for (std::size_t order = 1; order < count; ++order)
    for (std::size_t k = count; k-- > order;)
      differences[k] = (differences[k] - differences[k - 1]) / (points[k] - points[k - order]);
  Coefficients q{};
  for (std::size_t k = count; k-- > 0;) {  // q (y - point) + difference
    for (std::size_t power = count - 1; power > 0; --power) q[power] = q[power - 1] - points[k] * q[power];
    q[0] = differences[k] - points[k] * q[0];
  }
  return q;
}

/// (s y)^{-1/2} sqrt(s) to third order around s y = 1, s y at most 2.
Coefficients taylor(const SpectralInterval& y) {
  const double s = 2 / (y.lower + y.upper), root = std::sqrt(s);
  // 1 - x/2 + 3 x^2/8 - 5 x^3/16, x = s y - 1
  return {root * 35 / 16, -root * s * 35 / 16, root * s * s * 21 / 16, -root * s * s * s * 5 / 16};
}

/// The values of y q(y)^2.
SpectralInterval mapped(const SpectralInterval& y, const Coefficients& q) {
  constexpr int samples = 4000;
  SpectralInterval found{1e300, -1e300};
  for (int k = 0; k <= samples; ++k) {
    const double at = y.lower + (y.upper - y.lower) * k / samples, q_at = value(q, at);
    found.lower = std::min(found.lower, at * q_at * q_at);
    found.upper = std::max(found.upper, at * q_at * q_at);
  }
  return found;
}

double distance_from_1(const SpectralInterval& y) noexcept {
  return std::max(1 - y.lower, y.upper - 1);
}

}  // namespace

std::vector<RootLevel> inverse_root_levels(SpectralInterval y, double tolerance) {
  constexpr std::size_t most = 60;
  constexpr double near = 4;  // interpolations are positive and good up to this ratio of the ends
  std::vector<RootLevel> levels;
  while (levels.size() < most) {
    const double missing = distance_from_1(y);
    if (missing <= tolerance) break;
    // (1 + e) (1 - e / 2)^2 = 1 - 3 e^2 / 4 + e^3 / 4
    if (missing * missing <= tolerance) {
      levels.push_back({{1.5, -0.5}, 1});
      break;
    }
    const bool fast = y.upper < near * y.lower;
    // One level alone, if it is enough.
    if (fast && levels.empty()) {
      const Coefficients q = interpolated(y, 6);
      if (distance_from_1(mapped(y, q)) <= tolerance) {
        levels.push_back({q, 6});
        break;
      }
    }
    levels.push_back({fast ? interpolated(y, 3) : taylor(y), 3});
    y = mapped(y, levels.back().q);
  }
  return levels;
}

}  // namespace tessera::detail
