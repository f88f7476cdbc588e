// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cooperative_groups.h>

#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/dense/two_sided.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace {

constexpr int tile = 64, depth = 16, stages = 4, threads = 256;
/// One operand in shared memory: 64 x 16, contiguous along the sum. The stride is 4 modulo 16, so that the 4
/// x 4 elements that a half-warp reads at a time lie in different banks; in float so do the 8 x 4 of a warp.
constexpr int stride = depth + 4, operand_size = tile * stride;
constexpr int stage_size = 2 * operand_size;
constexpr int cluster_size = 16;
template <class T>
constexpr std::size_t shared_bytes = sizeof(T) * stages* stage_size;
static_assert(shared_bytes<float> >= sizeof(double) * tile * tile);

/// Columns of a matrix; element k of column x is data[k + x ld].
template <class T>
struct Operand {
  const T* data;
  Index ld;
  int width;  ///< columns beyond count as zero
};

template <class T>
__device__ void copy_async(T* to, const T* from, bool exists) {
  constexpr int size = sizeof(T);
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n" ::"r"(address), "l"(from), "n"(size),
               "r"(exists ? size : 0));
}
__device__ inline void commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}
__device__ inline void wait_for_oldest() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(stages - 2) : "memory");
}

/// Rows [k0, k0 + 16) of 64 columns; zero from row k_end on.
template <class T>
__device__ void fetch(const Operand<T>& operand, Index k0, Index k_end, T* place) {
#pragma unroll
  for (int i = 0; i < tile * depth / threads; ++i) {
    const int e = static_cast<int>(threadIdx.x) + i * threads, k = e % depth, x = e / depth;
    const bool exists = k0 + k < k_end && x < operand.width;
    copy_async(place + x * stride + k, exists ? operand.data + k0 + k + x * operand.ld : operand.data,
               exists);
  }
}

__device__ inline void multiply_add(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};\n"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
        "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

/// One thread's part of its block's 64 x 64 results: warp w has the rows from 32 (w % 2) and the columns from
/// 16 (w / 2) on, as 2 x 2 results of m16n8.
struct Results {
  double c[2][2][4] = {};

  /// Adds the sum over [k0, k_end) of left(k, x) right(k, y).
  template <class T>
  __device__ void add(const Operand<T>& left, const Operand<T>& right, Index k0, Index k_end, T* shared) {
    const int count = static_cast<int>((k_end - k0 + depth - 1) / depth);
    const auto fetch_stage = [&](int s) {
      T* place = shared + s % stages * stage_size;
      if (s < count) {
        fetch(left, k0 + s * depth, k_end, place);
        fetch(right, k0 + s * depth, k_end, place + operand_size);
      }
      commit();
    };
    for (int s = 0; s < stages - 1; ++s) fetch_stage(s);
    for (int s = 0; s < count; ++s) {
      wait_for_oldest();
      __syncthreads();
      fetch_stage(s + stages - 1);
      const T* place = shared + s % stages * stage_size;
      multiply(place, place + operand_size);
    }
  }

  /// Calls f(row, column, value) for each of this thread's results.
  template <class F>
  __device__ void for_each(const F& f) const {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          f(first_row() + 16 * i + lane() / 4 + (e / 2) * 8, first_col() + 8 * j + lane() % 4 * 2 + e % 2,
            c[i][j][e]);
  }

 private:
  static __device__ int lane() {
    return static_cast<int>(threadIdx.x) % 32;
  }
  static __device__ int first_row() {
    return static_cast<int>(threadIdx.x) / 32 % 2 * 32;
  }
  static __device__ int first_col() {
    return static_cast<int>(threadIdx.x) / 64 * 16;
  }

  template <class T>
  __device__ void multiply(const T* left, const T* right) {
    const int group = lane() / 4, member = lane() % 4;
    double a[2][8], b[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int e = 0; e < 8; ++e)
        a[i][e] = left[(first_row() + 16 * i + group + e % 2 * 8) * stride + e / 2 * 4 + member];
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) b[j][e] = right[(first_col() + 8 * j + group) * stride + e * 4 + member];
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j) multiply_add(c[i][j], a[i], b[j]);
  }
};

extern __shared__ double shared_memory[];

/// blockIdx.x: part of the rows; y: tile of results (those of VZ, of W); z: columns.
template <class T>
__global__ void __launch_bounds__(threads, 2)
    inner_products_kernel(MatrixView<const T> vz, MatrixView<const T> w, MatrixView<const T> y,
                          MatrixView<T> d) {
  namespace cg = cooperative_groups;
  const cg::cluster_group cluster = cg::this_cluster();
  const auto tiles = static_cast<unsigned>((vz.cols + tile - 1) / tile);
  const Index col = static_cast<Index>(blockIdx.z) * tile, cols = min(Index(tile), w.cols - col);
  const bool of_w = blockIdx.y >= tiles;
  const Index x0 = static_cast<Index>(of_w ? blockIdx.y - tiles : blockIdx.y) * tile;
  const MatrixView<const T> from = of_w ? w : vz;
  const Index width = min(Index(tile), from.cols - x0);
  const Operand<T> left{from.data + x0 * from.ld, from.ld, int(width)};
  const auto right = of_w ? Operand<T>{y.data + col * y.ld, y.ld, int(cols)}
                          : Operand<T>{w.data + col * w.ld, w.ld, int(cols)};
  // Every block of the cluster takes a whole number of steps, which may be zero.
  const Index step = (w.rows + depth * cluster_size - 1) / (depth * cluster_size) * depth;
  const Index first = min(w.rows, blockIdx.x * step), last = min(w.rows, first + step);
  Results results;
  results.add(left, right, first, last, reinterpret_cast<T*>(shared_memory));
  __syncthreads();
  asm volatile("cp.async.wait_all;\n" ::: "memory");
  __syncthreads();
  results.for_each([](int i, int j, double value) { shared_memory[i + j * tile] = value; });
  cluster.sync();
  // Each block adds up a sixteenth of the tile.
  constexpr int share = tile * tile / cluster_size;
  static_assert(share == threads);
  const int e = static_cast<int>(cluster.block_rank()) * share + static_cast<int>(threadIdx.x);
  double sum = 0;
#pragma unroll
  for (int rank = 0; rank < cluster_size; ++rank)
    sum += cluster.map_shared_rank(shared_memory, static_cast<unsigned>(rank))[e];
  const int i = e % tile, j = e / tile;
  if (i < width && j < cols) d.data[(of_w ? vz.cols : 0) + x0 + i + (col + j) * d.ld] = T(sum);
  cluster.sync();  // no block leaves while its memory is read
}

}  // namespace

template <class T>
void launch_tall_inner_products(const CudaContext& on, MatrixView<const T> vz, MatrixView<const T> w,
                                MatrixView<const T> y, MatrixView<T> d) noexcept {
  constexpr auto kernel = inner_products_kernel<T>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(shared_bytes<T>));
  cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  const auto tiles = [](Index n) { return static_cast<unsigned>((n + tile - 1) / tile); };
  const dim3 grid(cluster_size, tiles(vz.cols) + tiles(w.cols), tiles(w.cols));
  device::launch_in_clusters(on.stream, cluster_size, grid, threads, shared_bytes<T>, kernel, vz, w, y, d);
}

#define TESSERA_INSTANTIATE(T)                                                                              \
  template void launch_tall_inner_products<T>(const CudaContext&, MatrixView<const T>, MatrixView<const T>, \
                                              MatrixView<const T>, MatrixView<T>) noexcept;
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)

}  // namespace tessera::detail
