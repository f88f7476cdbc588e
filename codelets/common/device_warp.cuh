// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include <tessera/codelets/common/device_scalar.cuh>

/// Exchanges and reductions among the 32 lanes of a warp, all of which call them. Reductions go through the
/// lanes in a fixed order, and all lanes get the same bits.
namespace tessera::detail::device {

/// The x of the lane whose number differs from this lane's in the bits of `mask`.
template <class R>
__device__ inline R exchange(R x, int mask) {
  return __shfl_xor_sync(~0u, x, mask);
}
template <class R>
__device__ inline Complex<R> exchange(Complex<R> x, int mask) {
  return {exchange(x.re, mask), exchange(x.im, mask)};
}

/// The x of a lane.
template <class R>
__device__ inline R from_lane(R x, int lane) {
  return __shfl_sync(~0u, x, lane);
}
template <class R>
__device__ inline Complex<R> from_lane(Complex<R> x, int lane) {
  return {from_lane(x.re, lane), from_lane(x.im, lane)};
}

/// The x of the lane before; lane 0 keeps its own.
template <class R>
__device__ inline R from_lane_before(R x) {
  return __shfl_up_sync(~0u, x, 1);
}
template <class R>
__device__ inline Complex<R> from_lane_before(Complex<R> x) {
  return {from_lane_before(x.re), from_lane_before(x.im)};
}

template <class S>
__device__ inline S warp_sum(S x) {
  for (int mask = 16; mask > 0; mask /= 2) x += exchange(x, mask);
  return x;
}
/// Sums C numbers over a warp: lane l gets the sum of number l / (32 / C).
template <int C, class S>
__device__ inline S warp_sums(S (&x)[C], int lane) {
  int mask = 16;
#pragma unroll
  for (int half = C / 2; half > 0; half /= 2, mask /= 2) {
    const bool upper = lane & mask;
#pragma unroll
    for (int c = 0; c < half; ++c) {
      const S kept = upper ? x[c + half] : x[c], sent = upper ? x[c] : x[c + half];
      x[c] = kept + exchange(sent, mask);
    }
  }
  for (; mask > 0; mask /= 2) x[0] += exchange(x[0], mask);
  return x[0];
}
template <class R>
__device__ inline R warp_product(R x) {
  for (int mask = 16; mask > 0; mask /= 2) x *= exchange(x, mask);
  return x;
}
/// The largest; of floating-point numbers, the largest that is not NaN.
template <class R>
__device__ inline R warp_max(R x) {
  for (int mask = 16; mask > 0; mask /= 2) {
    if constexpr (std::is_floating_point_v<R>)
      x = fmax(x, exchange(x, mask));
    else
      x = max(x, exchange(x, mask));
  }
  return x;
}

}  // namespace tessera::detail::device
