// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/batch/kernels/batch_device.cuh>

namespace tessera::detail::kernels::batch {

namespace {

constexpr int max_reduction_threads = 512;

/// The columns [first, n) of A lose v w^H + w v^H; y := A u of what is left.
template <class S, class Column>
__device__ void update_and_multiply(int first, int n, Column column, const S* v, const S* w, const S* u,
                                    S* y) {
  constexpr int columns = sizeof(S) > 8 ? 2 : 4;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int c = first + warp * columns; c < n; c += warps * columns) {
    S cv[columns], cw[columns], sum[columns];
    S* from[columns];
#pragma unroll
    for (int q = 0; q < columns; ++q) {
      const int k = min(c + q, n - 1);
      cv[q] = conj(v[k]);
      cw[q] = conj(w[k]);
      sum[q] = 0;
      from[q] = column(k);
    }
    const int width = min(columns, n - c);
    for (int r = first + lane; r < n; r += 32) {
      const S vr = v[r], wr = w[r], ur = u[r];
      S x[columns];
#pragma unroll
      for (int q = 0; q < columns; ++q) x[q] = from[q][r];
#pragma unroll
      for (int q = 0; q < columns; ++q) {
        x[q] -= vr * cw[q];
        x[q] -= wr * cv[q];
        sum[q] += conj(x[q]) * ur;
      }
#pragma unroll
      for (int q = 0; q < columns; ++q)
        if (q < width) from[q][r] = x[q];
    }
    const S total = warp_sums(sum);
    const int mine = lane / (32 / columns);
    if (lane % (32 / columns) == 0 && mine < width) y[c + mine] = total;
  }
}

/// One thread block a matrix.
template <class S, bool in_shared>
__global__ void __launch_bounds__(max_reduction_threads) reduction_kernel(Reduction<S> reduction) {
  using R = Real<S>;
  extern __shared__ __align__(16) unsigned char reduction_memory[];
  __shared__ ReductionShared<R> shared;
  const int n = reduction.n, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Index matrix = blockIdx.x;
  S* v = reinterpret_cast<S*>(reduction_memory);
  S *w = v + n, *u = w + n, *y = u + n;
  S* const stored = reduction.v ? reduction.v + matrix * reduction.stride_v : nullptr;
  S* const in_block = y + n;
  const int block_ld = n | 1;
  const auto column = [&](int c) {
    if constexpr (in_shared)
      return in_block + c * block_ld;
    else
      return stored + c * reduction.ldv;
  };
  const int power = load_scaled(reduction, reduction.a + matrix * reduction.stride_a, column(0),
                                in_shared ? Index(block_ld) : reduction.ldv, shared);
  if (threadIdx.x == 0) {
    reduction.exponent[matrix] = power;
    reduction.info[matrix] = shared.first_bad < n ? -(shared.first_bad + 1) : 0;
    if (reduction.progress) reduction.progress[matrix] = {0, 0, 0, 0};
  }
  for (int r = threadIdx.x; r < n; r += blockDim.x) v[r] = w[r] = S(0);
  __syncthreads();
  S tau = 0;
  for (int j = 0; j < n; ++j) {
    if (warp == 0) {
      if (j > 0) {  // w := tau y - 1/2 |tau|^2 (y^H v) v
        S dot = 0;
        for (int r = j + lane; r < n; r += 32) dot += conj(w[r]) * v[r];
        dot = warp_sum(dot);
        const R factor = R(0.5) * norm(tau) * real(dot);
        for (int r = j + lane; r < n; r += 32) w[r] = tau * w[r] - factor * v[r];
        __syncwarp();
      }
      const S cv = conj(v[j]), cw = conj(w[j]);
      S* const x = column(j);
      for (int r = j + lane; r < n; r += 32) x[r] = x[r] - v[r] * cw - w[r] * cv;
      __syncwarp();
      R beta = 0;
      tau = 0;
      if (j + 1 < n) tau = make_reflector(j + 1, n, x, u, &beta);
      if (lane == 0) {
        reduction.d[matrix * n + j] = real(x[j]);
        reduction.e[matrix * n + j] = beta;
        reduction.tau[matrix * n + j] = tau;
      }
    }
    __syncthreads();
    if (j + 1 == n) break;
    if (stored)
      for (int r = threadIdx.x; r < n; r += blockDim.x) stored[r + j * reduction.ldv] = r > j ? u[r] : S(0);
    update_and_multiply(j + 1, n, column, v, w, u, y);
    __syncthreads();
    S* const old_v = v;
    S* const old_w = w;
    v = u, w = y, u = old_v, y = old_w;
  }
}

}  // namespace

template <class S>
void launch_reduction(cudaStream_t stream, const Reduction<S>& reduction, Index count) {
  const int n = reduction.n;
  const bool in_shared = reduced_in_shared<S>(n);
  const std::size_t bytes = reduction_shared_bytes<S>(n, in_shared);
  const unsigned warps = n <= 32 ? 1 : n <= 48 ? 2 : n <= 80 ? 4 : n <= 112 ? 8 : 16;
  const auto launch = [&](auto* kernel) {
    allow_shared_memory(kernel, bytes);
    kernel<<<static_cast<unsigned>(count), 32 * warps, bytes, stream>>>(reduction);
  };
  if (in_shared)
    launch(reduction_kernel<S, true>);
  else
    launch(reduction_kernel<S, false>);
}

#define TESSERA_INSTANTIATE(T) \
  template void launch_reduction(cudaStream_t, const Reduction<DeviceScalar<T>>&, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels::batch
