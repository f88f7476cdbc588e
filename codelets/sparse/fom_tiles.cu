// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <cooperative_groups.h>

#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/codelets/sparse/kernels/fom_coefficients.hpp>
#include <tessera/codelets/sparse/kernels/multiply_csb.hpp>
#include <tessera/codelets/vectors/kernels/row_kernels.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

// T is the device's scalar type in all kernels.
template <class T>
constexpr double precision_of = std::numeric_limits<Real<T>>::epsilon();

/// In double, and back.
__device__ inline double wide(double x) {
  return x;
}
template <class R>
__device__ inline Complex<double> wide(Complex<R> x) {
  return {double(x.re), double(x.im)};
}
template <class T, class Wide>
__device__ inline T narrow(Wide x) {
  if constexpr (is_complex_scalar<T>)
    return {Real<T>(x.re), Real<T>(x.im)};
  else
    return T(x);
}
/// Re(conj(x) y): the other part of the sums that become alpha and beta is rounding.
template <class T>
__device__ inline double real_product(T x, T y) {
  return double(real(x)) * double(real(y)) + (is_complex_scalar<T> ? double(imag(x)) * double(imag(y)) : 0.0);
}

/// One cluster of thread blocks computes a tile's vectors. Its passes over a large tile are a chain of loads,
/// so the largest tile decides how long a step takes. Several blocks shorten the chain; for small tiles they
/// would only wait for each other.
unsigned blocks_of_tile(std::int64_t rows, std::int64_t tiles) {
  constexpr std::int64_t large = 512;
  return rows >= large * tiles ? 8 : 1;
}

/// The rows and the column of its cluster's tile that a thread computes.
struct TilePlace : ColumnPlace {
  std::int64_t tile;
  __device__ explicit TilePlace(int lanes_of_row) : ColumnPlace(lanes_of_row) {
    const auto cluster = cooperative_groups::this_cluster();
    tile = blockIdx.x / cluster.num_blocks();
    group += groups * static_cast<int>(cluster.block_rank());
    groups *= static_cast<int>(cluster.num_blocks());
  }
};

/// column_sum over the blocks of a cluster, in the order of their numbers.
__device__ inline double tile_sum(double value, const TilePlace& place, double* shared) {
  const double of_block = column_sum(value, place, shared);
  const auto cluster = cooperative_groups::this_cluster();
  if (cluster.num_blocks() == 1) return of_block;
  cluster.sync();  // shared[0], shared[1], ... have the columns' sums of each block
  double sum = 0;
  for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank)
    sum += cluster.map_shared_rank(shared, rank)[place.column];
  cluster.sync();  // no block continues or ends while others read its memory
  return sum;
}

/// The recurrences of all tiles. dimension: k of a tile and column whose recurrence continues, -1 - k of one
/// whose Krylov space is invariant.
template <class T>
struct FomState {
  std::int64_t rows, tiles;
  int columns, steps, lanes;
  FomShift shift;
  const std::uint32_t* begins;
  const T* r;
  std::int64_t ldr;
  T* w;
  std::int64_t ldw;
  T* basis;
  double *alpha, *beta;
  std::int32_t* dimension;

  __device__ T* v(int j) const { return basis + j * rows * columns; }
  /// Of step j.
  __device__ double& alpha_of(int j, const TilePlace& place) const {
    return alpha[(j * tiles + place.tile) * columns + place.column];
  }
  __device__ double& beta_of(int j, const TilePlace& place) const {
    return beta[(j * tiles + place.tile) * columns + place.column];
  }
};

