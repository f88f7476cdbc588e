// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/csb/csb_index.hpp>
#include <tessera/runtime/types.hpp>

/// The product of a piece of a half-stored CSB matrix, or its transpose, with some vectors: one thread block
/// for each strip of the index (csb_index.hpp).
///
/// Four neighbouring lanes take a row of a slice, each some neighbouring columns; the sums of a warp's slices
/// stay in registers until the strip is done. A step's rows of X are on their way together: those of a warp's
/// neighbouring rows are nearly the same. All rows of X come through the first-level cache, of which nothing
/// else takes a part: matrix and coordinates pass it by. The thread block's warps go through the same windows
/// at about the same time and meet many of the same rows there; a barrier after each window costs more than
/// it saves. Every sum has one fixed order.
namespace tessera::device {

inline constexpr int lanes_of_row = 32 / csb_slice_rows;
template <class T>
constexpr int columns_of_lane = 16 / sizeof(T);
template <class T>
constexpr int slice_columns = lanes_of_row* columns_of_lane<T>;

template <class V, class T>
struct SliceProduct {
  const char* index;
  int m;          ///< vectors that take part, at most slice_columns<T>
  const T* x[2];  ///< by side: X_J, X_I
  std::uint32_t x_row_bytes[2];
  T* y[2];
  std::int64_t ldy[2];
  int cleared[2];  ///< columns m, ..., cleared - 1 of Y become zero
  bool overwrite[2];
};

/// Matrix elements are read once: past the first-level cache, 256 bytes at a time from memory.
__device__ inline void stream(const double* p, bool takes_part, double& value) {
  asm volatile(
      "{ .reg .pred takes_part;\n\t"
      "setp.ne.u32 takes_part, %2, 0;\n\t"
      "@takes_part ld.global.nc.L1::no_allocate.L2::256B.f64 %0, [%1]; }"
      : "+d"(value)
      : "l"(p), "r"(unsigned(takes_part)));
}
__device__ inline void stream(const float* p, bool takes_part, float& value) {
  asm volatile(
      "{ .reg .pred takes_part;\n\t"
      "setp.ne.u32 takes_part, %2, 0;\n\t"
      "@takes_part ld.global.nc.L1::no_allocate.L2::256B.f32 %0, [%1]; }"
      : "+f"(value)
      : "l"(p), "r"(unsigned(takes_part)));
}
__device__ inline uint4 stream(const uint4* p) {
  uint4 value;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(p));
  return value;
}

/// Brings what the warp needs some steps later to the second-level cache.
__device__ inline void prefetch(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/// base + number * bytes, in one instruction.
template <class P>
__device__ inline const P* element(const P* base, std::uint32_t number, std::uint32_t bytes) {
  const P* address;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(address) : "r"(number), "r"(bytes), "l"(base));
  return address;
}

/// `each` neighbouring elements of a row of X. They stay until the next are gathered.
template <class T, int each>
struct RowOfX {
  T x[each] = {};

  /// If `takes_part` the first `count` at `row`; `vector`: all of them, as one access.
  template <bool vector>
  __device__ void gather(const T* row, bool takes_part, int count) {
    if constexpr (vector && each == 2) {
      asm volatile(
          "{ .reg .pred takes_part;\n\t"
          "setp.ne.u32 takes_part, %3, 0;\n\t"
          "@takes_part ld.global.nc.v2.f64 {%0, %1}, [%2]; }"
          : "+d"(x[0]), "+d"(x[1])
          : "l"(row), "r"(unsigned(takes_part)));
    } else if constexpr (vector) {
      asm volatile(
          "{ .reg .pred takes_part;\n\t"
          "setp.ne.u32 takes_part, %5, 0;\n\t"
          "@takes_part ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4]; }"
          : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3])
          : "l"(row), "r"(unsigned(takes_part)));
    } else {
#pragma unroll
      for (int j = 0; j < each; ++j)
        if (takes_part && j < count) x[j] = __ldg(row + j);
    }
  }
};

