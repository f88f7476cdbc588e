// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tessera::device {

inline constexpr int partial_threads = 256;

/// sums[e] := parts[0][e] + parts[1][e] + ..., in a fixed order: 32 elements for each thread block, whose
/// warps take every eighth part.
__global__ static void __launch_bounds__(partial_threads)
    add_parts_kernel(int part_count, int count, const double* __restrict__ parts, double* sums) {
  constexpr int warps = partial_threads / 32;
  __shared__ double part_sums[warps][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int e = static_cast<int>(blockIdx.x) * 32 + lane;
  double sum = 0;
  if (e < count) {
#pragma unroll 8
    for (int p = warp; p < part_count; p += warps) sum += parts[std::int64_t(p) * count + e];
  }
  part_sums[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || e >= count) return;
  for (int w = 1; w < warps; ++w) sum += part_sums[w][lane];
  sums[e] = sum;
}

inline void add_parts(cudaStream_t stream, int part_count, int count, const double* parts, double* sums) {
  if (count > 0)
    add_parts_kernel<<<static_cast<unsigned>((count + 31) / 32), partial_threads, 0, stream>>>(
        part_count, count, parts, sums);
}

}  // namespace tessera::device
