// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_fp16.h>

#include <tessera/codelets/band/kernels/chase_blocks.hpp>
#include <tessera/codelets/common/device_scalar.cuh>

namespace tessera::detail::kernels {
namespace {

constexpr int form_threads = 128;
constexpr Index hops_per_block = 8;

template <class S>
struct Wide {
  using type = double;
  __device__ static double of(S x) { return x; }
};
template <class R>
struct Wide<device::Complex<R>> {
  using type = device::Complex<double>;
  __device__ static type of(device::Complex<R> x) { return {x.re, x.im}; }
};

/// Element (row, column) of the real matrix that stands for x (ld x ..), zero behind `rows` rows.
template <class D>
__device__ double real_element(const D* x, int rows, int ld, int row, int column) {
  if constexpr (device::is_complex_scalar<D>) {
    const int r = row / 2;
    if (row < 0 || r >= rows) return 0;
    const D value = x[r + column / 2 * ld];
    return (row ^ column) & 1 ? (row & 1 ? value.im : -value.im) : value.re;
  } else {
    return row >= 0 && row < rows ? x[row + column * ld] : 0;
  }
}

/// The high and the low parts of a pair as halves, at words `place` and `place + 2`.
__device__ void split_pair(double x, double y, unsigned* place) {
  const __half2 high = __floats2half2_rn(static_cast<float>(x), static_cast<float>(y));
  const float2 back = __half22float2(high);
  const __half2 low = __floats2half2_rn(static_cast<float>(x - back.x), static_cast<float>(y - back.y));
  place[0] = *reinterpret_cast<const unsigned*>(&high);
  place[2] = *reinterpret_cast<const unsigned*>(&low);
}

/// V and W as halves (ChaseBlocks), each lane's 16 bytes of a tile by one thread.
template <class V, class W>
__device__ void store_halves(const ChaseBlocks& shape, uint4* out, const V& v, const W& w) {
  const int v_count = static_cast<int>(shape.v_tiles()), w_count = static_cast<int>(shape.w_tiles());
  for (int e = static_cast<int>(threadIdx.x); e < 32 * (v_count + w_count); e += form_threads) {
    const int tile = e / 32, g = e % 32 / 4, first = 2 * (e % 4);
    unsigned words[4];
    for (int k = 0; k < 2; ++k) {
      const int i = first + 8 * k;
      if (tile < v_count) {
        const int row = 16 * (tile / 2) + i, column = 8 * (tile % 2) + g;
        split_pair(v(row, column) * ChaseBlocks::v_scale, v(row + 1, column) * ChaseBlocks::v_scale,
                   words + k);
      } else {
        const int row = 8 * (tile - v_count) + g;
        split_pair(w(row, i) * ChaseBlocks::w_scale, w(row, i + 1) * ChaseBlocks::w_scale, words + k);
      }
    }
    out[e] = {words[0], words[1], words[2], words[3]};
  }
}

/// A thread block forms the WY blocks of one group and hops_per_block hops, one after the other. It holds in
/// shared memory: V without its shift (b x g), W (b + g - 1 rows, from row 1 of the window), the Gram matrix,
/// T, tau, and the first block of each sweep's reflectors.
template <class S>
__global__ void __launch_bounds__(form_threads)
    form_kernel(ChaseBlocks shape, DeviceReflectors piece, const S* reflectors, Index piece_blocks,
                double* blocks) {
  using D = typename Wide<S>::type;
  constexpr int g = device::is_complex_scalar<S> ? ChaseBlocks::columns / 2 : ChaseBlocks::columns;
  constexpr int reals = device::is_complex_scalar<S> ? 2 : 1;
  extern __shared__ __align__(16) unsigned char memory[];
  const int b = static_cast<int>(piece.bandwidth), ldv = b + 1, ldw = b + g + 1;
  D* const v = reinterpret_cast<D*>(memory);
  D* const w = v + ldv * g;
  D* const gram = w + ldw * g;
  D* const t = gram + g * g;
  D* const tau = t + g * g;
  Index* const sweep_block = reinterpret_cast<Index*>(tau + g);

  const Index bundle = blockIdx.y / shape.groups, group = blockIdx.y % shape.groups;
  const Index hops = shape.hops(bundle), first_hop = blockIdx.x * hops_per_block;
  if (first_hop >= hops) return;
  const Index first = shape.bundle_sweep(bundle) + group * g;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < g) {
    const Index k = first + thread - piece.first_sweep;
    sweep_block[thread] =
        k < piece.sweeps ? hop_sum(piece.n, b, piece.first_sweep, piece.group, k / piece.group) : -1;
  }
  Index out_block = shape.block(bundle, first_hop, group);
  for (Index hop = first_hop; hop < min(hops, first_hop + hops_per_block); ++hop, out_block += shape.groups) {
    __syncthreads();
    for (int e = thread; e < b * g; e += form_threads) {
      const int j = e / b, i = e - j * b;
      const bool exists = sweep_block[j] >= 0 && first + j + 1 + hop * b < piece.n;
      const Index block = sweep_block[j] + hop, place = (first + j - piece.first_sweep) % piece.group;
      v[i + j * ldv] = exists ? Wide<S>::of(reflectors[(block * piece.group + place) * b + i]) : D(0);
      if (i == 0)
        tau[j] = exists ? Wide<S>::of(reflectors[(piece_blocks * b + block) * piece.group + place]) : D(0);
    }
    __syncthreads();
    for (int e = thread; e < g * g; e += form_threads) {
      const int i = e % g, j = e / g;
      D sum(0);
      if (i < j)
        for (int r = j - i; r < b; ++r) sum += device::conj(v[r + i * ldv]) * v[r - (j - i) + j * ldv];
      gram[e] = sum;
    }
    __syncthreads();
    if (thread < g) {
      // Row i of T does not depend on the other rows.
      const int i = thread;
      for (int j = 0; j < g; ++j) {
        D sum(0);
        for (int k = i; k < j; ++k) sum += t[i + k * g] * gram[k + j * g];
        t[i + j * g] = j < i ? D(0) : j == i ? tau[j] : -(tau[j] * sum);
      }
    }
    __syncthreads();
    const int rows = b + g - 1;
    for (int e = thread; e < rows * g; e += form_threads) {
      const int j = e / rows, r = e - j * rows;
      D sum(0);
      for (int k = max(0, r - b + 1); k <= min(j, r); ++k) sum += v[r - k + k * ldv] * t[k + j * g];
      w[r + j * ldw] = -sum;
    }
    __syncthreads();
    double* const out = blocks + out_block * shape.block_size();
    if (shape.split) {
      const auto v_at = [&](int row, int column) {
        return real_element(v + column / reals * ldv, b, ldv, row - reals * (1 + column / reals),
                            column % reals);
      };
      const auto w_at = [&](int row, int column) { return real_element(w, rows, ldw, row - reals, column); };
      store_halves(shape, reinterpret_cast<uint4*>(out), v_at, w_at);
      continue;
    }
    const int tiles = static_cast<int>(shape.tiles), v_size = static_cast<int>(shape.v_tiles()) * 64;
    for (int e = thread; e < shape.block_size(); e += form_threads) {
      const int major = e / 8 % 8, minor = e % 8;
      if (e < v_size) {
        const int tile = e / 64, c = tile % 2, column = 8 * c + major;
        const int row = 8 * (tile / 2 + c) + minor;
        out[e] = real_element(v + column / reals * ldv, b, ldv, row - reals * (1 + column / reals),
                              column % reals);
      } else {
        const int tile = (e - v_size) / 64, c = tile > tiles;
        out[e] = real_element(w, rows, ldw, 8 * (tile - c * (tiles + 1)) + major - reals, 8 * c + minor);
      }
    }
  }
}

}  // namespace

