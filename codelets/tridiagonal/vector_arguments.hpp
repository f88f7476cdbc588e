// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/tile_part.hpp>
#include <tessera/codelets/tridiagonal/merge_record.hpp>
#include <tessera/codelets/tridiagonal/vector_tasks.hpp>
#include <tessera/runtime/codelet.hpp>

/// Arguments that the CPU's and the GPU's side of vector_tasks.hpp share.
namespace tessera::vector_codelets {

struct MergeColumns {
  Index m, begin, end, rows, inner;
  tridiagonal::Child child;
  std::uint32_t footprint() const noexcept { return footprint_of(m, end - begin, rows, inner); }
};

struct PackArguments {
  Index m, rows, tile_columns;
  tridiagonal::Child child;
  std::uint32_t footprint() const noexcept { return footprint_of(m, rows); }
};

inline constexpr Index most_tiles = 1024;

struct SlabArguments {
  Index block_rows;
  SlabColumns columns;
  std::uint32_t footprint() const noexcept { return footprint_of(columns.count); }
};

inline const tridiagonal::PanelOutline& outline_of(TaskBuffers buffers, int i) noexcept {
  return *reinterpret_cast<const tridiagonal::PanelOutline*>(buffers.array<const char>(i).data());
}

}  // namespace tessera::vector_codelets
