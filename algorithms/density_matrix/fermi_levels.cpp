// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/density_matrix/fermi_levels.hpp>

namespace tessera::detail {

namespace {

/// How far mu may move from one level to the next, in units of 2 kT of the former: the poles come nearer to the
/// spectrum with it.
constexpr double farthest_move = 1.2;

/// Of q = exp(-2 |y|), the smaller of f / (1 - f) and its inverse.
double entropy_of_ratio(double q) noexcept {
  return q > 0 ? std::log1p(q) - std::log(q) * q / (1 + q) : 0;
}

double power(double x, int k) noexcept {
  double result = 1;
  for (; k > 0; --k) result *= x;
  return result;
}

}  // namespace

double entropy_of(double y) noexcept {
  return entropy_of_ratio(std::exp(-2 * std::abs(y)));
}

double FermiLevel::moved(double a, double mu) const noexcept {
  const double t = a * stretch, by = std::tanh((mu - former_potential) / (2 * former_temperature));
  return (t - by) / (1 - by * t);
}

double FermiLevel::tanh_at(double a, double mu) const noexcept {
  if (first()) {
    const double e = (spectrum.upper + spectrum.lower) / 2 + a * (spectrum.upper - spectrum.lower) / 2;
    return std::tanh((e - mu) / (2 * temperature));
  }
  const double u = moved(a, mu);
  if (factor == 1) return u;
  const double up = power(1 + u, factor), down = power(1 - u, factor);
  return (up - down) / (up + down);
}

double FermiLevel::entropy_at(double a, double mu) const noexcept {
  if (first()) {
    const double e = (spectrum.upper + spectrum.lower) / 2 + a * (spectrum.upper - spectrum.lower) / 2;
    return entropy_of((e - mu) / (2 * temperature));
  }
  const double u = std::abs(moved(a, mu));
  return entropy_of_ratio(power((1 - u) / (1 + u), factor));
}

SpectralInterval FermiLevel::potentials() const noexcept {
  // Beyond these all states are full, or empty, to rounding.
  if (first()) return {spectrum.lower - 40 * temperature, spectrum.upper + 40 * temperature};
  const double most = 2 * farthest_move * former_temperature;
  return {former_potential - most, former_potential + most};
}

bool FermiLevel::reaches(double mu) const noexcept {
  const SpectralInterval ends = potentials();
  const double margin = 0.01 * (ends.upper - ends.lower);
  return mu < ends.lower + margin || mu > ends.upper - margin;
}

std::vector<double> FermiLevel::coefficients(double mu) const {
  const auto f = [&](double a) { return tanh_at(a, mu); };
  Index count = 2 * split.degree() + 32;
  for (;;) {
    auto c = chebyshev_coefficients(f, count, count + count / 2);
    const Index degree = chebyshev_degree(c, tolerance);
    if (degree < count - 8 || count > 4000) {
      c.resize(static_cast<std::size_t>(degree + 1));
      return c;
    }
    count *= 2;
  }
}

namespace {

/// With its split, for a mu where the polynomial's degree is high: in the middle of the spectrum, and not moved.
FermiLevel with_split(FermiLevel level) {
  const double mu =
      level.first() ? (level.spectrum.lower + level.spectrum.upper) / 2 : level.former_potential;
  level.split = {8, 7};
  level.split = ChebyshevSplit::of_degree(static_cast<Index>(level.coefficients(mu).size()) - 1);
  return level;
}

}  // namespace

std::vector<FermiLevel> fermi_levels(SpectralInterval spectrum, double temperature, double tolerance,
                                     double rounding, double stretch) {
  const double half_width = (spectrum.upper - spectrum.lower) / 2;
  std::vector<FermiLevel> best;
  Index fewest = 0;
  for (const int factor : {4, 6, 8}) {
    double hot = temperature;
    for (Index later = 0;; ++later, hot *= factor) {
      // The first level's polynomial has a degree of about this times ln(1 / tolerance) / 3.
      const double steepness = half_width / (2 * hot);
      if (steepness > 60) continue;
      // An error of T grows by at most the factor from level to level.
      double share =
          tolerance / static_cast<double>(later + 1) / std::pow(factor, static_cast<double>(later));
      std::vector<FermiLevel> levels;
      FermiLevel level{.temperature = hot, .spectrum = spectrum, .tolerance = std::max(share, rounding)};
      levels.push_back(with_split(level));
      Index products = levels.front().split.products();
      for (Index k = 0; k < later; ++k) {
        share *= factor;
        level.former_temperature = level.temperature;
        level.temperature = k + 1 == later ? temperature : level.temperature / factor;
        level.factor = factor;
        level.stretch = stretch;
        level.tolerance = std::max(share, rounding);
        levels.push_back(with_split(level));
        products += levels.back().split.products();
      }
      if (best.empty() || products < fewest) best = std::move(levels), fewest = products;
      if (steepness < 2) break;
    }
  }
  return best;
}

FermiLevel moving_level(double temperature, SpectralInterval spectrum, double tolerance, double stretch) {
  FermiLevel level{.temperature = temperature,
                   .former_temperature = temperature,
                   .factor = 1,
                   .spectrum = spectrum,
                   .stretch = stretch,
                   .tolerance = tolerance};
  level.split = ChebyshevSplit::of_degree(3);
  return level;
}

double chemical_potential_of(const std::function<double(double)>& electrons, double wanted, double tolerance,
                             SpectralInterval within, std::optional<double> former) {
  const auto first_above = [&](double number) {
    double lower = within.lower, upper = within.upper;
    for (int k = 0; k < 80; ++k) {
      const double mu = (lower + upper) / 2;
      (electrons(mu) < number ? lower : upper) = mu;
    }
    return (lower + upper) / 2;
  };
  const double least = first_above(wanted - tolerance), most = first_above(wanted + tolerance),
               middle = first_above(wanted);
  // Only where there is a choice: elsewhere what may be missed need not be missed.
  if (!former || !(least < *former && *former < most)) return former ? middle : (least + most) / 2;
  return *former;
}

}  // namespace tessera::detail
