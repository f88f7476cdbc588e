// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/data.hpp>

namespace tessera::detail {

/// The rectangle of a tile that a task works on.
struct TilePart {
  std::int32_t row = 0, col = 0, rows = 0, cols = 0;

  TilePart() = default;
  TilePart(Index first_row, Index first_col, Index m, Index n)
      : row(static_cast<std::int32_t>(first_row)),
        col(static_cast<std::int32_t>(first_col)),
        rows(static_cast<std::int32_t>(m)),
        cols(static_cast<std::int32_t>(n)) {}
  template <class T>
  MatrixView<T> of(const MatrixView<T>& tile) const noexcept {
    return tile.block(row, col, rows, cols);
  }
};

/// Mixes numbers into a footprint.
inline std::uint32_t mix_footprint(std::uint32_t seed, std::uint64_t value) noexcept {
  std::uint64_t h = (static_cast<std::uint64_t>(seed) << 32) ^ value;
  h *= 0x9E3779B97F4A7C15u;
  return static_cast<std::uint32_t>(h >> 32);
}
template <class... Values>
std::uint32_t footprint_of(Values... values) noexcept {
  std::uint32_t seed = 0;
  ((seed = mix_footprint(seed, static_cast<std::uint64_t>(values))), ...);
  return seed;
}

}  // namespace tessera::detail
