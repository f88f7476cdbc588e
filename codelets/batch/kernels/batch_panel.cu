// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cooperative_groups.h>

#include <tessera/codelets/batch/kernels/batch_device.cuh>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::detail::kernels::batch {

namespace {

constexpr Index multiprocessors = 132;
constexpr int group = 4;  ///< columns that a warp reads together

/// What a panel needs in shared memory: v and w of its columns, sums of each warp, a column and a product.
template <class S>
struct PanelMemory {
  S *v, *w, *sums, *x, *y;
  __device__ PanelMemory(unsigned char* memory, int n, int width, int warps)
      : v(reinterpret_cast<S*>(memory)),
        w(v + n * width),
        sums(w + n * width),
        x(sums + n * warps),
        y(x + n) {}
};
template <class S>
constexpr std::size_t panel_bytes(Index n, int width, int warps) {
  return static_cast<std::size_t>(n * (2 * width + warps + 2)) * sizeof(S);
}

/// sums := the parts of A v that come from the columns of warp number `warp` of `warps` in the lower triangle
/// of rows and columns [first, n).
template <class S>
__device__ void multiply_lower(int first, int n, const S* a, Index lda, const S* v, S* sums, int warp,
                               int warps) {
  const int lane = threadIdx.x % 32;
  for (int r = first + lane; r < n; r += 32) sums[r] = S(0);
  __syncwarp();
  for (int c = first + warp * group; c < n; c += warps * group) {
    S factor[group], dot[group], next[group];
    const S* const from = a + c * lda;
    const auto fetch = [&](int r) {
#pragma unroll
      for (int q = 0; q < group; ++q) next[q] = r < n && r >= c + q && c + q < n ? from[r + q * lda] : S(0);
    };
    fetch(c + lane);
#pragma unroll
    for (int q = 0; q < group; ++q) {
      factor[q] = c + q < n ? v[c + q] : S(0);
      dot[q] = 0;
    }
    for (int r = c + lane; r < n; r += 32) {
      S x[group];
#pragma unroll
      for (int q = 0; q < group; ++q) x[q] = next[q];
      fetch(r + 32);
      const S here = v[r];
      S sum = sums[r];
#pragma unroll
      for (int q = 0; q < group; ++q) {
        sum += x[q] * factor[q];
        if (r > c + q) dot[q] += conj(x[q]) * here;
      }
      sums[r] = sum;
    }
    const S total = row_sums<32>(dot);
    __syncwarp();
    const int mine = lane / (32 / group);
    if (lane % (32 / group) == 0 && c + mine < n) sums[c + mine] += total;
    __syncwarp();
  }
}

/// Sum over a thread block of what each thread has; all threads call it. shared: one for each warp.
template <class R>
__device__ R block_sum(R x, R* shared) {
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
  __syncthreads();
  R sum = 0;
  for (unsigned i = 0; i < blockDim.x / 32; ++i) sum += shared[i];
  return sum;
}

/// The columns [begin, end) of A, of which later columns are without the updates of the panel: d, e, tau,
/// reflectors; and to `pair` [V W], to `swapped` [W V], with A := A - [V W] [W V]^H for what is behind the
/// panel. A cluster of thread blocks has a matrix: its blocks share the product with A, and do the rest each
/// by itself, with the same results.
/// Source: LAPACK latrd.
template <class S>
__global__ void __launch_bounds__(512, sizeof(S) > 8 ? 1 : 2)
    panel_kernel(Reduction<S> reduction, int begin, int width, S* pairs, S* swapped) {
  using R = Real<S>;
  extern __shared__ __align__(16) unsigned char panel_memory[];
  __shared__ S in_v[32], in_w[32];
  __shared__ R partial[32];
  __shared__ S shared_tau;
  const int n = reduction.n, lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int end = min(begin + width, n);
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  const int blocks = static_cast<int>(cluster.num_blocks()), block = static_cast<int>(cluster.block_rank());
  const bool writes = block == 0;
  const auto meet = [&] {
    if (blocks > 1)
      cluster.sync();
    else
      __syncthreads();
  };
  const Index matrix = blockIdx.x / blocks, ld = reduction.ldv;
  S* const a = reduction.v + matrix * reduction.stride_v;
  const PanelMemory<S> memory(panel_memory, n, width, warps);
  for (int j = begin; j < end; ++j) {
    const int before = j - begin;
    S* const v = memory.v + before * n;
    S* const w = memory.w + before * n;
    for (int r = j + threadIdx.x; r < n; r += blockDim.x) {
      S x = a[r + j * ld];
      for (int q = 0; q < before; ++q)
        x -=
            memory.v[r + q * n] * conj(memory.w[j + q * n]) + memory.w[r + q * n] * conj(memory.v[j + q * n]);
      memory.x[r] = x;
    }
    __syncthreads();
    if (warp == 0) {
      R beta = 0;
      const S tau = j + 1 < n ? make_reflector<32>(j + 1, n, memory.x, v, &beta) : S(0);
      if (lane == 0) shared_tau = tau;
      if (lane == 0 && writes) {
        reduction.d[matrix * n + j] = real(memory.x[j]);
        reduction.e[matrix * n + j] = beta;
        reduction.tau[matrix * n + j] = tau;
      }
    }
    __syncthreads();
    if (j + 1 == n) return;
    multiply_lower(j + 1, n, a, ld, v, memory.sums + warp * n, block * warps + warp, blocks * warps);
    // W^H v and V^H v of the columns before.
    for (int q = warp; q < 2 * before; q += warps) {
      const S* const other = q < before ? memory.w + q * n : memory.v + (q - before) * n;
      S dot = 0;
      for (int r = j + 1 + lane; r < n; r += 32) dot += conj(other[r]) * v[r];
      dot = warp_sum(dot);
      if (lane == 0) (q < before ? in_w[q] : in_v[q - before]) = dot;
    }
    __syncthreads();
    for (int r = j + 1 + threadIdx.x; r < n; r += blockDim.x) {
      S y = 0;
      for (int k = 0; k < warps; ++k) y += memory.sums[k * n + r];
      memory.x[r] = y;
    }
    meet();
    // No block reads this column of A any more.
    if (writes)
      for (int r = threadIdx.x; r < n; r += blockDim.x) a[r + j * ld] = r > j ? v[r] : S(0);
    R dot = 0;
    for (int r = j + 1 + threadIdx.x; r < n; r += blockDim.x) {
      S y = 0;
      if (blocks == 1) y = memory.x[r];
      for (int k = 0; k < blocks && blocks > 1; ++k) y += cluster.map_shared_rank(memory.x, k)[r];
      for (int q = 0; q < before; ++q) y -= memory.v[r + q * n] * in_w[q] + memory.w[r + q * n] * in_v[q];
      memory.y[r] = y;
      dot += real(conj(y) * v[r]);
    }
    const S tau = shared_tau;
    const R factor = R(0.5) * norm(tau) * block_sum(dot, partial);
    for (int r = j + 1 + threadIdx.x; r < n; r += blockDim.x) w[r] = tau * memory.y[r] - factor * v[r];
    meet();  // the others have read memory.x
  }
  if (!writes) return;
  const Index columns = 2 * width;
  S* const pair = pairs + matrix * columns * n;
  S* const other = swapped + matrix * columns * n;
  for (int q = 0; q < width; ++q)
    for (int r = end + threadIdx.x; r < n; r += blockDim.x) {
      pair[r + q * n] = other[r + (width + q) * n] = memory.v[r + q * n];
      pair[r + (width + q) * n] = other[r + q * n] = memory.w[r + q * n];
    }
}

/// Both triangles of the matrices, scaled, to reduction.v.
template <class S>
__global__ void __launch_bounds__(512) load_kernel(Reduction<S> reduction) {
  __shared__ ReductionShared<Real<S>> shared;
  const Index matrix = blockIdx.x;
  const int power = load_scaled<32>(reduction, reduction.a + matrix * reduction.stride_a,
                                    reduction.v + matrix * reduction.stride_v, reduction.ldv, shared);
  if (threadIdx.x > 0) return;
  reduction.exponent[matrix] = power;
  reduction.info[matrix] = shared.first_bad < reduction.n ? -(shared.first_bad + 1) : 0;
}

/// Columns of a panel, and warps of its thread block; none if no panel fits into shared memory.
struct PanelShape {
  int width = 0, warps = 0;
};
template <class S>
PanelShape panel_shape(Index n) {
  for (const PanelShape shape : {PanelShape{16, 16}, PanelShape{8, 16}, PanelShape{4, 16}, PanelShape{2, 8}})
    if (panel_bytes<S>(n, shape.width, shape.warps) <= 224 * 1024) return shape;
  return {};
}

}  // namespace

