// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/batch/kernels/batch_device.cuh>

namespace tessera::detail::kernels::batch {

namespace {

constexpr int max_reduction_threads = 512;

/// The columns [first, n) of A lose v w^H + w v^H; y := A u of what is left.
template <int width, class S, class Column>
__device__ void update_and_multiply(int first, int n, Column column, const S* v, const S* w, const S* u,
                                    S* y) {
  constexpr int columns = sizeof(S) > 8 ? 2 : 4, lanes_of_sum = width / columns;
  const Team<width> team;
  for (int c = first + team.row * columns; c < n; c += team.rows * columns) {
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
    const int count = min(columns, n - c);
    for (int r = first + team.lane; r < n; r += width) {
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
        if (q < count) from[q][r] = x[q];
    }
    const S total = row_sums<width>(sum);
    const int mine = team.lane / lanes_of_sum;
    if (team.lane % lanes_of_sum == 0 && mine < count) y[c + mine] = total;
  }
}

/// One team a matrix.
template <class S, bool in_shared, int width>
__global__ void __launch_bounds__(max_reduction_threads)
    reduction_kernel(Reduction<S> reduction, Index count) {
  using R = Real<S>;
  extern __shared__ __align__(16) unsigned char reduction_memory[];
  __shared__ ReductionShared<R> shared[32 / width];
  const Team<width> team;
  // Of the rows and columns that are left.
  const int before = reduction.first, n = reduction.n - before, lane = team.lane,
            number = width < 32 ? threadIdx.x / width : 0;
  const Index task = Index(blockIdx.x) * (32 / width) + number, matrix = min(task, count - 1);
  const bool writes = task < count;
  const int block_ld = n | 1;
  S* v = reinterpret_cast<S*>(reduction_memory) + number * (4 * n + (in_shared ? n * block_ld : 0));
  S *w = v + n, *u = w + n, *y = u + n;
  S* const stored =
      reduction.v ? reduction.v + matrix * reduction.stride_v + before * (reduction.ldv + 1) : nullptr;
  S* const in_block = y + n;
  const auto column = [&](int c) {
    if constexpr (in_shared)
      return in_block + c * block_ld;
    else
      return stored + c * reduction.ldv;
  };
  if (before > 0) {
    for (int c = team.row; c < n; c += team.rows)
      for (int r = lane; r < n; r += width) column(c)[r] = stored[r + c * reduction.ldv];
  } else {
    const int power = load_scaled<width>(reduction, reduction.a + matrix * reduction.stride_a, column(0),
                                         in_shared ? Index(block_ld) : reduction.ldv, shared[number]);
    if (team.thread == 0 && writes) {
      const int bad = shared[number].first_bad;
      reduction.exponent[matrix] = power;
      reduction.info[matrix] = bad < n ? -(bad + 1) : 0;
      if (reduction.progress) reduction.progress[matrix] = {0, 0, 0, 0};
    }
  }
  for (int r = team.thread; r < n; r += team.threads) v[r] = w[r] = S(0);
  __syncthreads();
  S tau = 0;
  for (int j = 0; j < n; ++j) {
    if (team.row == 0) {
      if (j > 0) {  // w := tau y - 1/2 |tau|^2 (y^H v) v
        S dot = 0;
        for (int r = j + lane; r < n; r += width) dot += conj(w[r]) * v[r];
        dot = row_sum<width>(dot);
        const R factor = R(0.5) * norm(tau) * real(dot);
        for (int r = j + lane; r < n; r += width) w[r] = tau * w[r] - factor * v[r];
        __syncwarp();
      }
      const S cv = conj(v[j]), cw = conj(w[j]);
      S* const x = column(j);
      for (int r = j + lane; r < n; r += width) x[r] = x[r] - v[r] * cw - w[r] * cv;
      __syncwarp();
      R beta = 0;
      tau = 0;
      if (j + 1 < n) tau = make_reflector<width>(j + 1, n, x, u, &beta);
      if (lane == 0 && writes) {
        const Index place = matrix * reduction.n + before + j;
        reduction.d[place] = real(x[j]);
        reduction.e[place] = beta;
        reduction.tau[place] = tau;
      }
    }
    __syncthreads();
    if (j + 1 == n) break;
    if (stored && writes)
      for (int r = team.thread - before; r < n; r += team.threads)
        stored[r + j * reduction.ldv] = r > j ? u[r] : S(0);
    update_and_multiply<width>(j + 1, n, column, v, w, u, y);
    __syncthreads();
    S* const old_v = v;
    S* const old_w = w;
    v = u, w = y, u = old_v, y = old_w;
  }
}

}  // namespace

template <class S>
void launch_reduction(cudaStream_t stream, const Reduction<S>& reduction, Index count) {
  const int n = reduction.n - reduction.first;
  const bool in_shared = reduced_in_shared<S>(n);
  const std::size_t bytes = reduction_shared_bytes<S>(n, in_shared);
  const unsigned warps = n <= 32 ? 1 : n <= 48 ? 2 : n <= 80 ? 4 : n <= 112 ? 8 : 16;
  const auto launch = [&](auto* kernel, Index matrices) {
    allow_dynamic_memory(kernel, static_cast<std::size_t>(matrices) * bytes);
    kernel<<<blocks_for(count, matrices), 32 * warps, static_cast<std::size_t>(matrices) * bytes, stream>>>(
        reduction, count);
  };
  if (n <= 16)
    launch(reduction_kernel<S, true, 16>, 2);
  else if (in_shared)
    launch(reduction_kernel<S, true, 32>, 1);
  else
    launch(reduction_kernel<S, false, 32>, 1);
}

#define TESSERA_INSTANTIATE(T) \
  template void launch_reduction(cudaStream_t, const Reduction<DeviceScalar<T>>&, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels::batch
