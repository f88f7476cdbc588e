// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/csb/csb_index.hpp>
#include <tessera/runtime/types.hpp>

/// The product of a piece of a half-stored CSB matrix, or its transpose, with some vectors: one thread block
/// for each strip of the index (csb_index.hpp).
///
/// Four neighbouring lanes take a row of a slice, each some neighbouring columns; the sums of a warp's slices
/// stay in registers until the strip is done. All rows of X come through the first-level cache, of which
/// nothing else takes a part: matrix and coordinates pass it by. The thread block's warps go through the same
/// windows at about the same time and meet many of the same rows there; a barrier after each window costs
/// more than it saves. Every sum has one fixed order.
namespace tessera::device {

inline constexpr int lanes_of_row = 32 / csb_slice_rows;

template <class V, class T>
struct SliceProduct {
  const char* index;
  int m;          ///< vectors that take part
  const T* x[2];  ///< by side: X_J, X_I
  std::uint32_t x_row_bytes[2];
  T* y[2];
  std::int64_t ldy[2];
  int cleared[2];  ///< columns m, ..., cleared - 1 of Y become zero
  bool overwrite[2];
};

/// Matrix elements are read once: past the first-level cache, 256 bytes at a time from memory.
__device__ inline double stream(const double* p) {
  double value;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.f64 %0, [%1];" : "=d"(value) : "l"(p));
  return value;
}
__device__ inline float stream(const float* p) {
  float value;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.f32 %0, [%1];" : "=f"(value) : "l"(p));
  return value;
}
__device__ inline uint2 stream(const uint2* p) {
  uint2 value;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v2.u32 {%0, %1}, [%2];"
               : "=r"(value.x), "=r"(value.y)
               : "l"(p));
  return value;
}

