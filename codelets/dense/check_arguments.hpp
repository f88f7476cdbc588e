// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/tile_part.hpp>

/// What the tasks of check.hpp carry beside their buffers: shared by the CPU and the CUDA implementations.
namespace tessera::check_codelets {

struct ProductArguments {
  Index row0, col0;
  bool fresh;
};

struct ColumnArguments {
  Index first;
};

struct InnerArguments {
  bool one_piece, same;
};
/// Columns of Y whose products with all columns of X fit into a work space of so many elements.
inline Index columns_at_once(std::size_t elements, Index x_cols) noexcept {
  return std::max<Index>(static_cast<Index>(elements) / std::max<Index>(x_cols, 1), 1);
}

struct TileArguments {
  bool diagonal;
};

}  // namespace tessera::check_codelets
