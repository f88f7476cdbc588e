// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/tile_part.hpp>

/// What the tasks of two_sided.hpp carry beside their buffers: shared by the CPU and the CUDA
/// implementations.
namespace tessera::two_sided_codelets {

struct MirrorArguments {};

struct ProductArguments {
  TilePart part;
  bool diagonal, fresh_i, fresh_j;
  std::uint32_t footprint() const noexcept { return footprint_of(part.rows, part.cols, diagonal); }
};

struct InnerArguments {
  std::int32_t row, rows, done, kb, b;
  bool y_fresh;
  std::uint32_t footprint() const noexcept { return footprint_of(rows, done, kb, b); }
};

struct UpdateArguments {
  TilePart part;
  std::int32_t top_row, done, kb;
  bool same;
  bool both_triangles = false;  ///< on the diagonal, the upper triangle is needed too
  std::uint32_t footprint() const noexcept { return footprint_of(part.rows, part.cols, done, same); }
};

struct ZeroArguments {};

struct BandArguments {
  TilePart part;
  Index row0, col0, first_col;
  std::int32_t b;
  bool from_factor;
  std::uint32_t footprint() const noexcept { return footprint_of(part.rows, part.cols, from_factor); }
};

}  // namespace tessera::two_sided_codelets
