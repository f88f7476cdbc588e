// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/codelets/dense/kernels/panel_tall_kernels.cuh>

/// Blocks of 8 x 8 on the FP64 tensor cores.
///
/// A block is spread over a warp as the tensor cores give their results: a lane holds (lane_row(), lane_col()
/// + e), e = 0, 1. If a product sums over the columns of its left operand in the order 0, 2, 4, 6, 1, 3, 5,
/// 7, then a result is the left operand, and the transpose of a result the right operand, of another product
/// without any exchange between lanes. All products here sum in that order.
namespace tessera::detail::panel_cuda {

__device__ inline int lane_row() {
  return threadIdx.x % 32 / 4;
}
__device__ inline int lane_col() {
  return 2 * (threadIdx.x % 4);
}

/// A matrix of 8 columns in shared memory (aligned to 16 bytes). The order within its rows keeps the accesses
/// of a warp to 8 rows free of bank conflicts.
template <class W>
struct Strip {
  static constexpr bool complex = device::is_complex_scalar<W>;

  __device__ static int at(int i, int j) { return 8 * i + (j ^ (i & (complex ? 7 : 6))); }
  __device__ static void put(W* strip, int i, int j, W x) {
    if constexpr (complex)
      reinterpret_cast<double2*>(strip)[at(i, j)] = {x.re, x.im};
    else
      strip[at(i, j)] = x;
  }
  /// The entries (i, lane_col() + e).
  __device__ static void put_pair(W* strip, int i, W x0, W x1) {
    if constexpr (complex) {
      put(strip, i, lane_col(), x0);
      put(strip, i, lane_col() + 1, x1);
    } else {
      *reinterpret_cast<double2*>(strip + at(i, lane_col())) = {x0, x1};
    }
  }
  __device__ static void get_pair(const W* strip, int i, W (&x)[2]) {
    if constexpr (complex) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const double2 y = reinterpret_cast<const double2*>(strip)[at(i, lane_col() + e)];
        x[e] = {y.x, y.y};
      }
    } else {
      const double2 y = *reinterpret_cast<const double2*>(strip + at(i, lane_col()));
      x[0] = y.x, x[1] = y.y;
    }
  }
  /// Rows i + lane_row() and j + lane_row() as a left operand of the tensor cores.
  __device__ static void get_rows(const W* strip, int i, int j, W (&a)[4]) {
    W x[2], y[2];
    get_pair(strip, i + lane_row(), x);
    get_pair(strip, j + lane_row(), y);
    a[0] = x[0], a[1] = y[0], a[2] = x[1], a[3] = y[1];
  }
};

/// A F^-1 for a triangle F with unit diagonal, as operands of the tensor cores. If `refined`, one step of
/// iterative refinement keeps the residual as small as substitution does, however ill-conditioned F is.
template <bool refined, class W>
__device__ TensorTile<W> times_inverse(const W (&a)[4], const W (&inverse)[2], const W (&triangle)[2]) {
  TensorTile<W> y;
  y.add(a, inverse);
  if constexpr (refined) {
    TensorTile<W> rest;
    W operand[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      rest.set(e, a[e / 2 + e % 2 * 2]);
      operand[e / 2 + e % 2 * 2] = -y.get(e);
    }
    rest.add(operand, triangle);
#pragma unroll
    for (int e = 0; e < 4; ++e) operand[e / 2 + e % 2 * 2] = rest.get(e);
    y.add(operand, inverse);
  }
  return y;
}

}  // namespace tessera::detail::panel_cuda