/// A lane's place in the steps of its warp, and its columns of the window's first row of X.
template <class V>
struct SliceStream {
  const V* values;
  const uint4* coordinates;
  uint4 next;  ///< coordinates that are on their way
  const char* x;
  std::uint32_t x_row_bytes;
  int to_prefetch;  ///< from `values` to the lane's 1/32 of a later step's values

  __device__ void bring_coordinates() {
    next = stream(coordinates);
    coordinates += csb_slice_rows;
  }
  __device__ void look_ahead() const {
    prefetch(values + to_prefetch);
    prefetch(coordinates + 2 * csb_slice_rows);
  }
};

/// Steps of slice q.
__device__ inline std::uint32_t steps_of(const uint4& steps, int q) {
  const std::uint32_t two = q < 2 ? steps.x : q < 4 ? steps.y : q < 6 ? steps.z : steps.w;
  return q % 2 == 0 ? two & 0xffff : two >> 16;
}

/// sum += step k of a window. `whole`: all slices take part. `columns`: so many of the lane's take part.
///
/// A place without an entry adds 0 times what the same row of Y met before: that was finite, or the sum is
/// not any more. So no other row of X has a part in it, whatever that holds.
template <bool vector, bool whole, class V, class T, int each>
__device__ inline void add_step(SliceStream<V>& s, const uint4& steps, std::uint32_t k, int columns,
                                RowOfX<T, each> (&rows)[csb_warp_slices], T (&sum)[csb_warp_slices][each]) {
  constexpr int slices = csb_warp_slices;
  const uint4 c = s.next;
  const std::uint32_t coordinates[slices] = {c.x & 0xffff, c.x >> 16, c.y & 0xffff, c.y >> 16,
                                             c.z & 0xffff, c.z >> 16, c.w & 0xffff, c.w >> 16};
#pragma unroll
  for (int q = 0; q < slices; ++q)
    rows[q].template gather<vector>(reinterpret_cast<const T*>(element(s.x, coordinates[q], s.x_row_bytes)),
                                    coordinates[q] != csb_no_entry, columns);
  V factors[slices] = {};
  std::uint32_t slice = 0;  // of the step's values
#pragma unroll
  for (int q = 0; q < slices; ++q) {
    const bool takes_part = whole || k < steps_of(steps, q);
    const V* const values =
        whole ? s.values + q * csb_slice_rows : element(s.values, slice, csb_slice_rows * sizeof(V));
    stream(values, takes_part, factors[q]);
    slice += takes_part;
  }
  s.look_ahead();
  s.values = element(s.values, slice, csb_slice_rows * sizeof(V));
  s.bring_coordinates();
#pragma unroll
  for (int q = 0; q < slices; ++q)
#pragma unroll
    for (int j = 0; j < each; ++j) sum[q][j] = fma(T(factors[q]), rows[q].x[j], sum[q][j]);
}

