// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

/// The threads that work on one row of blocks together: one on a CPU, a warp on a GPU. What is written for a
/// group runs on both; loops over items go in steps of `size` from `lane`.
#ifdef __CUDACC__
#define TESSERA_ROW __device__ inline
#define TESSERA_ROW_APART __device__ inline __noinline__
#define TESSERA_ROW_NAMESPACE rows_on_gpu
#define TESSERA_UNROLL _Pragma("unroll")
#else
#define TESSERA_ROW inline
#define TESSERA_ROW_APART inline
#define TESSERA_ROW_NAMESPACE rows_on_cpu
#define TESSERA_UNROLL
#endif

namespace tessera::detail {
inline namespace TESSERA_ROW_NAMESPACE {

using RowBits = std::uint32_t;  ///< of bits, one for each block column of a panel

#ifdef __CUDACC__

struct RowGroup {
  static constexpr int size = 32;
  int lane = static_cast<int>(threadIdx.x) % 32;

  __device__ void sync() const { __syncwarp(); }
  __device__ bool any(bool x) const { return __any_sync(0xffffffffu, x) != 0; }
  template <class X>
  __device__ X broadcast(X x, int from) const {
    return __shfl_sync(0xffffffffu, x, from);
  }
  template <class X>
  __device__ X sum(X x) const {
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(0xffffffffu, x, distance);
    return x;
  }
  /// The sum of x over the lanes before this one.
  template <class X>
  __device__ X sum_before(X x) const {
    X sum = x;
    for (int distance = 1; distance < 32; distance *= 2) {
      const X other = __shfl_up_sync(0xffffffffu, sum, distance);
      if (lane >= distance) sum += other;
    }
    return sum - x;
  }
  __device__ static void add(std::int32_t& to, std::int32_t x) { atomicAdd(&to, x); }
  __device__ static void add(std::int64_t& to, std::int64_t x) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(x));
  }
  __device__ static void set(RowBits* bits, std::int32_t j) { atomicOr(bits + j / 32, RowBits(1) << j % 32); }
  __device__ static int count(RowBits bits) { return __popc(bits); }
  __device__ static int first(RowBits bits) { return __ffs(static_cast<int>(bits)) - 1; }
};

/// The groups that share a row, each with a part of it: the warps of a thread block. What all of them do together
/// goes over items in steps of `threads` from `thread`.
struct RowTeam {
  int part = static_cast<int>(threadIdx.x) / 32, parts = static_cast<int>(blockDim.x) / 32;
  int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  __device__ void sync() const { __syncthreads(); }
};

#else

struct RowGroup {
  static constexpr int size = 1, lane = 0;

  void sync() const {}
  bool any(bool x) const { return x; }
  template <class X>
  X broadcast(X x, int) const {
    return x;
  }
  template <class X>
  X sum(X x) const {
    return x;
  }
  template <class X>
  X sum_before(X) const {
    return 0;
  }
  /// As the other one, without a sign: the sums of an identity wrap around.
  template <class X>
  static void add(X& to, X x) {
    using Unsigned = std::make_unsigned_t<X>;
    to = static_cast<X>(static_cast<Unsigned>(to) + static_cast<Unsigned>(x));
  }
  static void set(RowBits* bits, std::int32_t j) { bits[j / 32] |= RowBits(1) << j % 32; }
  static int count(RowBits bits) { return __builtin_popcount(bits); }
  static int first(RowBits bits) { return __builtin_ctz(bits); }
};

struct RowTeam {
  static constexpr int part = 0, parts = 1, thread = 0, threads = 1;
  void sync() const {}
};

#endif

TESSERA_ROW bool test_bit(const RowBits* bits, std::int32_t j) {
  return bits[j / 32] >> j % 32 & 1;
}
TESSERA_ROW std::int32_t words_for(std::int32_t columns) {
  return (columns + 31) / 32;
}

}  // namespace TESSERA_ROW_NAMESPACE
}  // namespace tessera::detail
