// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include <tessera/codelets/band/kernels/apply_chase_instructions.cuh>
#include <tessera/codelets/band/kernels/chase_blocks.hpp>

/// A thread's part of the window of C in the kernel of apply_chase.cuh, and its way from and to memory.
namespace tessera::detail::kernels::apply_chase_detail {

template <class S>
struct ApplyShape {
  ChaseBlocks blocks;
  const double* data;  ///< V and W, see ChaseBlocks
  S* c;
  Index ld, rows, columns;  ///< rows and ld in reals
  unsigned* counter;        ///< of items, zero at first
  unsigned* flags;          ///< see flag_of; zero at first
  Index strips;
  Index panel_chunks, items;
  int zero;    ///< 0, see Operand
  bool pairs;  ///< rows 2 i and 2 i + 1 are aligned as a pair
};

/// The factor of C in registers: halves need their operands in the middle of their range.
template <class R>
inline constexpr R scale = std::is_same_v<R, float> ? R(ChaseBlocks::c_scale) : R(1);

/// A thread's rows of C: in the columns `lane / 4 + 8 m`, m < M / 8, of the strip the rows 2 (lane % 4) and
/// 2 (lane % 4) + 1 of each tile.
template <class S, int M>
struct Strip {
  S* column[M / 8];
  int limit[M / 8];  ///< rows; 0 if the column does not exist
  bool pairs;
  bool whole;  ///< all columns exist, and pairs