/// v_1 := r / ||r||.
template <class T>
__global__ void __launch_bounds__(column_threads) begin_kernel(const __grid_constant__ FomState<T> s) {
  __shared__ double shared[column_threads];
  const TilePlace place(s.lanes);
  const bool counts = place.column < s.columns;
  const std::int64_t first = s.begins[place.tile], end = s.begins[place.tile + 1];
  double squares = 0;
  if (counts)
#pragma unroll 4
    for (std::int64_t i = first + place.group; i < end; i += place.groups) {
      const T element = s.r[i * s.ldr + place.column];
      squares += real_product(element, element);
    }
  const double norm = sqrt(tile_sum(squares, place, shared));
  if (!counts) return;
  const double factor = norm == 0 ? 0 : 1 / norm;
  T* const v = s.v(0);
  for (std::int64_t i = first + place.group; i < end; i += place.groups)
    v[i * s.columns + place.column] =
        factor == 0 ? T(0) : narrow<T>(wide(s.r[i * s.ldr + place.column]) * factor);
  if (place.group == 0) {
    s.beta_of(0, place) = norm;
    s.dimension[place.tile * s.columns + place.column] = norm == 0 ? -1 : 0;
  }
}

/// Step j, when w is K v_{j+1} (steps count from 0, the basis from 1): alpha, the next direction and its
/// norm.
template <class T>
__global__ void __launch_bounds__(column_threads) step_kernel(const __grid_constant__ FomState<T> s, int j) {
  __shared__ double shared[column_threads];
  const TilePlace place(s.lanes);
  const bool counts = place.column < s.columns;
  const std::int64_t first = s.begins[place.tile] + place.group, end = s.begins[place.tile + 1];
  const std::int32_t old = counts ? s.dimension[place.tile * s.columns + place.column] : 0;
  const T *const v = s.v(j) + place.column, *const before = j > 0 ? s.v(j - 1) + place.column : nullptr;
  T* const w = s.w + place.column;
  double product = 0;
  if (counts)
#pragma unroll 4
    for (std::int64_t i = first; i < end; i += place.groups)
      product += real_product(v[i * s.columns], w[i * s.ldw]);
  const double alpha = tile_sum(product, place, shared);

  double squares = 0;
  const double beta = counts && j > 0 ? s.beta_of(j, place) : 0;
  if (counts)
#pragma unroll 4
    for (std::int64_t i = first; i < end; i += place.groups) {
      auto value = wide(w[i * s.ldw]) - alpha * wide(v[i * s.columns]);
      if (before) value -= beta * wide(before[i * s.columns]);
      const T rounded = narrow<T>(value);
      w[i * s.ldw] = rounded;
      squares += real_product(rounded, rounded);
    }
  const double norm = sqrt(tile_sum(squares, place, shared));
  if (!counts) return;

  double largest = fabs(alpha);
  for (int i = 0; i < j; ++i)
    largest = fmax(largest, fmax(fabs(s.alpha_of(i, place)), s.beta_of(i + 1, place)));
  const bool ended = old < 0 || fom_invariant(norm, largest, precision_of<T>);
  const double factor = ended ? 0 : 1 / norm;
  if (j + 1 < s.steps) {
    T* const next = s.v(j + 1) + place.column;
    for (std::int64_t i = first; i < end; i += place.groups)
      next[i * s.columns] = factor == 0 ? T(0) : narrow<T>(wide(w[i * s.ldw]) * factor);
  }
  if (place.group == 0) {
    s.alpha_of(j, place) = alpha;
    s.beta_of(j + 1, place) = norm;
    s.dimension[place.tile * s.columns + place.column] = old < 0 ? old : ended ? -2 - j : j + 1;
  }
}

/// y, in beta's memory from beta_1 on, and the dimension.
template <class T>
__global__ void __launch_bounds__(column_threads) solve_kernel(const __grid_constant__ FomState<T> s) {
  const std::int64_t stride = s.tiles * s.columns,
                     e = std::int64_t(blockIdx.x) * column_threads + threadIdx.x;
  if (e >= stride) return;
  const std::int32_t signed_k = s.dimension[e], k = signed_k < 0 ? -1 - signed_k : signed_k;
  s.dimension[e] = k;
  double* const y = s.beta + stride + e;
  if (k > 0) fom_solution(k, s.alpha + e, y, stride, s.shift, s.beta[e], precision_of<T>, y);
}

