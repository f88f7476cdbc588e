// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cuda/std/limits>

#include <tessera/codelets/batch/kernels/batch_parts.cuh>

namespace tessera::detail::kernels::batch {

namespace {

constexpr int threads = 128;

/// A group of `lanes` lanes has a matrix, a lane a row of Q. All lanes of a group make the same rotations, and each
/// applies them to its own row, of a complex matrix to its real and its imaginary part.
template <class S, int lanes>
__global__ void __launch_bounds__(threads) small_eigen_kernel(SmallEigen<S> problem) {
  using R = Real<S>;
  constexpr int parts = static_cast<int>(sizeof(S) / sizeof(R)), groups = threads / lanes;
  __shared__ __align__(16) S matrices[groups][lanes * lanes];
  __shared__ R shared_d[groups][lanes], shared_e[groups][lanes];
  const int n = problem.n, group = static_cast<int>(threadIdx.x) / lanes,
            lane = static_cast<int>(threadIdx.x) % lanes;
  const Index matrix = Index(blockIdx.x) * groups + group;
  const bool inside = matrix < problem.count;
  if (__ballot_sync(~0u, inside) == 0) return;

  // Q := H_0 H_1 ..., the lane's row in registers; v_j lies in column j of `v`, zero up to row j.
  S* const v = matrices[group];
  const S* const from = problem.v + (inside ? matrix : 0) * problem.stride_v;
  for (int c = 0; c < lanes; ++c)
    v[c * lanes + lane] = inside && lane < n && c + 1 < n && lane > c ? from[lane + c * problem.ldv] : S(0);
  const bool has_row = inside && lane < n;
  const S own_tau = has_row ? problem.tau[matrix * n + lane] : S(0);
  shared_d[group][lane] = has_row ? problem.d[matrix * n + lane] : R(0);
  shared_e[group][lane] = has_row ? problem.e[matrix * n + lane] : R(0);
  __syncwarp();
  S row[lanes];
#pragma unroll
  for (int c = 0; c < lanes; ++c) row[c] = S(c == lane ? R(1) : R(0));
#pragma unroll
  for (int j = 0; j + 1 < lanes; ++j) {
    const S tau = from_lane(own_tau, static_cast<int>(threadIdx.x) % 32 / lanes * lanes + j);
    S dot = 0;
#pragma unroll
    for (int r = j + 1; r < lanes; ++r) dot += row[r] * v[j * lanes + r];
    dot = tau * dot;
#pragma unroll
    for (int r = j + 1; r < lanes; ++r) row[r] -= dot * conj(v[j * lanes + r]);
  }
  __syncwarp();
  R* const x = reinterpret_cast<R*>(matrices[group]);
#pragma unroll
  for (int c = 0; c < lanes; ++c) {
    x[c * parts * lanes + lane] = real(row[c]);
    if constexpr (parts == 2) x[(c * parts + 1) * lanes + lane] = imag(row[c]);
  }
  __syncwarp();

  const unsigned members = (~0u >> (32 - lanes)) << (threadIdx.x % 32 / lanes * lanes);
  const Tridiagonal<R> t{shared_d[group], shared_e[group], 1, n};
  Progress progress{0, 0, 0, 0};
  const bool found =
      find_values(t, inside, progress, AppliedRotations<R, lanes, parts>{x + lane, members}, nullptr);
  __syncwarp();
  if (!inside) return;
  if (!found && lane == 0) problem.info[matrix] = progress.row + 1;
  const bool good = found && problem.info[matrix] == 0;
  const R mine = t.d[min(lane, n - 1)];
  for (int i = 0; i < n; ++i) {
    // The number of values before value i.
    const R value = t.d[i];
    const bool before = lane < n && (mine < value || (mine == value && lane < i));
    const int place = good ? __popc(__ballot_sync(members, before)) : i;
    if (lane == 0)
      problem.w[matrix * problem.stride_w + place] =
          good ? ldexp(value, problem.exponent[matrix]) : cuda::std::numeric_limits<R>::quiet_NaN();
    if (lane >= n) continue;
    S* const to = problem.z + matrix * problem.stride_z + place * problem.ldz + lane;
    if constexpr (parts == 2)
      *to = S(x[i * parts * lanes + lane], x[(i * parts + 1) * lanes + lane]);
    else
      *to = x[i * lanes + lane];
  }
}

}  // namespace

template <class S>
void launch_small_eigen(cudaStream_t stream, const SmallEigen<S>& problem) {
  if (problem.n <= 8)
    small_eigen_kernel<S, 8><<<blocks_for(problem.count, threads / 8), threads, 0, stream>>>(problem);
  else
    small_eigen_kernel<S, 16><<<blocks_for(problem.count, threads / 16), threads, 0, stream>>>(problem);
}

#define TESSERA_INSTANTIATE(T) \
  template void launch_small_eigen(cudaStream_t, const SmallEigen<DeviceScalar<T>>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels::batch
