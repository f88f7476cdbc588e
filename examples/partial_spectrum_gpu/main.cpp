// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The lowest eigenpairs of a matrix that lies in the memory of a GPU; the vectors get there, too. The matrix
// is the tensor product of two chains: eigenvalues 4 - 2 cos(i pi / (m + 1)) - 2 cos(j pi / (m + 1)).
#include <cstdio>

#ifndef EXAMPLE_WITH_CUDA  // CMake has not found the CUDA toolkit
int main() {
  std::puts("built without CUDA's runtime: nothing to show");
  return 77;  // CTest: skipped
}
#else
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <cuda_runtime.h>

#include <tessera/tessera.hpp>

using tessera::Index;

int main() {
  const Index m = 30, n = m * m, wanted = 40;
  // First the Runtime, then memory on the GPU: when StarPU starts on a machine for the first time it measures
  // the buses, and resets the GPUs.
  tessera::Runtime runtime;
  if (runtime.first_gpu() < 0) {
    std::puts("no GPU is in use here: nothing to show");
    return 77;
  }
  std::vector<double> a(n * n), z(n * wanted);
  for (Index k = 0; k < n; ++k) {
    a[k + k * n] = 4;
    if ((k + 1) % m != 0) a[k + 1 + k * n] = -1;
    if (k + m < n) a[k + m + k * n] = -1;
  }
  double *gpu_a = nullptr, *gpu_z = nullptr;
  const std::size_t bytes_a = a.size() * sizeof(double), bytes_z = z.size() * sizeof(double);
  if (cudaSetDevice(runtime.first_gpu()) != cudaSuccess || cudaMalloc(&gpu_a, bytes_a) != cudaSuccess ||
      cudaMalloc(&gpu_z, bytes_z) != cudaSuccess ||
      cudaMemcpy(gpu_a, a.data(), bytes_a, cudaMemcpyHostToDevice) != cudaSuccess) {
    std::puts("no memory on the GPU");
    return 1;
  }
  // What kernels of one's own write to the matrix must be complete here: wait for their stream.
  cudaDeviceSynchronize();
  const auto r = tessera::eigensolve(runtime, {.a = {gpu_a, n, n}, .vectors_to = {gpu_z, n}},
                                     {.range = tessera::index_range(0, wanted)});
  if (!r) {
    std::fprintf(stderr, "%s\n", r.status().message().c_str());
    return 1;
  }
  cudaMemcpy(z.data(), gpu_z, bytes_z, cudaMemcpyDeviceToHost);
  cudaFree(gpu_a), cudaFree(gpu_z);

  std::vector<double> exact;
  const auto part = [&](Index i) { return 2 - 2 * std::cos((i + 1) * std::numbers::pi / (m + 1)); };
  for (Index k = 0; k < n; ++k) exact.push_back(part(k % m) + part(k / m));
  std::sort(exact.begin(), exact.end());
  double error = 0, residual = 0;
  for (Index k = 0; k < wanted; ++k) {
    error = std::max(error, std::abs(r.values[k] - exact[k]));
    const double* x = &z[k * n];
    for (Index i = 0; i < n; ++i) {
      double row = (4 - r.values[k]) * x[i];
      if (i % m > 0) row -= x[i - 1];
      if ((i + 1) % m > 0) row -= x[i + 1];
      if (i >= m) row -= x[i - m];
      if (i + m < n) row -= x[i + m];
      residual = std::max(residual, std::abs(row));
    }
  }
  std::printf("%s: lowest %ld of %ld, largest error of a value %.1e, largest residual %.1e\n",
              runtime.info().gpu_model.c_str(), static_cast<long>(wanted), static_cast<long>(n), error,
              residual);
  return error < 1e-11 && residual < 1e-11 ? 0 : 1;
}
#endif
