// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/codelets/common/device_launch.cuh>

/// What kernels on row-major vectors share: loops over their elements, sums over columns, and sums of the
/// parts that thread blocks leave.
namespace tessera::detail::device {

/// Threads of a block on vectors of up to 32 columns: a power of two, at least 32. Neighbouring threads have
/// neighbouring columns.
inline constexpr int column_threads = 256;

/// The threads of a row: a power of two, not less than the columns.
inline int threads_of_row(int columns) {
  int lanes = 1;
  while (lanes < columns) lanes *= 2;
  return lanes;
}

/// The elements of a thread: column `column` of every `groups`-th row from number `group` on.
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

inline constexpr int partial_threads = 256;

/// parts[0][e] + parts[1][e] + ..., in a fixed order, the elements of a column-major matrix of `rows` rows in sums: 32
/// elements for each thread block, whose warps take every eighth part.
[[maybe_unused]] __global__ static void __launch_bounds__(partial_threads)
    add_parts_kernel(int part_count, int count, const double* __restrict__ parts, double* sums, int rows,
                     int ld) {
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
  sums[e % rows + e / rows * ld] = sum;
}

inline void add_parts(cudaStream_t stream, int part_count, int count, const double* parts, double* sums,
                      int rows, int ld) {
  if (count > 0)
    add_parts_kernel<<<static_cast<unsigned>((count + 31) / 32), partial_threads, 0, stream>>>(
        part_count, count, parts, sums, rows, ld);
}
/// Of a list.
inline void add_parts(cudaStream_t stream, int part_count, int count, const double* parts, double* sums) {
  add_parts(stream, part_count, count, parts, sums, count, count);
}

inline constexpr int element_threads = 256;

/// change(column, row) for all elements of `width` x `rows`, columns next to each other.
template <class Change>
__global__ void __launch_bounds__(element_threads)
    each_element_kernel(Index width, Index count, Change change) {
  for (Index e = Index(blockIdx.x) * element_threads + threadIdx.x; e < count;
       e += Index(gridDim.x) * element_threads)
    change(static_cast<int>(e % width), e / width);
}

template <class Change>
void for_elements_of_rows(cudaStream_t stream, Index width, Index rows, const Change& change) {
  if (width * rows > 0)
    each_element_kernel<<<blocks_for(width * rows, 4 * element_threads, full_grid), element_threads, 0,
                          stream>>>(width, width * rows, change);
}

}  // namespace tessera::detail::device
