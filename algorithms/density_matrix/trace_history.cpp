// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/algorithms/density_matrix/trace_history.hpp>

namespace tessera::detail {

namespace {

double value(const StepPolynomial& c, double x) noexcept {
  return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
}
double slope(const StepPolynomial& c, double x) noexcept {
  return c[1] + x * (2 * c[2] + x * (3 * c[3] + x * 4 * c[4]));
}

/// The smaller x with x - x^2 = a, a at most 1/4.
double lower_root(double a) noexcept {
  return (1 - std::sqrt(std::max(0.0, 1 - 4 * a))) / 2;
}

}  // namespace

double TraceHistory::mapped(double x, std::size_t steps) const noexcept {
  for (std::size_t k = 0; k < steps; ++k) x = value(steps_[k].polynomial, x);
  return x;
}

double TraceHistory::middle() const noexcept {
  double lower = 0, upper = 1;
  for (int k = 0; k < 60; ++k) {
    const double x = (lower + upper) / 2;
    (mapped(x, steps_.size()) < 0.5 ? lower : upper) = x;
  }
  return (lower + upper) / 2;
}

double TraceHistory::unmapped(double y, std::size_t steps) const noexcept {
  const double middle = this->middle(), at_middle = mapped(middle, steps), side = y < at_middle ? -1 : 1;
  const auto beyond = [&](double distance) {
    return side * (mapped(middle + side * distance, steps) - y) >= 0;
  };
  // Stretched steps fold the ends of the spectrum: the nearest crossing counts.
  const double most = side < 0 ? middle : 1 - middle;
  double lower = 0, upper = 1e-15;
  while (upper < most && !beyond(upper)) lower = upper, upper *= 1.2;
  upper = std::min(upper, most);
  for (int k = 0; k < 60; ++k) {
    const double distance = (lower + upper) / 2;
    (beyond(distance) ? upper : lower) = distance;
  }
  return middle + side * upper;
}

double TraceHistory::chemical_potential() const {
  return energy(middle());
}

double TraceHistory::resolution() const {
  double x = middle(), total = 1;
  for (const Step& step : steps_) {
    total *= slope(step.polynomial, x);
    x = value(step.polynomial, x);
  }
  return 0.5 * (spectrum_.upper - spectrum_.lower) / std::max(std::abs(total), 1e-300);
}

GapBounds TraceHistory::gap(double slack, double noise) const {
  // In x: no state between `empty_below` and `full_above`, from iterates whose spectrum leaves the middle free.
  double empty_below = 1, full_above = 0;
  // Other iterates may have had another gap in the middle.
  const double mu = middle();
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const double v = steps_[k].found.v();
    if (!(v < 0.25)) continue;
    const double y = lower_root(v), below = unmapped(y, k), above = unmapped(1 - y, k);
    if (!(below < mu && mu < above)) continue;
    empty_below = std::min(empty_below, below);
    full_above = std::max(full_above, above);
  }
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  GapBounds found{{unknown, unknown}, {unknown, unknown}};
  if (!(empty_below < full_above)) return found;
  // One of the two states next to the middle is at least this near to it; where the other cannot be, it is that. After
  // a step that folds the ends of the spectrum, others may be nearer.
  double lumo = 0, homo = 1;
  for (std::size_t k = 0; k < steps_.size() && steps_[k].keeps_order; ++k) {
    const Idempotency& found_here = steps_[k].found;
    const double unsure = 10 * found_here.rounding + noise;
    const double surely = found_here.v_squared - unsure, w = found_here.w + unsure;
    if (!(w > 0) || !(surely > 0)) continue;
    const double near = std::min(surely / w, 0.25), y = lower_root(near);
    const double e = mapped(empty_below, k), f = mapped(full_above, k);
    if (!(e < 0.5 && f > 0.5)) continue;
    if (near > f - f * f) lumo = std::max(lumo, std::min(unmapped(y, k), empty_below));
    if (near > e - e * e) homo = std::min(homo, std::max(unmapped(1 - y, k), full_above));
  }
  found.homo = {energy(homo) - slack, energy(full_above) + slack};
  found.lumo = {energy(empty_below) - slack, energy(lumo) + slack};
  return found;
}

}  // namespace tessera::detail
