// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

struct TileArguments {
  bool diagonal;
};

}  // namespace tessera::check_codelets
