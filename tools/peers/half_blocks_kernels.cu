// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_runtime.h>

#include "half_blocks_kernels.hpp"

namespace tessera::program {

namespace {

constexpr int threads_of_block = 256;  // the paper's vector length
constexpr int cached_entries = 256;    // its CacheSize

/// Fig. 5: a thread block has a row of blocks (transposed: a column of blocks), a thread a vector.
template <bool transposed, class V, class T>
__global__ void multiply_naive(HalfBlocksOnGpu<V> a, int columns, const T* __restrict__ x,
                               T* __restrict__ y) {
  const int j = static_cast<int>(threadIdx.x);
  if (j >= columns) return;
  const std::int64_t* const begins = transposed ? a.column_begins : a.row_begins;
  for (std::int64_t k = begins[blockIdx.x]; k < begins[blockIdx.x + 1]; ++k) {
    const HalfBlock block = a.block[transposed ? a.by_column[k] : k];
    for (std::int64_t e = block.first_entry; e < block.first_entry + block.entries; ++e) {
      const std::int64_t row = block.first_row + a.rows[e], column = block.first_column + a.columns[e];
      if (transposed && row == column) continue;
      y[(transposed ? column : row) * columns + j] +=
          static_cast<T>(a.values[e]) * x[(transposed ? row : column) * columns + j];
    }
  }
}

/// Fig. 6: a thread block has a block, its threads the products of entries and vectors.
template <bool transposed, class V, class T>
__global__ void multiply_atomic(HalfBlocksOnGpu<V> a, int columns, const T* __restrict__ x,
                                T* __restrict__ y) {
  const HalfBlock block = a.block[blockIdx.x];
  for (std::int64_t t = threadIdx.x; t < block.entries * columns; t += threads_of_block) {
    const std::int64_t e = block.first_entry + t / columns;
    const int j = static_cast<int>(t % columns);
    const std::int64_t row = block.first_row + a.rows[e], column = block.first_column + a.columns[e];
    if (transposed && row == column) continue;
    atomicAdd(y + (transposed ? column : row) * columns + j,
              static_cast<T>(a.values[e]) * x[(transposed ? row : column) * columns + j]);
  }
}

/// Fig. 7: the same in parts of a block, whose entries are read to shared memory first.
template <bool transposed, class V, class T>
__global__ void multiply_cached(HalfBlocksOnGpu<V> a, int columns, const T* __restrict__ x,
                                T* __restrict__ y) {
  __shared__ std::int64_t from[cached_entries], to[cached_entries];
  __shared__ T value[cached_entries];
  const HalfBlock block = a.block[blockIdx.x];
  for (std::int64_t begin = 0; begin < block.entries; begin += cached_entries) {
    const int count =
        static_cast<int>(block.entries - begin < cached_entries ? block.entries - begin : cached_entries);
    for (int k = static_cast<int>(threadIdx.x); k < count; k += threads_of_block) {
      const std::int64_t e = block.first_entry + begin + k;
      const std::int64_t row = block.first_row + a.rows[e], column = block.first_column + a.columns[e];
      from[k] = (transposed ? row : column) * columns;
      to[k] = transposed && row == column ? -1 : (transposed ? column : row) * columns;
      value[k] = static_cast<T>(a.values[e]);
    }
    __syncthreads();
    for (int t = static_cast<int>(threadIdx.x); t < count * columns; t += threads_of_block) {
      const int k = t / columns, j = t % columns;
      if (to[k] >= 0) atomicAdd(y + to[k] + j, value[k] * x[from[k] + j]);
    }
    __syncthreads();  // before the next part is read over this one
  }
}

template <bool transposed, class V, class T>
void launch(CUstream_st* stream, const HalfBlocksOnGpu<V>& a, HalfBlocksMethod method, int columns,
            const T* x, T* y) {
  if (a.blocks == 0) return;
  const auto rows = static_cast<unsigned>(a.block_rows), blocks = static_cast<unsigned>(a.blocks);
  switch (method) {
    case HalfBlocksMethod::naive:
      multiply_naive<transposed><<<rows, static_cast<unsigned>(columns), 0, stream>>>(a, columns, x, y);
      break;
    case HalfBlocksMethod::atomic:
      multiply_atomic<transposed><<<blocks, threads_of_block, 0, stream>>>(a, columns, x, y);
      break;
    case HalfBlocksMethod::cached:
      multiply_cached<transposed><<<blocks, threads_of_block, 0, stream>>>(a, columns, x, y);
      break;
  }
}

}  // namespace

template <class V, class T>
bool launch_half_blocks(CUstream_st* stream, const HalfBlocksOnGpu<V>& a, HalfBlocksMethod method,
                        int columns, const T* x, T* y, std::int64_t order) {
  const std::size_t bytes = sizeof(T) * static_cast<std::size_t>(order) * static_cast<std::size_t>(columns);
  if (cudaMemsetAsync(y, 0, bytes, stream) != cudaSuccess) return false;
  launch<false>(stream, a, method, columns, x, y);
  launch<true>(stream, a, method, columns, x, y);
  return cudaGetLastError() == cudaSuccess;
}

#define TESSERA_INSTANTIATE(V, T)                                                                            \
  template bool launch_half_blocks(CUstream_st*, const HalfBlocksOnGpu<V>&, HalfBlocksMethod, int, const T*, \
                                   T*, std::int64_t);
TESSERA_INSTANTIATE(double, double)
TESSERA_INSTANTIATE(float, double)
TESSERA_INSTANTIATE(float, float)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