  __device__ Strip(const ApplyShape<S>& a, Index first)
      : pairs(a.pairs), whole(a.pairs && first + M <= a.columns) {
#pragma unroll
    for (int m = 0; m < M / 8; ++m) {
      const Index j = first + threadIdx.x % 32 / 4 + 8 * m;
      limit[m] = j < a.columns ? static_cast<int>(a.rows) : 0;
      column[m] = a.c + min(j, a.columns - 1) * a.ld;
    }
  }
  __device__ static int row_of(int first, int tile) {
    return first + 8 * tile + 2 * (threadIdx.x % 4);
  }
  /// Rows `end` and more of the window count as zero.
  template <class R>
  __device__ void load(R (&x)[M / 4], int first, int tile, int end) const {
    const int row = row_of(first, tile);
#pragma unroll
    for (int m = 0; m < M / 8; ++m) {
      const int stop = min(limit[m], end);
      const S* const p = column[m] + row;
      if (pairs && row + 1 < stop) {
        const Pair<S> value = load_fresh_pair(p);
        x[2 * m] = scale<R> * value.x, x[2 * m + 1] = scale<R> * value.y;
      } else {
        x[2 * m] = row < stop ? scale<R> * R(load_fresh(p)) : R(0);
        x[2 * m + 1] = row + 1 < stop ? scale<R> * R(load_fresh(p + 1)) : R(0);
      }
    }
  }
  template <class R>
  __device__ void store(const R (&x)[M / 4], int first, int tile, int end) const {
    const int row = row_of(first, tile);
#pragma unroll
    for (int m = 0; m < M / 8; ++m) {
      const int stop = min(limit[m], end);
      S* const p = column[m] + row;
      if (pairs && row + 1 < stop) {
        Pair<S> value;
        value.x = unscaled(x[2 * m]), value.y = unscaled(x[2 * m + 1]);
        *reinterpret_cast<Pair<S>*>(p) = value;
      } else {
        if (row < stop) p[0] = unscaled(x[2 * m]);
        if (row + 1 < stop) p[1] = unscaled(x[2 * m + 1]);
      }
    }
  }
  /// Stores the first T tiles of the window.
  template <int T, class R>
  __device__ void store_tiles(const R (*x)[M / 4], int first) const {
    if (whole && first + 8 * T <= limit[0]) {
#pragma unroll
      for (int m = 0; m < M / 8; ++m) {
        S* const p = column[m] + row_of(first, 0);
#pragma unroll
        for (int tile = 0; tile < T; ++tile) {
          Pair<S> value;
          value.x = unscaled(x[tile][2 * m]), value.y = unscaled(x[tile][2 * m + 1]);
          *reinterpret_cast<Pair<S>*>(p + 8 * tile) = value;
        }
      }
      return;
    }
#pragma unroll
    for (int tile = 0; tile < T; ++tile) store(x[tile], first, tile, first + 8 * T);
  }
  /// Starts copying T tiles from row `first` on to the thread's places in `copies`.
  template <int T>
  __device__ void start_copy(Pair<S>* copies, int first) const {
    if (whole && first + 8 * T <= limit[0]) {
      constexpr int size = 2 * sizeof(S);
      const unsigned to = shared_address(copies + threadIdx.x % 32);
#pragma unroll
      for (int m = 0; m < M / 8; ++m) {
        const S* const p = column[m] + row_of(first, 0);
#pragma unroll
        for (int tile = 0; tile < T; ++tile)
          thread_copy<size>(to + (tile * (M / 8) + m) * 32 * size, p + 8 * tile, size);
      }
      return;
    }
#pragma unroll
    for (int tile = 0; tile < T; ++tile) {
      const int row = row_of(first, tile);
#pragma unroll
      for (int m = 0; m < M / 8; ++m) {
        const unsigned to = shared_address(copies + (tile * (M / 8) + m) * 32 + threadIdx.x % 32);
        const int valid = max(0, min(2, limit[m] - row));
        const S* const p = column[m] + (valid > 0 ? row : 0);
        constexpr int size = sizeof(S);
        if (pairs) {
          thread_copy<2 * size>(to, p, valid * size);
        } else {
          thread_copy<size>(to, p, min(valid, 1) * size);
          thread_copy<size>(to + size, valid > 1 ? p + 1 : p, max(valid - 1, 0) * size);
        }
      }
    }
  }
  template <class R>
  __device__ static void take_copy(R (&x)[M / 4], const Pair<S>* copies, int tile) {
#pragma unroll
    for (int m = 0; m < M / 8; ++m) {
      const Pair<S> value = copies[(tile * (M / 8) + m) * 32 + threadIdx.x % 32];
      x[2 * m] = scale<R> * R(value.x), x[2 * m + 1] = scale<R> * R(value.y);
    }
  }
  template <class R>
  __device__ static S unscaled(R x) {
    return static_cast<S>(x * (1 / scale<R>));
  }
};

/// Moves the rows that the next window shares with this one from registers to registers through the warp's
/// shared memory, for bandwidths that are not a whole number of tiles. A warp writes rows of C only when it
/// retires them, and never reads them again.
template <class K, int T, int M>
struct Carry {
  using R = typename K::Real;
  R* memory;

  __device__ R* at(int column, int row) const {
    return memory + (threadIdx.x % 32 / 4 + 8 * column) * K::carry_stride + row;
  }
  /// The window moves by `shift` rows, 4 T < shift <= 8 T (or T = 2).
  __device__ void move(R (&c)[K::window][M / 4], int shift) const {
    __syncwarp();
#pragma unroll
    for (int t = T > 2 ? T / 2 : 0; t < K::window; ++t) {
      const int row = 8 * t + 2 * (threadIdx.x % 4) - shift;
#pragma unroll
      for (int i = 0; i < M / 4; ++i)
        if (row + i % 2 >= 0 && row + i % 2 < K::carry_rows) *at(i / 2, row + i % 2) = c[t][i];
    }
    __syncwarp();
#pragma unroll
    for (int t = 0; t < 2 * K::groups; ++t)
#pragma unroll
      for (int m = 0; m < M / 8; ++m) {
        const Pair<R> rows = *reinterpret_cast<const Pair<R>*>(at(m, 8 * t + 2 * (threadIdx.x % 4)));
        c[t][2 * m] = rows.x, c[t][2 * m + 1] = rows.y;
      }
  }
};

}  // namespace tessera::detail::kernels::apply_chase_detail
