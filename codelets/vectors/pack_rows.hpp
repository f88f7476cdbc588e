// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/vectors/column_range.hpp>

namespace tessera::kernels {

/// So many rows at once: blocks of a task, packed side by side in double, stay in the second cache.
inline constexpr std::int64_t packed_rows = 128;

template <class Block>
std::int64_t columns_of(std::span<const Block> blocks) noexcept {
  std::int64_t sum = 0;
  for (const Block& block : blocks) sum += block.columns;
  return sum;
}

/// Rows first, ..., first + rows - 1 of the blocks side by side, in double: row i at packed + i * ld.
template <class T>
void pack_rows(std::span<const VectorBlock<const T>> blocks, std::int64_t first, std::int64_t rows,
               double* packed, std::int64_t ld) noexcept {
  for (const VectorBlock<const T>& block : blocks) {
    const T* from = block.data + first * block.ld;
    double* to = packed;
    for (std::int64_t i = 0; i < rows; ++i, from += block.ld, to += ld)
      for (std::int32_t j = 0; j < block.columns; ++j) to[j] = from[j];
    packed += block.columns;
  }
}

}  // namespace tessera::kernels