template <class T>
void launch_form_chase_t(cudaStream_t stream, const DeviceReflectors& piece, const T* reflectors,
                         double* blocks, bool split) noexcept {
  using S = device::DeviceScalar<T>;
  using D = typename Wide<S>::type;
  const ChaseBlocks shape = chase_blocks<T>(piece, split);
  if (piece.sweeps < 1) return;
  const Index g = shape.group_sweeps(), b = piece.bandwidth;
  const auto bytes = static_cast<std::size_t>(g * (b + 1 + b + g + 1 + 2 * g + 1)) * sizeof(D) +
                     static_cast<std::size_t>(g) * sizeof(Index);
  const dim3 grid(static_cast<unsigned>(ceil_div(shape.hops(0), hops_per_block)),
                  static_cast<unsigned>(shape.bundles() * shape.groups));
  const Index piece_blocks = hop_sum(piece.n, b, piece.first_sweep, piece.group, piece.groups());
  form_kernel<S><<<grid, form_threads, bytes, stream>>>(shape, piece, device::device_cast(reflectors),
                                                        piece_blocks, blocks);
}

#define TESSERA_INSTANTIATE(T)                                                                   \
  template void launch_form_chase_t<T>(cudaStream_t, const DeviceReflectors&, const T*, double*, \
                                       bool) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
