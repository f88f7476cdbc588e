// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An electron on a square lattice in a magnetic field, a complex Hermitian matrix: Landau levels.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;
using Number = std::complex<double>;

namespace {

constexpr Index m = 24, n = m * m;
constexpr double field = 2 * std::numbers::pi / m;  // the phase around a plaquette

/// 4 - hopping, on a torus, the entries of the lower triangle: a step upwards in column x has the phase field x.
tessera::CoordinateRows hamiltonian() {
  std::vector<Index> rows, columns;
  std::vector<Number> values;
  const auto hop = [&](Index to, Index from, Number value) {
    // Of an entry above the diagonal the conjugate is stored.
    rows.push_back(std::max(to, from)), columns.push_back(std::min(to, from));
    values.push_back(to >= from ? value : std::conj(value));
  };
  for (Index x = 0; x < m; ++x)
    for (Index y = 0; y < m; ++y) {
      const Index here = x + m * y;
      hop(here, here, 4);
      hop((x + 1) % m + m * y, here, -1);
      hop(x + m * ((y + 1) % m), here, -std::polar(1.0, field * double(x)));
    }
  return tessera::CoordinateRows::from_coordinates(n, rows, columns, std::span<const Number>(values));
}

}  // namespace

int main() {
  tessera::Runtime runtime;
  const auto a = tessera::CsbMatrix<Number, Number>::build(runtime, hamiltonian());
  const auto result = tessera::lobpcg(runtime, {.a = &a}, {.count = 6, .iterations = 2000});
  if (!result) return std::fprintf(stderr, "%s\n", result.status().message().c_str()), 1;

  // The lowest Landau level of a weak field B: B - B^2 / 8 on the lattice, as often as there are quanta of flux.
  const double level = field - field * field / 8, spread = result.values[5] - result.values[0];
  if (runtime.rank() == 0)
    std::printf("lowest %.8f, Landau level %.8f, spread of six states %.1e\n", result.values[0], level,
                spread);
  return std::abs(result.values[0] - level) < 1e-3 && spread < 1e-6 ? 0 : 1;
}
