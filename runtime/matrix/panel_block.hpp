// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/types.hpp>

namespace tessera::detail {

/// One block of a panel, as tasks read it.
struct PanelBlock {
  Index offset;                       ///< element of the panel's data at which it begins
  std::int32_t rows, cols;            ///< elements; stored column-major without gaps
  std::int32_t block_row, block_col;  ///< its numbers in the matrix
  Index first_row, first_col;         ///< element of the matrix at which it begins
};

}  // namespace tessera::detail
