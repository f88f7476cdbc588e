// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/tile_part.hpp>

/// What the tasks of block_reflector.hpp carry beside their buffers: shared by the CPU and the CUDA
/// implementations.
namespace tessera::block_reflector_codelets {

struct ReflectorArguments {
  std::int32_t first_row, rows, k, b, pieces, first_col = 0;
  std::uint32_t footprint() const noexcept { return footprint_of(rows, k, pieces); }
};

struct SolveArguments {
  Index tile, rows;
};

}  // namespace tessera::block_reflector_codelets
