// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cuda/std/limits>

#include <tessera/codelets/batch/kernels/batch_device.cuh>

namespace tessera::detail::kernels::batch {

namespace {

constexpr int threads = 128;

/// What a group of lanes has in shared memory.
template <class S, int lanes>
struct SmallMatrix {
  static constexpr int ld = lanes + 1;
  S elements[lanes * ld];  ///< A, then reflectors by columns, then Q
  S w[lanes], tau[lanes];
  Real<S> d[lanes], e[lanes];
};

/// A of n rows, of which the lane has its own, to tridiagonal form: d, e, tau and the reflectors, v_j in column j, zero
/// up to row j. All lanes of a warp call it.
template <class S, int lanes>
__device__ void reduce_rows(int n, S (&a)[lanes], SmallMatrix<S, lanes>& shared) {
  using R = Real<S>;
  const int lane = static_cast<int>(threadIdx.x) % lanes,
            first = static_cast<int>(threadIdx.x) % 32 / lanes * lanes;
#pragma unroll
  for (int j = 0; j + 1 < lanes; ++j) {
    S* const v = shared.elements + j * SmallMatrix<S, lanes>::ld;
    const S x = lane > j + 1 ? a[j] : S(0);
    const Reflector<S> reflector(from_lane(a[j], first + j + 1), row_sum<lanes>(norm(x)));
    const bool last = j + 1 >= n;  // rows from n on are zero
    const S tau = last ? S(0) : reflector.tau, mine = lane == j + 1 ? S(1) : x * reflector.scale;
    if (lane == j) {
      shared.d[j] = real(a[j]);
      shared.e[j] = last ? R(0) : reflector.beta;
      shared.tau[j] = tau;
    }
    v[lane] = last ? S(0) : mine;
    __syncwarp();
    S y = 0;
#pragma unroll
    for (int c = j + 1; c < lanes; ++c) y += a[c] * v[c];
    const R dot = row_sum<lanes>(real(conj(y) * v[lane])), factor = R(0.5) * norm(tau) * dot;
    const S own_v = v[lane], own_w = tau * y - factor * own_v;
    shared.w[lane] = own_w;
    __syncwarp();
#pragma unroll
    for (int c = j + 1; c < lanes; ++c) {
      a[c] -= own_v * conj(shared.w[c]);
      a[c] -= own_w * conj(v[c]);
    }
    __syncwarp();
  }
  if (lane == lanes - 1) {
    shared.d[lanes - 1] = real(a[lanes - 1]);
    shared.e[lanes - 1] = R(0);
  }
  __syncwarp();
}

/// The lane's row of Q := H_0 H_1 ...
template <class S, int lanes>
__device__ void form_row(S (&row)[lanes], const SmallMatrix<S, lanes>& shared) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
#pragma unroll
  for (int c = 0; c < lanes; ++c) row[c] = S(c == lane ? Real<S>(1) : Real<S>(0));
#pragma unroll
  for (int j = 0; j + 1 < lanes; ++j) {
    const S* const v = shared.elements + j * SmallMatrix<S, lanes>::ld;
    S dot = 0;
#pragma unroll
    for (int r = j + 1; r < lanes; ++r) dot += row[r] * v[r];
    dot = shared.tau[j] * dot;
#pragma unroll
    for (int r = j + 1; r < lanes; ++r) row[r] -= dot * conj(v[r]);
  }
  __syncwarp();
}

/// A group of `lanes` lanes has a matrix, a lane a row of A, then of Q. All lanes of a group make the same rotations,
/// and each applies them to its own row, of a complex matrix to its real and its imaginary part.
template <class S, int lanes>
__global__ void __launch_bounds__(threads) small_eigen_kernel(SmallEigen<S> problem) {
  using R = Real<S>;
  constexpr int parts = static_cast<int>(sizeof(S) / sizeof(R)), groups = threads / lanes,
                ld = SmallMatrix<S, lanes>::ld;
  __shared__ __align__(16) SmallMatrix<S, lanes> matrices[groups];
  __shared__ ReductionShared<R> scaling[groups];
  const Reduction<S>& reduction = problem.reduction;
  const int n = reduction.n, group = static_cast<int>(threadIdx.x) / lanes,
            lane = static_cast<int>(threadIdx.x) % lanes;
  const Index number = Index(blockIdx.x) * groups + group;
  const bool inside = number < problem.count;
  const Index matrix = inside ? number : problem.count - 1;
  SmallMatrix<S, lanes>& shared = matrices[group];
  const int exponent = load_scaled<lanes>(reduction, reduction.a + matrix * reduction.stride_a,
                                          shared.elements, ld, scaling[group]);
  const int bad = scaling[group].first_bad;
  if (inside && lane == 0) reduction.info[matrix] = bad < n ? -(bad + 1) : 0;
  S row[lanes];
#pragma unroll
  for (int c = 0; c < lanes; ++c) row[c] = c < n && lane < n ? shared.elements[lane + c * ld] : S(0);
  __syncwarp();
  reduce_rows(n, row, shared);
  form_row(row, shared);
  R* const x = reinterpret_cast<R*>(shared.elements);
#pragma unroll
  for (int c = 0; c < lanes; ++c) {
    x[c * parts * lanes + lane] = real(row[c]);
    if constexpr (parts == 2) x[(c * parts + 1) * lanes + lane] = imag(row[c]);
  }
  __syncwarp();

  const unsigned members = (~0u >> (32 - lanes)) << (threadIdx.x % 32 / lanes * lanes);
  const Tridiagonal<R> t{shared.d, shared.e, 1, n};
  Progress progress{0, 0, 0, 0};
  const bool found =
      find_values(t, inside, progress, AppliedRotations<R, lanes, parts>{x + lane, members}, nullptr);
  __syncwarp();
  if (!inside) return;
  if (!found && lane == 0) reduction.info[matrix] = progress.row + 1;
  const bool good = found && bad == n;
  const R mine = t.d[min(lane, n - 1)];
  for (int i = 0; i < n; ++i) {
    // The number of values before value i.
    const R value = t.d[i];
    const bool before = lane < n && (mine < value || (mine == value && lane < i));
    const int place = good ? __popc(__ballot_sync(members, before)) : i;
    if (lane == 0)
      problem.w[matrix * problem.stride_w + place] =
          good ? ldexp(value, exponent) : cuda::std::numeric_limits<R>::quiet_NaN();
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
  if (problem.reduction.n <= 8)
    small_eigen_kernel<S, 8><<<blocks_for(problem.count, threads / 8), threads, 0, stream>>>(problem);
  else
    small_eigen_kernel<S, 16><<<blocks_for(problem.count, threads / 16), threads, 0, stream>>>(problem);
}

#define TESSERA_INSTANTIATE(T) \
  template void launch_small_eigen(cudaStream_t, const SmallEigen<DeviceScalar<T>>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels::batch
