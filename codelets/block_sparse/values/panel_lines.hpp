// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/codelets/common/host_device.hpp>
#include <tessera/types.hpp>

/// Where the blocks of a panel lie among its rows and columns, for tasks whose results belong to these.
namespace tessera::detail {

/// Where the rows and columns of a block lie among those of its panel, in elements.
struct BlockLines {
  std::int32_t row, col;
};

/// The numbers of a panel's blocks by rows and by columns of blocks, in one array of std::int32_t: where each
/// row of blocks begins among them (and the end of the last), where each column begins in the list (and the
/// end), and the list: the blocks by columns, from top to bottom.
struct PanelOrder {
  const std::int32_t *row_begin, *col_begin, *by_col;
  TESSERA_HOST_DEVICE constexpr PanelOrder(const std::int32_t* array, Index block_rows,
                                           Index block_cols) noexcept
      : row_begin(array), col_begin(array + block_rows + 1), by_col(col_begin + block_cols + 1) {}
  static constexpr Index size(Index block_rows, Index block_cols, Index blocks) noexcept {
    return block_rows + block_cols + 2 + blocks;
  }
};

}  // namespace tessera::detail
