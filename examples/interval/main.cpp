// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Eigenvalues in an interval: the vibrations of a chain of n equal masses and springs between two walls. Its
// frequencies are omega_k = 2 sin(k pi / (2 n + 2)); those up to 1 are a third of all.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;

int main() {
  const Index n = 600;
  std::vector<double> a(n * n);  // omega^2 x = A x: the second differences
  for (Index i = 0; i < n; ++i) {
    a[i + i * n] = 2;
    if (i + 1 < n) a[i + 1 + i * n] = -1;  // the lower triangle is enough
  }
  const auto omega = [&](Index k) { return 2 * std::sin(k * std::numbers::pi / (2.0 * n + 2)); };

  // No Runtime is named: the call takes the one that is alive, or else makes one for the process.
  // The eigenvalues in (above, upto], and their vectors. How many there are, the result tells: it has the
  // vectors, in slabs of columns.
  const double above = 0.25, upto = 1.0;
  const auto r = tessera::eigensolve({.a = {a.data(), n, n}}, {.range = tessera::value_range(above, upto)});
  if (!r) {
    std::fprintf(stderr, "%s\n", r.status().message().c_str());
    return 1;
  }

  Index expected = 0, first = 0;  // by the closed form
  for (Index k = 1; k <= n; ++k) {
    const double square = omega(k) * omega(k);
    first += square <= above;
    expected += square > above && square <= upto;
  }
  double error = 0, residual = 0;
  for (Index k = 0; k < static_cast<Index>(r.values.size()); ++k)
    error = std::max(error, std::abs(r.values[k] - std::pow(omega(first + k + 1), 2)));
  for (Index s = 0; s < r.vectors.count(); ++s) {
    // Columns first_col(s), ... in host memory, also if they were made on a GPU.
    const tessera::HostAccess access(r.vectors.slab(s), tessera::HostAccess::Mode::read);
    const auto z = access.matrix<const double>();
    for (Index j = 0; j < z.cols; ++j)
      for (Index i = 0; i < n; ++i) {
        const double left = i > 0 ? z(i - 1, j) : 0, right = i + 1 < n ? z(i + 1, j) : 0;
        const double value = r.values[r.vectors.first_col(s) + j];
        residual = std::max(residual, std::abs(2 * z(i, j) - left - right - value * z(i, j)));
      }
  }
  std::printf("%zu eigenvalues in (%g, %g], the first is number %ld\n", r.values.size(), above, upto,
              static_cast<long>(r.first));
  std::printf("largest error of a value %.1e, largest residual %.1e\n", error, residual);
  const bool right = static_cast<Index>(r.values.size()) == expected && r.first == first && error < 1e-11 &&
                     residual < 1e-11 && expected > 0;
  return right ? 0 : 1;
}
