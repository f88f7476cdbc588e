// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cuda/std/limits>

#include <tessera/codelets/batch/kernels/batch_device.cuh>

namespace tessera::detail::kernels::batch {

namespace {

template <class R>
constexpr R unit = sizeof(R) == 8 ? R(0x1p-53) : R(0x1p-24);
/// A rotation is not made from squares below this; off-diagonal elements of that size beside a matrix of size
/// one are dropped.
template <class R>
constexpr R smallest_sum = sizeof(R) == 8 ? R(1e-290) : R(1e-32);

/// T of a lane, in shared memory: its elements i lie at i `lanes`.
template <class R>
struct Tridiagonal {
  R *d, *e;
  int lanes, n;
  __device__ bool negligible(R beside, R above, R below) const {
    return fabs(beside) <= unit<R> * (fabs(above) + fabs(below)) || fabs(beside) < unit<R> * unit<R>;
  }
  __device__ bool negligible(int i) const {
    return negligible(e[i * lanes], d[i * lanes], d[(i + 1) * lanes]);
  }
};

/// One implicit QL sweep with Wilkinson's shift over the rows [low, high]. Rotations go to `to` if they are
/// stored. Returns the row from which they begin: low, or a larger one where the sweep has met a zero. *split
/// becomes the first row above low whose off-diagonal element is negligible, if there is one before high.
/// Source: EISPACK imtql2.
template <class R, bool store>
__device__ int ql_sweep(const Tridiagonal<R>& t, int low, int high, Rotation<R>* to, int* split) {
  const int lanes = t.lanes;
  R* d = t.d + high * lanes;  // of row i + 1
  R* e = t.e + high * lanes;
  const R d_low = t.d[low * lanes], e_low = t.e[low * lanes];
  R g = (t.d[(low + 1) * lanes] - d_low) / (2 * e_low);
  const R root = sqrt(g * g + 1);
  R above = *d, s = 1, c = 1, p = 0, final_below = 0;  // above: d of row i + 1 before the rotation
  g = above - d_low + e_low / (g + copysign(root, g));
  R next_d = d[-lanes], next_e = e[-lanes];
  int first_split = high;
  for (int i = high - 1; i >= low; --i) {
    const R d_i = next_d, e_i = next_e;
    const int ahead = i > low ? 2 * lanes : lanes;
    next_d = d[-ahead];
    next_e = e[-ahead];
    const R f = s * e_i, b = c * e_i;
    const R square = fma(f, f, g * g);
    if (square < smallest_sum<R>) {
      *d = above - p;
      *e = 0;
      t.e[high * lanes] = 0;
      return i + 1;
    }
    const R inverse = reciprocal_root(square);
    s = f * inverse;
    c = g * inverse;
    const R r = square * inverse, twice = 2 * b;
    g = above - p;
    above = d_i;
    const R x = fma(d_i - g, s, c * twice);
    p = s * x;
    const R final_d = g + p;
    g = fma(c, x, -b);
    *d = final_d;
    *e = r;
    first_split = i + 1 < high && t.negligible(r, final_d, final_below) ? i + 1 : first_split;
    final_below = final_d;
    d -= lanes;
    e -= lanes;
    if constexpr (store) *to++ = {c, s};
  }
  *d = above - p;
  *e = g;
  t.e[high * lanes] = 0;
  *split = first_split;
  return low;
}

/// All eigenvalues from progress->row on, until the space for rotations is full. Returns whether all are
/// found. All lanes of a warp call it, those without a matrix with open == false, and begin each sweep
/// together.
template <class R, bool store>
__device__ bool find_values(const Tridiagonal<R>& t, bool open, Progress& progress, Rotation<R>* rotations,
                            Sweep* sweeps) {
  const int n = t.n, last = n - 1;
  const int space = static_cast<int>(rotation_space(n)), sweep_limit = static_cast<int>(sweep_space(n));
  int low = progress.row, tries = progress.tries, high = 0, used = 0, count = 0;
  while (true) {
    while (open && low < last && high <= low) {
      for (high = low; high < last && !t.negligible(high);) ++high;
      if (high > low) break;
      ++low;
      tries = 0;
    }
    open = open && low < last && tries < max_tries &&
           (!store || (used + high - low <= space && count < sweep_limit));
    if (!__any_sync(~0u, open)) break;
    if (open) {
      int split = high;
      const int begin = ql_sweep<R, store>(t, low, high, rotations + used, &split);
      if (store && begin < high) {
        sweeps[count++] = {static_cast<std::int16_t>(begin), static_cast<std::int16_t>(high), used};
        used += high - begin;
      }
      ++tries;
      high = begin > low ? 0 : split;  // 0: look for it
      if (begin == low && t.negligible(low)) {
        ++low;
        tries = 0;
      }
    }
    __syncwarp();
  }
  progress = {low, tries, count, 0};
  return low >= last;
}

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
  const bool found = find_values<R, store>({d + mine, e + mine, lanes, n}, open, progress,
                                           iteration.rotations + (store ? matrix * rotation_space(n) : 0),
                                           iteration.sweeps + (store ? matrix * sweep_space(n) : 0));
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