/// sum := a warp's rows of the product.
template <bool vector, class V, class T, int each>
__device__ inline void add_windows(const SliceProduct<V, T>& product, const CsbIndexHeader& header,
                                   const CsbStrip& strip, int warps, int warp,
                                   T (&sum)[csb_warp_slices][each]) {
  const auto part_of_index = [&](std::int64_t offset) { return product.index + offset; };
  const int lane = static_cast<int>(threadIdx.x) % 32, place = lane / lanes_of_row,
            column = lane % lanes_of_row * each, columns = product.m - column;
  // A lane without columns looks at those of the first, and keeps what it finds to itself.
  const T* const x = product.x[strip.side] + (columns > 0 ? column : 0);
  const CsbWarpStart start = reinterpret_cast<const CsbWarpStart*>(
      part_of_index(header.starts_offset))[std::int64_t(blockIdx.x) * warps + warp];
  const auto* const windows =
      reinterpret_cast<const std::uint32_t*>(part_of_index(header.windows_offset)) + strip.first_window;
  const auto* const steps = reinterpret_cast<const uint4*>(part_of_index(header.steps_offset)) +
                            std::int64_t(strip.first_window) * warps + warp;
  SliceStream<V> s{
      reinterpret_cast<const V*>(part_of_index(header.values_offset)) + start.values * csb_slice_rows + place,
      reinterpret_cast<const uint4*>(part_of_index(header.coordinates_offset)) + start.step * csb_slice_rows +
          place,
      {},
      nullptr,
      product.x_row_bytes[strip.side],
      static_cast<int>((csb_read_ahead - 1) * csb_warp_rows + lane * csb_warp_rows / 32 - place)};
  s.bring_coordinates();
  RowOfX<T, each> rows[csb_warp_slices];
  uint4 next_steps = __ldg(steps);
  std::uint32_t first = __ldg(windows);
  for (std::uint32_t w = 0; w < strip.windows; ++w) {
    const uint4 here = next_steps;
    s.x = reinterpret_cast<const char*>(element(x, first, s.x_row_bytes));
    if (w + 1 < strip.windows) {
      next_steps = __ldg(steps + std::int64_t(w + 1) * warps);
      first = __ldg(windows + w + 1);
    }
    const std::uint32_t least = __vminu2(__vminu2(here.x, here.y), __vminu2(here.z, here.w)),
                        most = __vmaxu2(__vmaxu2(here.x, here.y), __vmaxu2(here.z, here.w)),
                        whole = min(least & 0xffff, least >> 16), all = max(most & 0xffff, most >> 16);
#pragma unroll 1
    for (std::uint32_t k = 0; k < whole; ++k) add_step<vector, true>(s, here, k, columns, rows, sum);
#pragma unroll 1
    for (std::uint32_t k = whole; k < all; ++k) add_step<vector, false>(s, here, k, columns, rows, sum);
  }
}

template <class V, class T, bool vector>
__global__ void __launch_bounds__(32 * csb_most_strip_warps, 1)
    slice_kernel(const __grid_constant__ SliceProduct<V, T> product) {
  constexpr int each = columns_of_lane<T>;
  const auto& header = *reinterpret_cast<const CsbIndexHeader*>(product.index);
  const CsbStrip strip = reinterpret_cast<const CsbStrip*>(product.index + header.strips_offset)[blockIdx.x];
  const int warps = static_cast<int>(blockDim.x) / 32, warp = static_cast<int>(threadIdx.x) / 32;
  if (warp * csb_warp_rows >= strip.rows) return;
  const bool overwrite = product.overwrite[strip.side];
  if (strip.windows == 0 && !overwrite) return;
  T sum[csb_warp_slices][each] = {};
  if (strip.windows > 0) add_windows<vector>(product, header, strip, warps, warp, sum);

  const int place = static_cast<int>(threadIdx.x) % 32 / lanes_of_row,
            lane_of_row = static_cast<int>(threadIdx.x) % lanes_of_row, column = lane_of_row * each,
            columns = product.m - column;
  const std::int64_t ldy = product.ldy[strip.side];
  T* const y = product.y[strip.side] + strip.first_row * ldy;
  const int cleared = product.cleared[strip.side] - product.m;
#pragma unroll
  for (int q = 0; q < csb_warp_slices; ++q) {
    const int row = warp * static_cast<int>(csb_warp_rows) + q * static_cast<int>(csb_slice_rows) + place;
    if (row >= strip.rows) break;
    T* const to = y + row * ldy;
#pragma unroll
    for (int j = 0; j < each; ++j)
      if (j < columns) to[column + j] = overwrite ? sum[q][j] : to[column + j] + sum[q][j];
    for (int j = lane_of_row; j < cleared; j += lanes_of_row) to[product.m + j] = T(0);
  }
}

}  // namespace tessera::device
