// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>

#include <tessera/codelets/vectors/column_range.hpp>

namespace tessera::kernels {

/// So many rows at once: those of a task's blocks stay in the first or second cache.
inline constexpr std::int64_t packed_rows = 128;

template <class Block>
std::int64_t columns_of(std::span<const Block> blocks) noexcept {
  std::int64_t sum = 0;
  for (const Block& block : blocks) sum += block.columns;
  return sum;
}

/// Rows in double, row-major.
struct WideRows {
  const double* data;
  std::int64_t ld;
};

/// Rows first, ..., first + rows - 1 of a block, in double: where they lie, or a copy in `space`.
template <class T>
WideRows wide_rows(const VectorBlock<const T>& block, std::int64_t first, std::int64_t rows,
                   double* space) noexcept {
  const T* from = block.data + first * block.ld;
  if constexpr (std::is_same_v<T, double>) {
    return {from, block.ld};
  } else {
    for (std::int64_t i = 0; i < rows; ++i, from += block.ld)
      std::copy_n(from, block.columns, space + i * block.columns);
    return {space, block.columns};
  }
}

/// The same rows of several blocks side by side, in double, column after column with `rows` numbers each.
template <class T>
void pack_columns(std::span<const VectorBlock<const T>> blocks, std::int64_t first, std::int64_t rows,
                  double* packed) noexcept {
  for (const VectorBlock<const T>& block : blocks) {
    const T* from = block.data + first * block.ld;
    for (std::int64_t i = 0; i < rows; ++i, from += block.ld)
      for (std::int32_t j = 0; j < block.columns; ++j) packed[j * rows + i] = from[j];
    packed += block.columns * rows;
  }
}

}  // namespace tessera::kernels
