// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// Thread blocks on row-major vectors of up to 32 columns: neighbouring threads have neighbouring columns.
namespace tessera::device {

/// Of a thread block; a power of two, at least 32.
inline constexpr int column_threads = 256;

/// The threads of a row: a power of two, not less than the columns.
inline int threads_of_row(int columns) {
  int lanes = 1;
  while (lanes < columns) lanes *= 2;
  return lanes;
}

/// What a thread has: column `column` of every `groups`-th row from number `group` on.
struct ColumnPlace {
  int lanes, column, group, groups;
  __device__ explicit ColumnPlace(int lanes_of_row)
      : lanes(lanes_of_row),
        column(static_cast<int>(threadIdx.x) & (lanes_of_row - 1)),
        group(static_cast<int>(threadIdx.x) / lanes_of_row),
        groups(static_cast<int>(blockDim.x) / lanes_of_row) {}
};

/// The sum of `value` over all threads of the same column, for all of them, in an order that the number of
/// threads fixes. shared: an element for each thread.
__device__ inline double column_sum(double value, const ColumnPlace& place, double* shared) {
  __syncthreads();
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = static_cast<int>(blockDim.x) / 2; half >= place.lanes; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  return shared[place.column];
}

}  // namespace tessera::device
