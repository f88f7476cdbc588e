// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// LOBPCG that is watched, stopped and taken up again: a particle in the plane, H = -1/2 Laplacian + (x^2 +
// 4 y^2) / 2 on a grid, as a sparse matrix. The Hamiltonian is a sum of one for x and one for y: its
// energies are the sums of theirs, which a dense solve finds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;

namespace {

constexpr Index m = 60, n = m * m;
constexpr double h = 12.0 / (m + 1);  // from -6 to 6

double position(Index i) {
  return -6 + h * static_cast<double>(i + 1);
}

/// Energies of -1/2 d^2/dx^2 + (omega x)^2 / 2.
std::vector<double> energies(tessera::Runtime& runtime, double omega) {
  std::vector<double> a(m * m);
  for (Index i = 0; i < m; ++i) {
    a[i + i * m] = 1 / (h * h) + std::pow(omega * position(i), 2) / 2;
    if (i + 1 < m) a[i + 1 + i * m] = -0.5 / (h * h);
  }
  return tessera::eigensolve(runtime, {.a = {a.data(), m, m}}, {.vectors = false}).values;
}

/// The entries of the lower triangle of H, point (i, j) of the grid as number i + j m.
tessera::CoordinateRows hamiltonian() {
  std::vector<Index> rows, columns;
  std::vector<double> values;
  const auto entry = [&](Index row, Index column, double value) {
    rows.push_back(row), columns.push_back(column), values.push_back(value);
  };
  for (Index k = 0; k < n; ++k) {
    const double x = position(k % m), y = position(k / m);
    entry(k, k, 2 / (h * h) + (x * x + 4 * y * y) / 2);
    if (k % m > 0) entry(k, k - 1, -0.5 / (h * h));
    if (k >= m) entry(k, k - m, -0.5 / (h * h));
  }
  return tessera::CoordinateRows::from_coordinates(n, rows, columns, values);
}

}  // namespace

int main() {
  tessera::Runtime runtime;
  const auto a = tessera::CsbMatrix<double, double>::build(runtime, hamiltonian());
  const Index count = 5;
  tessera::LobpcgOptions options{.count = count};

  // A look every ten iterations; enough when the residuals are within 100 tolerances.
  options.monitor = [](const tessera::LobpcgStep& step) {
    if (step.iteration % 10 == 0)
      std::printf("  iteration %3ld: %ld converged, lowest %.8f, largest residual %.1e tolerances\n",
                  static_cast<long>(step.iteration), static_cast<long>(step.converged), step.values[0],
                  step.largest_residual);
    return step.largest_residual > 100;
  };
  const auto rough = tessera::lobpcg(runtime, {.a = &a}, options);
  if (rough.status().code != tessera::StatusCode::stopped) return 1;

  // To the end, from the vectors that there are.
  options.monitor = {};
  const auto r = tessera::lobpcg(
      runtime, {.a = &a, .guess = &rough.vectors, .guess_count = rough.vectors.width()}, options);
  if (!r) {
    std::fprintf(stderr, "%s\n", r.status().message().c_str());
    return 1;
  }
  std::printf("stopped after %ld iterations, %ld more to the end\n", static_cast<long>(rough.iterations),
              static_cast<long>(r.iterations));

  std::vector<double> exact;
  for (const double ex : energies(runtime, 1))
    for (const double ey : energies(runtime, 2)) exact.push_back(ex + ey);
  std::sort(exact.begin(), exact.end());
  double error = 0;
  for (Index k = 0; k < count; ++k) error = std::max(error, std::abs(r.values[k] - exact[k]));
  std::printf("energies %.6f %.6f %.6f ..., largest error %.1e\n", r.values[0], r.values[1], r.values[2],
              error);
  return error < 1e-7 && r.converged == count ? 0 : 1;
}