/// w := V y.
template <class T>
__global__ void __launch_bounds__(column_threads)
    combine_kernel(const __grid_constant__ FomState<T> s, int width) {
  const TilePlace place(s.lanes);
  const std::int64_t first = s.begins[place.tile] + place.group, end = s.begins[place.tile + 1];
  const bool counts = place.column < s.columns;
  const int k = counts ? s.dimension[place.tile * s.columns + place.column] : 0;
  for (std::int64_t i = first; i < end; i += place.groups) {
    T* const w = s.w + i * s.ldw;
    if (counts) {
      decltype(wide(T())) sum = 0;
#pragma unroll 4
      for (int j = 0; j < k; ++j) sum += s.beta_of(j + 1, place) * wide(s.v(j)[i * s.columns + place.column]);
      w[place.column] = narrow<T>(sum);
    }
    for (int c = s.columns + place.column; c < width; c += place.lanes) w[c] = T(0);
  }
}

}  // namespace

}  // namespace device

template <class V, class T>
void run(const DeviceContext& on, const FomTiles<V, T>& task) {
  using namespace device;
  if (task.tiles == 0) return;
  const auto r = *task.r;
  const auto w = *task.w;
  const FomScratch parts = fom_scratch(task.rows, task.tiles, task.columns, task.steps, sizeof(T));
  char* const memory = task.scratch.view().data();
  using S = DeviceScalar<T>;
  const FomState<S> state{task.rows,
                          task.tiles,
                          task.columns,
                          task.steps,
                          threads_of_row(task.columns),
                          task.shift,
                          task.begins.view().data(),
                          device_cast(r.data),
                          r.ld,
                          device_cast(w.data),
                          w.ld,
                          reinterpret_cast<S*>(memory + parts.basis),
                          reinterpret_cast<double*>(memory + parts.alpha),
                          reinterpret_cast<double*>(memory + parts.beta),
                          reinterpret_cast<std::int32_t*>(memory + parts.dimension)};
  const auto tiles = static_cast<unsigned>(task.tiles);
  const unsigned blocks = blocks_of_tile(task.rows, task.tiles);
  const auto launch_on_tiles = [&](auto kernel, auto... arguments) {
    launch_in_clusters(on.stream, blocks, tiles * blocks, column_threads, 0, kernel, state, arguments...);
  };
  launch_on_tiles(begin_kernel<S>);
  for (int j = 0; j < task.steps; ++j) {
    if (task.stored()) {
      const auto* const basis = reinterpret_cast<const T*>(state.basis + j * task.rows * task.columns);
      const DeviceVectors<const T> v{basis, task.columns, task.rows, task.columns};
      const DeviceVectors<T> product{w.data, w.ld, task.rows, task.columns};
      launch_multiply_csb<V, T>(on.stream, task.shape, task.columns, Store::overwrite, Store::overwrite,
                                task.index.view().data(), v, v, product, product);
    } else {
      la::set_zero(on, w.block(0, 0, task.columns, task.rows));
    }
    launch_on_tiles(step_kernel<S>, j);
  }
  const std::int64_t solutions = task.tiles * task.columns;
  solve_kernel<S><<<static_cast<unsigned>((solutions + column_threads - 1) / column_threads), column_threads,
                    0, on.stream>>>(state);
  launch_on_tiles(combine_kernel<S>, static_cast<int>(w.rows));
}

#define TESSERA_DEFINE(V, T)            \
  TESSERA_DEFINE_ON_GPU(FomTiles<V, T>) \
  template void run<V, T>(const DeviceContext&, const FomTiles<V, T>&);
TESSERA_FOR_STORED(TESSERA_DEFINE)

}  // namespace tessera::detail
