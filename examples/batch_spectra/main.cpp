// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Many small problems at once: an electron on a cubic lattice that hops from a site to its neighbours. A cell has
// 3 x 3 x 3 sites, and each k-point of a grid of 12 x 12 x 12 has a complex Hermitian Hamiltonian of order 27, with
// the energies -2 sum_d cos((k_d + 2 pi m_d) / 3), m_d = 0, 1, 2.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;
using Complex = std::complex<double>;

namespace {

constexpr Index side = 3, n = side * side * side;
constexpr Index grid = 12, count = grid * grid * grid;

/// The k-point of a number: phases from a cell to the next ones.
std::array<double, 3> k_point(Index number) {
  const auto phase = [](Index i) { return 2 * std::numbers::pi * (static_cast<double>(i) + 0.5) / grid; };
  return {phase(number % grid), phase(number / grid % grid), phase(number / (grid * grid))};
}

/// The lower triangle of a Hamiltonian, column-major.
void hamiltonian(const std::array<double, 3>& k, Complex* h) {
  Index step = 1;
  for (int d = 0; d < 3; ++d, step *= side)
    for (Index site = 0; site < n; ++site) {
      const bool last = site / step % side == side - 1;  // its neighbour is in the next cell
      const Index other = last ? site - (side - 1) * step : site + step;
      const Complex hop = last ? -std::polar(1.0, k[d]) : -1.0;
      h[std::max(site, other) + std::min(site, other) * n] = site > other ? hop : std::conj(hop);
    }
}

std::vector<double> energies(const std::array<double, 3>& k) {
  std::vector<double> e;
  const auto energy = [&](int d, Index m) {
    return -2 * std::cos((k[d] + 2 * std::numbers::pi * static_cast<double>(m)) / side);
  };
  for (Index m = 0; m < n; ++m)
    e.push_back(energy(0, m % side) + energy(1, m / side % side) + energy(2, m / (side * side)));
  std::sort(e.begin(), e.end());
  return e;
}

/// The largest entry of H Z - Z E of a k-point.
double residual(const Complex* h, const Complex* z, const double* e) {
  double largest = 0;
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) {
      Complex sum = -e[j] * z[i + j * n];
      for (Index l = 0; l < n; ++l) sum += (i >= l ? h[i + l * n] : std::conj(h[l + i * n])) * z[l + j * n];
      largest = std::max(largest, std::abs(sum));
    }
  return largest;
}

}  // namespace

int main() {
  tessera::Runtime runtime;
  // One Hamiltonian directly after the other, and so are values and vectors.
  std::vector<Complex> h(n * n * count), z(n * n * count);
  for (Index k = 0; k < count; ++k) hamiltonian(k_point(k), &h[n * n * k]);
  const auto r = tessera::eigensolve_batch(runtime, {.a = {h.data(), n, count}, .vectors_to = {z.data(), n}});
  for (const tessera::BatchFailure& failure : r.failures)  // the other matrices have their results
    std::fprintf(stderr, "matrix %ld has failed\n", static_cast<long>(failure.matrix));
  if (!r) return 1;

  double error = 0, largest = 0;
  for (Index k = 0; k < count; ++k) {
    const auto exact = energies(k_point(k));
    for (Index j = 0; j < n; ++j) error = std::max(error, std::abs(r.values[n * k + j] - exact[j]));
    largest = std::max(largest, residual(&h[n * n * k], &z[n * n * k], &r.values[n * k]));
  }
  // Half of all states are occupied.
  std::vector<double> all = r.values;
  std::sort(all.begin(), all.end());
  double energy = 0;
  for (std::size_t i = 0; i < all.size() / 2; ++i) energy += all[i];
  std::printf("%ld Hamiltonians of order %ld, energies from %.4f to %.4f\n", static_cast<long>(count),
              static_cast<long>(n), all.front(), all.back());
  std::printf("energy of a site %.6f, largest error %.1e, largest residual %.1e\n",
              energy / static_cast<double>(n * count), error, largest);
  return error < 1e-12 && largest < 1e-12 ? 0 : 1;
}