template <class S>
bool reduced_by_panels(Index n) {
  return !reduced_in_shared<S>(n) && panel_shape<S>(n).width > 0;
}

template <class T>
std::size_t panels_bytes(Index n, Index count) {
  const PanelShape shape = panel_shape<DeviceScalar<T>>(n);
  Taker part{nullptr};
  part.take<T>(4 * shape.width * n * count);
  return part.at;
}

template <class T>
void launch_reduction_by_panels(cudaStream_t stream, cublasHandle_t cublas,
                                const Reduction<DeviceScalar<T>>& reduction, Index count, void* memory) {
  using S = DeviceScalar<T>;
  const Index n = reduction.n;
  const PanelShape shape = panel_shape<S>(n);
  const std::size_t bytes = panel_bytes<S>(n, shape.width, shape.warps);
  const Index columns = 2 * shape.width;
  T* const pairs = static_cast<T*>(memory);
  T* const swapped = pairs + columns * n * count;
  // As many blocks for a matrix as leave none of the GPU idle, up to the size of cluster that every GPU has.
  unsigned blocks = 1;
  while (blocks < 8 && 2 * blocks * count <= multiprocessors && n >= 256) blocks *= 2;
  load_kernel<<<static_cast<unsigned>(count), 512, 0, stream>>>(reduction);
  allow_dynamic_memory(panel_kernel<S>, bytes);
  for (Index begin = 0; begin < n; begin += shape.width) {
    // With one block of threads for each matrix the rest is faster in shared memory, once it fits.
    if (blocks == 1 && reduced_in_shared<S>(n - begin)) {
      Reduction<S> rest = reduction;
      rest.first = static_cast<int>(begin);
      return launch_reduction(stream, rest, count);
    }
    launch_in_clusters(stream, blocks, static_cast<unsigned>(count) * blocks,
                       static_cast<unsigned>(32 * shape.warps), bytes, panel_kernel<S>, reduction,
                       static_cast<int>(begin), shape.width, device_cast(pairs), device_cast(swapped));
    const Index end = begin + shape.width, rest = n - end;
    if (rest <= 0) break;
    T* const a = reinterpret_cast<T*>(reduction.v) + end + end * reduction.ldv;
    cublas::gemm_strided_batched<T>(cublas, Op::none, Op::adjoint, rest, rest, columns, T(-1), pairs + end, n,
                                    columns * n, swapped + end, n, columns * n, T(1), a, reduction.ldv,
                                    reduction.stride_v, count);
  }
}

#define TESSERA_INSTANTIATE(T)                                              \
  template bool reduced_by_panels<DeviceScalar<T>>(Index);                  \
  template std::size_t panels_bytes<T>(Index, Index);                       \
  template void launch_reduction_by_panels<T>(cudaStream_t, cublasHandle_t, \
                                              const Reduction<DeviceScalar<T>>&, Index, void*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels::batch
