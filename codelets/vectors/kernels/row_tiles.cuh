// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include <tessera/codelets/vectors/columns.hpp>

/// What the products of tall and skinny blocks of row-major vectors share: rows of several blocks side by
/// side in shared memory, and the tensor cores' instruction in double precision.
namespace tessera::detail::device {

/// Blocks side by side.
template <class T, int most>
struct BlockRow {
  VectorBlock<T> blocks[most];
  int count = 0, columns = 0;

  template <class Blocks>
  static BlockRow of(const Blocks& from) {
    BlockRow row;
    for (const auto& block : from) {
      if (block.columns == 0) continue;
      row.blocks[row.count++] = block;
      row.columns += block.columns;
    }
    return row;
  }
};

/// The smallest stride >= columns of rows in shared memory with which the fragments of mma_8x8x4 have no bank
/// conflicts. `by_row`: a(row, column) is element (row, column), else it is element (column, row).
template <class T>
constexpr int tile_stride(int columns, bool by_row) {
  constexpr int period = 128 / sizeof(T);
  const int rest = by_row || sizeof(T) == 8 ? 4 : 8;
  return (columns - rest + period - 1 + period) / period * period - period + rest;
}

/// c += a b for a tile of 8 x 8 and four inner indices: lane gives a(lane / 4, lane % 4) and b(lane % 4, lane
/// / 4) and holds c(lane / 4, 2 (lane % 4) + {0, 1}).
__device__ inline void mma_8x8x4(double (&c)[2], double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

template <class T>
__device__ inline void copy_element(T* to, const T* from) {
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
      "l"(from), "n"(sizeof(T))
      : "memory");
}
__device__ inline void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int pending>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// Starts copies of rows first, ..., first + rows - 1 of the blocks to row after row of `tile`, from column
/// `column` on, by thread number `thread` of `threads`; rows from `end` on become zero.
template <class T, int most>
__device__ inline void copy_rows(const BlockRow<const T, most>& from, std::int64_t first, int rows,
                                 std::int64_t end, T* tile, int stride, int column, int thread, int threads) {
  for (int b = 0; b < from.count; ++b) {
    const VectorBlock<const T>& block = from.blocks[b];
    const int columns = block.columns, row_step = threads / columns, column_step = threads % columns;
    int i = thread / columns, j = thread % columns;
    while (i < rows) {
      T* const to = tile + i * stride + column + j;
      if (first + i < end)
        copy_element(to, block.data + (first + i) * block.ld + j);
      else
        *to = T(0);
      i += row_step;
      j += column_step;
      if (j >= columns) j -= columns, ++i;
    }
    column += columns;
  }
}

}  // namespace tessera::detail::device
