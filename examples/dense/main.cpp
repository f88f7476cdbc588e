// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// All eigenpairs of a dense symmetric matrix that the program makes: a(i, j) = min(i, j) + 1, the covariance
// of a random walk after i + 1 and j + 1 steps. Its eigenvalues are 1 / (4 sin^2(theta_k / 2)) with
// theta_k = (2 k - 1) pi / (2 n + 1), k = 1, ..., n.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;

int main() {
  const Index n = 400;
  // Column-major, as in LAPACK. Only the lower triangle is read; here both are set for the check below.
  std::vector<double> a(n * n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) a[i + j * n] = static_cast<double>(std::min(i, j) + 1);

  // A Runtime starts StarPU on all cores and GPUs. One at a time, for as many solves as wanted.
  tessera::Runtime runtime;
  std::vector<double> z(n * n);  // column k: the eigenvector of values[k]
  const auto r = tessera::eigensolve(runtime, {.a = {a.data(), n, n}, .vectors_to = {z.data(), n}});
  if (!r) {  // a numerical failure: it has a stage and an index
    std::fprintf(stderr, "%s\n", r.status().message().c_str());
    return 1;
  }

  // Eigenvalues are ascending: values[0] belongs to k = n. A is positive definite: its norm is the largest.
  const double norm = r.values[n - 1], eps = tessera::precision<double>;
  double value_error = 0, residual = 0, overlap = 0;
  for (Index k = 0; k < n; ++k) {
    const double theta = (2.0 * (n - k) - 1) * std::numbers::pi / (2.0 * n + 1);
    value_error = std::max(value_error, std::abs(r.values[k] - 0.25 / std::pow(std::sin(theta / 2), 2)));
    for (Index i = 0; i < n; ++i) {  // (A z_k - lambda_k z_k)_i, and the inner product of z_k with z_i
      double row = -r.values[k] * z[i + k * n], product = i == k ? -1 : 0;
      for (Index j = 0; j < n; ++j)
        row += a[i + j * n] * z[j + k * n], product += z[j + i * n] * z[j + k * n];
      residual = std::max(residual, std::abs(row));
      overlap = std::max(overlap, std::abs(product));
    }
  }
  std::printf("n = %ld: smallest %.12f, largest %.6f\n", static_cast<long>(n), r.values[0], norm);
  std::printf("errors over n eps: values %.3f, residual %.3f (both over the norm), orthogonality %.3f\n",
              value_error / (n * norm * eps), residual / (n * norm * eps), overlap / (n * eps));
  const bool right =
      value_error < 30 * n * norm * eps && residual < 30 * n * norm * eps && overlap < 30 * n * eps;
  return right ? 0 : 1;
}
