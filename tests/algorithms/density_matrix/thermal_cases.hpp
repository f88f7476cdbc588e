// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <vector>

#include "density_cases.hpp"

/// The Fermi function of eigenvalues that are known, and matrices without a gap.
namespace tessera::density_test {

inline double fermi(double x) {
  return 1 / (1 + std::exp(x));
}

/// What the eigenvalues have at a mu.
struct ThermalNumbers {
  double electrons = 0, energy = 0, entropy = 0;
  double electrons_by_potential = 0;  ///< d electrons / d mu
};

template <class Real>
ThermalNumbers thermal_numbers(const std::vector<Real>& values, double mu, double occupation, double kt) {
  ThermalNumbers sum;
  const auto x_log_x = [](double x) { return x > 0 ? x * std::log(x) : 0; };
  for (const Real value : values) {
    const double e = double(value), f = fermi((e - mu) / kt), hole = fermi((mu - e) / kt);
    sum.electrons += occupation * f;
    sum.energy += occupation * f * e;
    sum.entropy -= occupation * (x_log_x(f) + x_log_x(hole));
    sum.electrons_by_potential += occupation * f * hole / kt;
  }
  return sum;
}

/// mu by bisection.
template <class Real>
double exact_potential(const std::vector<Real>& values, double electrons, double occupation, double kt) {
  double lower = double(values.front()) - 100 * kt - 1, upper = double(values.back()) + 100 * kt + 1;
  for (int k = 0; k < 200; ++k) {
    const double mu = (lower + upper) / 2;
    (thermal_numbers(values, mu, occupation, kt).electrons < electrons ? lower : upper) = mu;
  }
  return (lower + upper) / 2;
}

/// Hopping -1 around a ring; in complex types with a flux through it, so that H is not real.
template <class T>
test::Matrix<T> metallic_ring(Index sites, double flux = 0.3) {
  test::Matrix<T> ring(sites, sites);
  for (Index i = 0; i < sites; ++i) {
    const Index next = (i + 1) % sites;
    if constexpr (is_complex<T>)
      ring(next, i) = T(std::polar(RealOf<T>(-1), RealOf<T>(0)) *
                        std::polar(RealOf<T>(1), RealOf<T>(flux / double(sites))));
    else
      ring(next, i) = T(-1);
    ring(i, next) = conjugate(ring(next, i));
  }
  return ring;
}

}  // namespace tessera::density_test