/// Brings the 256 bytes of values that the warp needs some steps later to the second-level cache.
template <class V>
__device__ inline void prefetch(const V* p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/// sum += factor * `each` neighbouring elements of a row of X, of which the first `count` take part.
/// `vector`: as one access.
template <class T, int each>
struct RowOfX {
  T x[each];
  template <bool vector>
  __device__ void gather(const T* row, int count) {
    if constexpr (vector && each == 2) {
      const double2 pair = __ldg(reinterpret_cast<const double2*>(row));
      x[0] = pair.x, x[1] = pair.y;
    } else if constexpr (vector) {
      const float4 four = __ldg(reinterpret_cast<const float4*>(row));
      x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
    } else {
#pragma unroll
      for (int j = 0; j < each; ++j) x[j] = j < count ? __ldg(row + j) : T(0);
    }
  }
};

/// A lane's place in the steps of its warp, and its columns of the window's first row of X.
template <class V, class T>
struct SliceStream {
  const V* values;
  const uint2* coordinates;
  uint2 next;  ///< coordinates that are on their way
  const char* x;
  std::uint32_t x_row_bytes;
};

/// sum += the next steps, `count` of them, at most csb_coordinate_steps.
template <int parts, bool vector, class V, class T, int each>
__device__ inline void add_steps(SliceStream<V, T>& s, int count, const int (&columns)[parts],
                                 T (&sum)[parts][each]) {
  constexpr int number = csb_coordinate_steps, together = number / parts;
  const uint2 four = s.next;
  s.coordinates += csb_slice_rows;
  s.next = stream(s.coordinates);
  V factors[number];
#pragma unroll
  for (int k = 0; k < number; ++k)
    if (k < count) factors[k] = stream(s.values + k * csb_slice_rows);
  const std::uint32_t coordinates[number] = {four.x & 0xffff, four.x >> 16, four.y & 0xffff, four.y >> 16};
#pragma unroll
  for (int first = 0; first < number; first += together) {
    RowOfX<T, each> rows[together][parts];
    // A place without an entry gives nothing, whatever X holds.
    const auto takes_part = [&](int k, int p) {
      return coordinates[first + k] != csb_no_entry && columns[p] > 0;
    };
#pragma unroll
    for (int k = 0; k < together; ++k) {
      const char* const row = s.x + std::uint64_t(coordinates[first + k]) * s.x_row_bytes;
#pragma unroll
      for (int p = 0; p < parts; ++p)
        if (takes_part(k, p))
          rows[k][p].template gather<vector>(reinterpret_cast<const T*>(row) + p * lanes_of_row * each,
                                             columns[p]);
    }
#pragma unroll
    for (int k = 0; k < together; ++k)
#pragma unroll
      for (int p = 0; p < parts; ++p)
        if (takes_part(k, p))
#pragma unroll
          for (int j = 0; j < each; ++j) sum[p][j] = fma(T(factors[first + k]), rows[k][p].x[j], sum[p][j]);
  }
}

/// `parts`: a lane has so many times `each` neighbouring columns, and a thread block, whose threads need so
/// many more registers, such a part of a strip's warps.
template <class V, class T, int parts, bool vector>
__global__ void __launch_bounds__(32 * csb_most_strip_warps / parts, 1)
    slice_kernel(const __grid_constant__ SliceProduct<V, T> product) {
  constexpr int each = 16 / sizeof(T);
  const auto& header = *reinterpret_cast<const CsbIndexHeader*>(product.index);
  const auto part_of_index = [&](std::int64_t offset) { return product.index + offset; };
  const CsbStrip strip =
      reinterpret_cast<const CsbStrip*>(part_of_index(header.strips_offset))[blockIdx.x / parts];
  if (strip.windows == 0 && !product.overwrite[strip.side]) return;
  const int of_block = static_cast<int>(blockDim.x) / 32, warps = of_block * parts,
            warp = static_cast<int>(blockIdx.x % parts) * of_block + static_cast<int>(threadIdx.x) / 32,
            place = static_cast<int>(threadIdx.x) % 32 / lanes_of_row,
            column = static_cast<int>(threadIdx.x) % lanes_of_row * each;
  int columns[parts];
#pragma unroll
  for (int p = 0; p < parts; ++p) columns[p] = product.m - column - p * lanes_of_row * each;

  T sum[csb_warp_slices][parts][each] = {};
  if (strip.windows > 0) {
    const CsbWarpStart start = reinterpret_cast<const CsbWarpStart*>(
        part_of_index(header.starts_offset))[std::int64_t(blockIdx.x / parts) * warps + warp];
    const auto* const windows =
        reinterpret_cast<const std::uint32_t*>(part_of_index(header.windows_offset)) + strip.first_window;
    const auto* const steps = reinterpret_cast<const std::uint64_t*>(part_of_index(header.steps_offset)) +
                              std::int64_t(strip.first_window) * warps + warp;
    SliceStream<V, T> s{
        reinterpret_cast<const V*>(part_of_index(header.values_offset)) + start.step * csb_slice_rows + place,
        reinterpret_cast<const uint2*>(part_of_index(header.coordinates_offset)) +
            start.coordinates * csb_slice_rows + place,
        {},
        nullptr,
        product.x_row_bytes[strip.side]};
    s.next = stream(s.coordinates);
    // Lanes of a slice's row look at the same value: spread out they cover the next ones, too.
    const int ahead =
        csb_read_ahead * csb_slice_rows / 2 + static_cast<int>(threadIdx.x) % lanes_of_row * csb_slice_rows;
    std::uint64_t here = __ldg(steps);
    std::uint32_t first = __ldg(windows);
    for (std::uint32_t w = 0; w < strip.windows; ++w) {
      const std::uint64_t lengths = here;
      s.x = reinterpret_cast<const char*>(product.x[strip.side] + column) +
            std::uint64_t(first) * s.x_row_bytes;
      if (w + 1 < strip.windows) {
        here = __ldg(steps + std::int64_t(w + 1) * warps);
        first = __ldg(windows + w + 1);
      }
#pragma unroll
      for (int q = 0; q < csb_warp_slices; ++q)
        for (int count = static_cast<int>(lengths >> 16 * q & 0xffff); count > 0;
             count -= csb_coordinate_steps) {
          prefetch(s.values + ahead);
          add_steps<parts, vector>(s, count, columns, sum[q]);
          s.values += csb_slice_rows * (count < csb_coordinate_steps ? count : csb_coordinate_steps);
        }
    }
  }

  T* const y = product.y[strip.side] + strip.first_row * product.ldy[strip.side];
  const std::int64_t ldy = product.ldy[strip.side];
  const bool overwrite = product.overwrite[strip.side];
#pragma unroll
  for (int q = 0; q < csb_warp_slices; ++q) {
    const int row = warp * csb_warp_rows + q * csb_slice_rows + place;
    if (row >= strip.rows) continue;
#pragma unroll
    for (int p = 0; p < parts; ++p)
#pragma unroll
      for (int j = 0; j < each; ++j)
        if (j < columns[p]) {
          T& to = y[row * ldy + column + p * lanes_of_row * each + j];
          to = overwrite ? sum[q][p][j] : to + sum[q][p][j];
        }
  }
  // The columns that take no part, of the thread block's rows.
  const int cleared = product.cleared[strip.side] - product.m,
            first_row = static_cast<int>(blockIdx.x % parts) * of_block * csb_warp_rows;
  if (cleared > 0)
    for (int i = static_cast<int>(threadIdx.x); i < of_block * csb_warp_rows * cleared;
         i += static_cast<int>(blockDim.x))
      if (const int row = first_row + i / cleared; row < strip.rows)
        y[row * ldy + product.m + i % cleared] = T(0);
}

}  // namespace tessera::device
