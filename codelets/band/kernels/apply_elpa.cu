// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/kernels/chase_blocks.hpp>
#include <tessera/codelets/common/device_warp.cuh>

namespace tessera::detail::kernels {
namespace {

/// Thread t holds row s + 1 + h b + t of the block's column; from a sweep to the sweep before it the rows
/// move by one thread. Thread blocks have at least one warp; threads beyond b hold zeros.
template <class S>
__global__ void elpa_kernel(DeviceReflectors piece, const S* reflectors, Index piece_blocks, S* c,
                            Index ldc) {
  __shared__ S sums[4], edges[4];
  const Index n = piece.n, b = piece.bandwidth, g = piece.group;
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  S* const column = c + static_cast<Index>(blockIdx.x) * ldc;
  const Index hops = (n - 1 - piece.first_sweep + b - 1) / b;
  for (Index hop = 0; hop < hops; ++hop) {
    // The last sweep that has this hop, and where its group begins.
    Index sweep = min(piece.sweeps - 1, n - 2 - piece.first_sweep - hop * b);
    Index group = sweep / g, first_block = hop_sum(n, b, piece.first_sweep, g, group);
    Index row = piece.first_sweep + sweep + 1 + hop * b + t;
    S x = t < b && row < n ? column[row] : S(0);
    for (; sweep >= 0; --sweep) {
      if (sweep / g != group) {
        group = sweep / g;
        first_block -= (n - 1 - piece.first_sweep - group * g + b - 1) / b;
      }
      const Index place = (first_block + hop) * g + sweep % g;
      const S v = t < b ? reflectors[place * b + t] : S(0), tau = reflectors[piece_blocks * g * b + place];
      S sum = device::warp_sum(device::conj(v) * x);
      if (warps > 1) {
        if (lane == 0) sums[warp] = sum;
        __syncthreads();
        sum = sums[0];
        for (int k = 1; k < warps; ++k) sum += sums[k];
      }
      x -= tau * sum * v;
      if (sweep == 0) break;
      // The last row is stored, and a new one is loaded above the first.
      row = piece.first_sweep + sweep + 1 + hop * b + t;
      if (t == b - 1 && row < n) column[row] = x;
      S from_below = device::from_lane_before(x);
      if (warps > 1) {
        if (lane == 31) edges[warp] = x;
        __syncthreads();
        if (lane == 0 && warp > 0) from_below = edges[warp - 1];
      }
      x = t == 0 ? column[row - 1] : t < b ? from_below : S(0);
    }
    row = piece.first_sweep + 1 + hop * b + t;
    if (t < b && row < n) column[row] = x;
    __syncthreads();
  }
}

}  // namespace

template <class T>
void launch_apply_elpa(cudaStream_t stream, const DeviceReflectors& piece, const T* reflectors, T* c,
                       Index columns, Index ldc) noexcept {
  if (piece.sweeps < 1 || columns < 1) return;
  const Index piece_blocks =
      hop_sum(piece.n, piece.bandwidth, piece.first_sweep, piece.group, piece.groups());
  elpa_kernel<<<static_cast<unsigned>(columns), static_cast<unsigned>(std::max<Index>(32, piece.bandwidth)),
                0, stream>>>(piece, device::device_cast(reflectors), piece_blocks, device::device_cast(c),
                             ldc);
}

#define TESSERA_INSTANTIATE(T)                                                                   \
  template void launch_apply_elpa<T>(cudaStream_t, const DeviceReflectors&, const T*, T*, Index, \
                                     Index) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
