// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cuda/std/limits>

#include <tessera/codelets/batch/kernels/batch_device.cuh>

namespace tessera::detail::kernels::batch {

namespace {

/// The places of the n values d[i lanes] in ascending order, and the values themselves. One warp.
template <class R>
__device__ void store_values(const Tridiagonal<R>& t, bool good, int exponent, R* w, int* place) {
  const int n = t.n;
  for (int i = threadIdx.x; i < n; i += 32) {
    const R mine = t.d[i * t.lanes];
    int rank = 0;
    for (int k = 0; k < n; ++k) {
      const R other = t.d[k * t.lanes];
      rank += other < mine || (other == mine && k < i);
    }
    if (!good) rank = i;
    place[i] = rank;
    w[rank] = good ? ldexp(mine, exponent) : cuda::std::numeric_limits<R>::quiet_NaN();
  }
}

/// A warp takes `lanes` matrices, a lane each.
template <class R, bool store>
__global__ void __launch_bounds__(32) iteration_kernel(Iteration<R> iteration, int round) {
  extern __shared__ __align__(16) unsigned char iteration_memory[];
  const int n = iteration.n, lanes = iteration.lanes, lane = threadIdx.x;
  const Index first = Index(blockIdx.x) * lanes;
  R* const d = reinterpret_cast<R*>(iteration_memory);
  R* const e = d + Index(n) * lanes;
  const int matrices = static_cast<int>(min(Index(lanes), iteration.count - first));
  Progress progress{0, 0, 0, 1};
  if (lane < matrices) progress = iteration.progress[first + lane];
  const bool open = progress.ended == 0;
  if (__ballot_sync(~0u, open) == 0) return;
#pragma unroll 4
  for (int k = lane; k < n * matrices; k += 32) {
    d[k % n * lanes + k / n] = iteration.d[first * n + k];
    e[k % n * lanes + k / n] = iteration.e[first * n + k];
  }
  __syncwarp();
  const Index matrix = first + min(lane, matrices - 1);
  const int mine = min(lane, lanes - 1);
  const Tridiagonal<R> own{d + mine, e + mine, lanes, n};
  bool found = false;
  if constexpr (store)
    found =
        find_values(own, open, progress, StoredRotations<R>{iteration.rotations + matrix * rotation_space(n)},
                    iteration.sweeps + matrix * sweep_space(n));
  else
    found = find_values(own, open, progress, NoRotations<R>{}, nullptr);
  if (open) {
    const bool failed = !found && (round == rounds || progress.tries == max_tries);
    if (failed) iteration.info[matrix] = progress.row + 1;
    if (found || failed) progress.ended = round;
    iteration.progress[matrix] = progress;
  }
  __syncwarp();
  const unsigned opened = __ballot_sync(~0u, open), ended = __ballot_sync(~0u, progress.ended == round);
  for (int m = 0; m < matrices; ++m) {
    const Index number = first + m;
    if (!(opened >> m & 1)) continue;
    if (ended >> m & 1) {
      const Tridiagonal<R> t{d + m, e + m, lanes, n};
      store_values(t, iteration.info[number] == 0, iteration.exponent[number],
                   iteration.w + number * iteration.stride_w, iteration.place + number * n);
    } else {
      for (int i = lane; i < n; i += 32) {
        iteration.d[number * n + i] = d[i * lanes + m];
        iteration.e[number * n + i] = e[i * lanes + m];
      }
    }
  }
}

}  // namespace

template <class R>
void launch_iteration(cudaStream_t stream, const Iteration<R>& iteration, int round) {
  const std::size_t bytes =
      2 * sizeof(R) * static_cast<std::size_t>(iteration.n) * static_cast<std::size_t>(iteration.lanes);
  auto* const kernel = iteration.rotations ? iteration_kernel<R, true> : iteration_kernel<R, false>;
  allow_dynamic_memory(kernel, bytes);
  kernel<<<blocks_for(iteration.count, iteration.lanes), 32, bytes, stream>>>(iteration, round);
}

#define TESSERA_INSTANTIATE(R) template void launch_iteration(cudaStream_t, const Iteration<R>&, int);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels::batch
