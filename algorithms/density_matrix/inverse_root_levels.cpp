// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>

#include <tessera/algorithms/density_matrix/inverse_root_levels.hpp>

namespace tessera::detail {

namespace {

using Cubic = std::array<double, 4>;

double value(const Cubic& q, double y) noexcept {
  return q[0] + y * (q[1] + y * (q[2] + y * q[3]));
}

/// Newton's interpolation of y^{-1/2} in Chebyshev's four points, as powers of y.
Cubic interpolated(const SpectralInterval& y) {
  std::array<double, 4> points, differences;
  for (int k = 0; k < 4; ++k) {
    const double node = std::cos((2 * k + 1) * std::numbers::pi / 8);
    points[k] = (y.upper + y.lower + (y.upper - y.lower) * node) / 2;
    differences[k] = 1 / std::sqrt(points[k]);
  }
  for (int order = 1; order < 4; ++order)
    for (int k = 3; k >= order; --k)
      differences[k] = (differences[k] - differences[k - 1]) / (points[k] - points[k - order]);
  Cubic q{differences[3], 0, 0, 0};
  for (int k = 2; k >= 0; --k) {  // q (y - point) + difference
    for (int power = 3; power > 0; --power) q[power] = q[power - 1] - points[k] * q[power];
    q[0] = differences[k] - points[k] * q[0];
  }
  return q;
}

/// (s y)^{-1/2} sqrt(s) to third order around s y = 1, s y at most 2.
Cubic taylor(const SpectralInterval& y) {
  const double s = 2 / (y.lower + y.upper), root = std::sqrt(s);
  // 1 - x/2 + 3 x^2/8 - 5 x^3/16, x = s y - 1
  return {root * 35 / 16, -root * s * 35 / 16, root * s * s * 21 / 16, -root * s * s * s * 5 / 16};
}

/// The values of y q(y)^2.
SpectralInterval mapped(const SpectralInterval& y, const Cubic& q) {
  constexpr int samples = 4000;
  SpectralInterval found{1e300, -1e300};
  for (int k = 0; k <= samples; ++k) {
    const double at = y.lower + (y.upper - y.lower) * k / samples, q_at = value(q, at);
    found.lower = std::min(found.lower, at * q_at * q_at);
    found.upper = std::max(found.upper, at * q_at * q_at);
  }
  return found;
}

}  // namespace

std::vector<RootLevel> inverse_root_levels(SpectralInterval y, double tolerance) {
  constexpr std::size_t most = 60;
  constexpr double near = 4;  // interpolations are positive and good up to this ratio of the ends
  std::vector<RootLevel> levels;
  while (levels.size() < most) {
    const double missing = std::max(1 - y.lower, y.upper - 1);
    if (missing <= tolerance) break;
    // (1 + e) (1 - e / 2)^2 = 1 - 3 e^2 / 4 + e^3 / 4
    const bool linear = missing * missing <= tolerance;
    levels.push_back({linear                     ? Cubic{1.5, -0.5, 0, 0}
                      : y.upper < near * y.lower ? interpolated(y)
                                                 : taylor(y),
                      linear});
    if (linear) break;
    y = mapped(y, levels.back().q);
  }
  return levels;
}

}  // namespace tessera::detail
