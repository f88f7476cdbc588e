// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/csb/csb_index.hpp>
#include <tessera/runtime/types.hpp>

/// The product of a piece of a half-stored CSB matrix, or its transpose, with some vectors: one thread block
/// for each strip of the index (csb_index.hpp).
///
/// Four neighbouring lanes take a row of a slice (for twice the columns eight, so that a row of X is fetched
/// at once), each some neighbouring columns; the sums of a warp's slices stay in registers until the strip is
/// done. All rows of X come through the first-level cache, of which nothing else takes a part: matrix and
/// coordinates pass it by. The thread block's warps go through the same windows at about the same time and
/// meet many of the same rows there; a barrier after each window costs more than it saves. Every sum has one
/// fixed order.
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

/// A lane's place in the steps of its warp, and its columns of the window's first row of X. `halves`: 1, or 2
/// where eight lanes take a row: a lane then has two rows of a slice.
template <class V, class T, int halves>
struct SliceStream {
  static constexpr int rows_apart = csb_slice_rows / halves;
  const V* values;
  const uint2* coordinates;
  uint2 next[halves];  ///< coordinates that are on their way
  const char* x;
  std::uint32_t x_row_bytes;

  __device__ void bring_coordinates() {
#pragma unroll
    for (int h = 0; h < halves; ++h) next[h] = stream(coordinates + h * rows_apart);
    coordinates += csb_slice_rows;
  }
};

/// sum += the next steps, `count` of them, at most csb_coordinate_steps. `columns`: so many of the lane's
/// take part, or none.
template <bool vector, class V, class T, int halves, int each>
__device__ inline void add_steps(SliceStream<V, T, halves>& s, int count, int columns,
                                 T (&sum)[halves][each]) {
  constexpr int number = csb_coordinate_steps, together = number / halves, apart = s.rows_apart;
  std::uint32_t coordinates[halves][number];
  V factors[halves][number];
#pragma unroll
  for (int h = 0; h < halves; ++h) {
    const uint2 four = s.next[h];
    const std::uint32_t these[number] = {four.x & 0xffff, four.x >> 16, four.y & 0xffff, four.y >> 16};
#pragma unroll
    for (int k = 0; k < number; ++k) {
      coordinates[h][k] = these[k];
      if (k < count) factors[h][k] = stream(s.values + k * csb_slice_rows + h * apart);
    }
  }
  s.bring_coordinates();
#pragma unroll
  for (int first = 0; first < number; first += together) {
    RowOfX<T, each> rows[halves][together];
    // A place without an entry gives nothing, whatever X holds.
    const auto takes_part = [&](int h, int k) {
      return coordinates[h][first + k] != csb_no_entry && columns > 0;
    };
#pragma unroll
    for (int h = 0; h < halves; ++h)
#pragma unroll
      for (int k = 0; k < together; ++k)
        if (takes_part(h, k))
          rows[h][k].template gather<vector>(
              reinterpret_cast<const T*>(s.x + std::uint64_t(coordinates[h][first + k]) * s.x_row_bytes),
              columns);
#pragma unroll
    for (int h = 0; h < halves; ++h)
#pragma unroll
      for (int k = 0; k < together; ++k)
        if (takes_part(h, k))
#pragma unroll
          for (int j = 0; j < each; ++j)
            sum[h][j] = fma(T(factors[h][first + k]), rows[h][k].x[j], sum[h][j]);
  }
}

/// With two halves there are twice the lanes to a row, and twice the columns; threads need more registers,
/// and a thread block has half of a strip's warps.
template <class V, class T, int halves, bool vector>
__global__ void __launch_bounds__(32 * csb_most_strip_warps / halves, 1)
    slice_kernel(const __grid_constant__ SliceProduct<V, T> product) {
  constexpr int each = 16 / sizeof(T), lanes = lanes_of_row * halves;
  const auto& header = *reinterpret_cast<const CsbIndexHeader*>(product.index);
  const auto part_of_index = [&](std::int64_t offset) { return product.index + offset; };
  const int number = static_cast<int>(blockIdx.x) / halves, half = static_cast<int>(blockIdx.x) % halves;
  const CsbStrip strip = reinterpret_cast<const CsbStrip*>(part_of_index(header.strips_offset))[number];
  if (strip.windows == 0 && !product.overwrite[strip.side]) return;
  const int of_block = static_cast<int>(blockDim.x) / 32, warps = of_block * halves,
            warp = half * of_block + static_cast<int>(threadIdx.x) / 32,
            place = static_cast<int>(threadIdx.x) % 32 / lanes,
            column = static_cast<int>(threadIdx.x) % lanes * each, columns = product.m - column;

  T sum[csb_warp_slices][halves][each] = {};
  if (strip.windows > 0) {
    const CsbWarpStart start = reinterpret_cast<const CsbWarpStart*>(
        part_of_index(header.starts_offset))[std::int64_t(number) * warps + warp];
    const auto* const windows =
        reinterpret_cast<const std::uint32_t*>(part_of_index(header.windows_offset)) + strip.first_window;
    const auto* const steps = reinterpret_cast<const std::uint64_t*>(part_of_index(header.steps_offset)) +
                              std::int64_t(strip.first_window) * warps + warp;
    SliceStream<V, T, halves> s{
        reinterpret_cast<const V*>(part_of_index(header.values_offset)) + start.step * csb_slice_rows + place,
        reinterpret_cast<const uint2*>(part_of_index(header.coordinates_offset)) +
            start.coordinates * csb_slice_rows + place,
        {},
        nullptr,
        product.x_row_bytes[strip.side]};
    s.bring_coordinates();
    const int ahead =
        csb_read_ahead * csb_slice_rows / 2 + static_cast<int>(threadIdx.x) % 4 * csb_slice_rows;
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
          add_steps<vector>(s, count, columns, sum[q]);
          s.values += csb_slice_rows * (count < csb_coordinate_steps ? count : csb_coordinate_steps);
        }
    }
  }

  T* const y = product.y[strip.side] + strip.first_row * product.ldy[strip.side];
  const std::int64_t ldy = product.ldy[strip.side];
  const bool overwrite = product.overwrite[strip.side];
  const int cleared = product.cleared[strip.side] - product.m;
#pragma unroll
  for (int q = 0; q < csb_warp_slices; ++q)
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      const int row = warp * csb_warp_rows + q * csb_slice_rows + h * (csb_slice_rows / halves) + place;
      if (row >= strip.rows) continue;
      T* const to = y + row * ldy;
#pragma unroll
      for (int j = 0; j < each; ++j)
        if (j < columns) to[column + j] = overwrite ? sum[q][h][j] : to[column + j] + sum[q][h][j];
      for (int j = column / each; j < cleared; j += lanes) to[product.m + j] = T(0);
    }
}

}  // namespace tessera::device
