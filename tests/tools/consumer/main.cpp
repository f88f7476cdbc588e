// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program as a user of an installed Tessera writes it: the eigenvalues of the second difference matrix,
// which are 2 - 2 cos(k pi / (n + 1)). all_headers.hpp includes every installed header.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "all_headers.hpp"

int main() {
  tessera::RuntimeOptions options;
  options.cores = 1;
  options.gpus = 0;
  tessera::Runtime runtime(options);
  std::printf("tessera %s on StarPU %s, %d worker\n", runtime.info().version.c_str(),
              runtime.info().starpu_version.c_str(), runtime.workers());
  if (runtime.info().version != TESSERA_VERSION_STRING || runtime.workers() != 1) return 1;

  const tessera::Index n = 60;
  std::vector<double> a(n * n), z(n * n), w(n);
  for (tessera::Index i = 0; i < n; ++i) {
    a[i + i * n] = 2;
    if (i + 1 < n) a[i + 1 + i * n] = -1;
  }
  const tessera::Status status = tessera::eigensolve<double>(runtime, tessera::Uplo::lower, n, a.data(), n,
                                                             nullptr, 0, w.data(), z.data(), n);
  if (!status) return 2;
  double largest = 0;
  for (tessera::Index k = 0; k < n; ++k)
    largest = std::fmax(largest, std::fabs(w[k] - (2 - 2 * std::cos((k + 1) * std::numbers::pi / (n + 1)))));
  std::printf("largest error of an eigenvalue: %.2e\n", largest);
  return largest < 1e-13 ? 0 : 3;
}
