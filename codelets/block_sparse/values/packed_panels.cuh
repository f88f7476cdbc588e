// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/runtime/matrix/packed_pattern.hpp>

/// Searches in the panels of packed patterns.
namespace tessera::detail::device {

/// The block of a column in a row of a panel; -1: there is none.
__device__ inline std::int32_t find_block(const PackedPanel& panel, std::int32_t row, std::int32_t column) {
  if (panel.blocks == 0) return -1;
  std::int32_t first = panel.row_begin[row], end = panel.row_begin[row + 1];
  while (first < end) {
    const std::int32_t middle = first + (end - first) / 2;
    if (panel.column[middle] < column)
      first = middle + 1;
    else
      end = middle;
  }
  return first < panel.row_begin[row + 1] && panel.column[first] == column ? first : -1;
}
/// The row of a block of a panel with so many rows.
__device__ inline std::int32_t row_of_block(const PackedPanel& panel, std::int32_t rows, std::int32_t block) {
  std::int32_t first = 0, end = rows;  // row_begin[first] <= block < row_begin[end]
  while (first + 1 < end) {
    const std::int32_t middle = first + (end - first) / 2;
    (panel.row_begin[middle] <= block ? first : end) = middle;
  }
  return first;
}

}  // namespace tessera::detail::device
