// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program that uses a test matrix with known eigenvalues from the installed tessera::matgen.
#include <cmath>
#include <cstdio>
#include <vector>

#include <tessera/eigensolve.hpp>
#include <tessera/matgen.hpp>

int main() {
  const tessera::Index n = 40;
  const auto matrix = tessera::MatrixGenerator<double>::make("toeplitz", n);
  std::vector<double> a(n * n);
  matrix.fill(0, 0, n, n, a.data(), n);
  const auto r = tessera::eigensolve({.a = {a.data(), n, n}}, {.vectors = false});
  if (!r) return 1;
  const auto exact = matrix.exact_eigenvalues();
  if (!exact) return 2;
  double largest = 0;
  for (tessera::Index k = 0; k < n; ++k) largest = std::fmax(largest, std::fabs(r.values[k] - (*exact)[k]));
  std::printf("largest error of an eigenvalue: %.2e\n", largest);
  return largest < 1e-12 ? 0 : 3;
}
