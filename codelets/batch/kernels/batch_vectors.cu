// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/batch/kernels/batch_parts.cuh>

namespace tessera::detail::kernels::batch {

namespace {

constexpr int tile = 32;  ///< rows of reflectors, or steps of rotations, that a warp has in shared memory

// ---- Q ------------------------------------------------------------------------------------------------------------

constexpr int reflectors = 8;  ///< that a warp applies together
constexpr int pairs = reflectors * (reflectors - 1) / 2;

template <class S>
struct ReflectorTile {
  alignas(16) S v[tile][reflectors];
};

/// The rows [first, first + 32) of the reflectors j, ..., j + 7; zero where there is none. One warp.
template <class S>
__device__ void load_reflectors(ReflectorTile<S>& to, int n, int j, int first, const S* v, Index ldv) {
  const int r = first + threadIdx.x % 32;
  S x[reflectors];
#pragma unroll
  for (int q = 0; q < reflectors; ++q)
    x[q] = r > j + q && r < n && j + q + 1 < n ? v[r + (j + q) * ldv] : S(0);
  __syncwarp();
#pragma unroll
  for (int q = 0; q < reflectors; ++q) to.v[threadIdx.x % 32][q] = x[q];
  __syncwarp();
}

/// Row `row` of Q, of which x[c * 32] or x[c * ldx] is element c, times H_j ... H_{j+7}. Between the
/// reflectors of a block stand only the products v_i^H v_j: x_j = tau_j (x v_j - sum of x_i v_i^H v_j over i
/// < j), then x -= sum of x_j v_j^H.
template <class S>
__device__ void apply_reflectors(ReflectorTile<S>& shared, int n, int j, const S* v, Index ldv, const S* tau,
                                 S* x, Index ldx, bool inside) {
  const int lane = threadIdx.x % 32;
  int left = 0, right = 1;  // the pair of the lane
  for (int p = 0; p < lane && p + 1 < pairs; ++p)
    if (++left == right) left = 0, ++right;
  S dot[reflectors], gram = 0;
#pragma unroll
  for (int q = 0; q < reflectors; ++q) dot[q] = 0;
  for (int first = j + 1; first < n; first += tile) {
    load_reflectors(shared, n, j, first, v, ldv);
    const int rows = min(tile, n - first);
    for (int r = 0; r < rows; ++r) {
      const S here = inside ? x[(first + r) * ldx] : S(0);
#pragma unroll
      for (int q = 0; q < reflectors; ++q) dot[q] += here * shared.v[r][q];
      gram += conj(shared.v[r][left]) * shared.v[r][right];
    }
  }
#pragma unroll
  for (int q = 0; q < reflectors; ++q) {
#pragma unroll
    for (int i = 0; i < q; ++i) dot[q] -= dot[i] * from_lane(gram, q * (q - 1) / 2 + i);
    dot[q] = (j + q + 1 < n ? tau[j + q] : S(0)) * dot[q];
  }
  for (int first = j + 1; first < n; first += tile) {
    if (n - j - 1 > tile) load_reflectors(shared, n, j, first, v, ldv);
    const int rows = min(tile, n - first);
    for (int r = 0; r < rows; ++r) {
      S sum = 0;
#pragma unroll
      for (int q = 0; q < reflectors; ++q) sum += dot[q] * conj(shared.v[r][q]);
      if (inside) x[(first + r) * ldx] -= sum;
    }
  }
}

/// A warp takes 32 rows of Q of a matrix.
template <class S, bool in_shared>
__global__ void __launch_bounds__(128)
    form_q_kernel(int n, Index tasks, const S* v, Index ldv, Index stride_v, const S* tau, S* x) {
  extern __shared__ __align__(16) unsigned char form_q_memory[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  auto* const tiles = reinterpret_cast<ReflectorTile<S>*>(form_q_memory);
  const int row_tiles = (n + 31) / 32;
  const Index task = Index(blockIdx.x) * warps + warp;
  if (task >= tasks) return;
  const Index matrix = task / row_tiles;
  const int row = static_cast<int>(task % row_tiles) * 32 + lane;
  const bool inside = row < n;
  S* const to = x + matrix * n * n + row;
  S* const mine = in_shared ? reinterpret_cast<S*>(tiles + warps) + Index(warp) * n * 32 + lane : to;
  const Index ld = in_shared ? 32 : n;
  if (in_shared || inside)
    for (int c = 0; c < n; ++c) mine[c * ld] = S(c == row ? Real<S>(1) : Real<S>(0));
  for (int j = 0; j + 1 < n; j += reflectors)
    apply_reflectors(tiles[warp], n, j, v + matrix * stride_v, ldv, tau + matrix * n, mine, ld,
                     in_shared || inside);
  if (in_shared && inside)
    for (int c = 0; c < n; ++c) to[Index(c) * n] = mine[c * ld];
}

// ---- rotations ----------------------------------------------------------------------------------------------------

/// The rotations of `wave` sweeps for a step a lane: at step t sweep q has the columns t + 2 q and t + 2 q + 1.
template <class R, int wave>
struct RotationTile {
  Rotation<R> at[32][wave + 1];  // one more, so that the lanes write to different banks
};

template <class R, int wave>
__device__ void load_rotations(RotationTile<R, wave>& to, int begin, const Sweep (&sweeps)[wave],
                               const Rotation<R>* rotations) {
  const int lane = threadIdx.x % 32;
  Rotation<R> found[wave];
#pragma unroll
  for (int q = 0; q < wave; ++q) {
    const int i = begin - lane + 2 * q;
    found[q] = i >= sweeps[q].low && i < sweeps[q].high ? rotations[sweeps[q].first + sweeps[q].high - 1 - i]
                                                        : Rotation<R>{1, 0};
  }
  __syncwarp();
#pragma unroll
  for (int q = 0; q < wave; ++q) to.at[lane][q] = found[q];
  __syncwarp();
}

/// `wave` sweeps at once on a row whose element c is x[c ldx]: a window of 2 wave columns goes down over it.
template <class R, int wave>
__device__ void rotate_row(RotationTile<R, wave>& shared, const Sweep (&sweeps)[wave],
                           const Rotation<R>* rotations, R* x, Index ldx, bool inside) {
  constexpr int width = 2 * wave, unrolled = 8;
  int lowest = sweeps[0].low, highest = sweeps[0].high;
#pragma unroll
  for (int q = 1; q < wave; ++q) {
    if (sweeps[q].low >= sweeps[q].high) continue;
    lowest = min(lowest, int(sweeps[q].low));
    highest = max(highest, int(sweeps[q].high));
  }
  const int steps = highest - lowest + width;
  R window[width], next[unrolled];
#pragma unroll
  for (int k = 0; k < width; ++k) window[k] = 0;
  const auto fetch = [&](int t) {
#pragma unroll
    for (int k = 0; k < unrolled; ++k) next[k] = inside && t - k >= lowest ? x[(t - k) * ldx] : R(0);
  };
  fetch(highest);
  for (int done = 0; done < steps; done += unrolled) {
    const int t = highest - done, step = done % 32;
    if (step == 0) load_rotations(shared, t, sweeps, rotations);
    R now[unrolled];
#pragma unroll
    for (int k = 0; k < unrolled; ++k) now[k] = next[k];
    fetch(t - unrolled);
#pragma unroll
    for (int k = 0; k < unrolled; ++k) {
#pragma unroll
      for (int i = width - 1; i > 0; --i) window[i] = window[i - 1];
      window[0] = now[k];
#pragma unroll
      for (int q = 0; q < wave; ++q) {
        const Rotation<R> turn = shared.at[step + k][q];
        const R low = window[2 * q], high = window[2 * q + 1];
        window[2 * q] = turn.c * low - turn.s * high;
        window[2 * q + 1] = turn.s * low + turn.c * high;
      }
      const int leaving = t - k + width - 1;
      if (inside && leaving <= highest && leaving >= lowest) x[leaving * ldx] = window[width - 1];
    }
  }
}

/// A warp takes 32 real rows of Q of a matrix.
template <class R, int wave, bool in_shared>
__global__ void __launch_bounds__(128) rotations_kernel(Rotating<R> rotating, int round) {
  extern __shared__ __align__(16) unsigned char rotations_memory[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  auto* const tiles = reinterpret_cast<RotationTile<R, wave>*>(rotations_memory);
  const int n = rotating.n, rows = rotating.rows, row_tiles = (rows + 31) / 32;
  const Index task = Index(blockIdx.x) * warps + warp, tasks = rotating.count * row_tiles;
  if (task >= tasks) return;
  const Index matrix = task / row_tiles;
  const Progress progress = rotating.progress[matrix];
  if (progress.ended != 0 && progress.ended != round) return;
  const int row = static_cast<int>(task % row_tiles) * 32 + lane;
  const bool inside = row < rows;
  R* const from = rotating.x + matrix * n * rows + row;
  R* const mine = in_shared ? reinterpret_cast<R*>(tiles + warps) + Index(warp) * n * 32 + lane : from;
  const Index ld = in_shared ? 32 : rows;
  if (in_shared)
    for (int c = 0; c < n; ++c) mine[c * 32] = inside ? from[Index(c) * rows] : R(0);
  const Rotation<R>* const rotations = rotating.rotations + matrix * rotation_space(n);
  const Sweep* const all = rotating.sweeps + matrix * sweep_space(n);
  const int own = progress.sweeps;
  for (int first = 0; first < own; first += wave) {
    Sweep sweeps[wave];
#pragma unroll
    for (int q = 0; q < wave; ++q) sweeps[q] = first + q < own ? all[first + q] : Sweep{0, 0, 0};
    rotate_row<R, wave>(tiles[warp], sweeps, rotations, mine, ld, in_shared || inside);
  }
  if (!inside) return;
  if (progress.ended == round) {
    R* const to = rotating.z + matrix * rotating.stride_z + row;
    for (int c = 0; c < n; ++c) to[rotating.place[matrix * n + c] * rotating.ldz] = mine[c * ld];
  } else if (in_shared) {
    for (int c = 0; c < n; ++c) from[Index(c) * rows] = mine[c * 32];
  }
}

/// Warps of a thread block, and its shared memory, for n columns of 32 elements and `each` bytes a warp.
struct WarpSpace {
  bool in_shared;
  unsigned warps;
  std::size_t bytes;
  WarpSpace(int n, std::size_t element, std::size_t each) {
    const std::size_t columns = static_cast<std::size_t>(n) * 32 * element;
    in_shared = columns <= 48 * 1024;
    warps = in_shared && columns > 16 * 1024 ? 1 : 4;
    bytes = warps * (each + (in_shared ? columns : 0));
  }
};

}  // namespace

template <class S>
void launch_form_q(cudaStream_t stream, int n, Index count, const S* v, Index ldv, Index stride_v,
                   const S* tau, S* x) {
  const WarpSpace space(n, sizeof(S), sizeof(ReflectorTile<S>));
  const Index tasks = count * ((n + 31) / 32);
  const auto launch = [&](auto* kernel) {
    allow_dynamic_memory(kernel, space.bytes);
    kernel<<<blocks_for(tasks, space.warps), 32 * space.warps, space.bytes, stream>>>(n, tasks, v, ldv,
                                                                                      stride_v, tau, x);
  };
  if (space.in_shared)
    launch(form_q_kernel<S, true>);
  else
    launch(form_q_kernel<S, false>);
}

template <class R>
void launch_rotations(cudaStream_t stream, const Rotating<R>& rotating, int round) {
  const int n = rotating.n;
  const auto launch = [&]<int wave, bool in_shared>() {
    const WarpSpace space(n, sizeof(R), sizeof(RotationTile<R, wave>));
    auto* const kernel = rotations_kernel<R, wave, in_shared>;
    allow_dynamic_memory(kernel, space.bytes);
    kernel<<<blocks_for(rotating.count * ceil_div(rotating.rows, 32), space.warps), 32 * space.warps,
             space.bytes, stream>>>(rotating, round);
  };
  if (!WarpSpace(n, sizeof(R), 0).in_shared)
    launch.template operator()<8, false>();
  else if (n <= 48)
    launch.template operator()<4, true>();
  else
    launch.template operator()<8, true>();
}

#define TESSERA_INSTANTIATE(T)                                                                \
  template void launch_form_q(cudaStream_t, int, Index, const DeviceScalar<T>*, Index, Index, \
                              const DeviceScalar<T>*, DeviceScalar<T>*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE
#define TESSERA_INSTANTIATE(R) template void launch_rotations(cudaStream_t, const Rotating<R>&, int);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels::batch
