// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/tile_part.hpp>

/// What the tasks of lapack_driver.hpp carry beside their buffers: shared by the CPU and the CUDA
/// implementations.
namespace tessera::lapack_driver_codelets {

struct DriverArguments {
  Index n, tile_a, tile_b, lo, hi;
  std::int32_t slabs, threads;
  bool generalized;
  std::uint32_t footprint() const noexcept { return footprint_of(n, slabs > 0, generalized); }
};

/// A part of a work array starts at a multiple of this.
constexpr std::size_t aligned(std::size_t bytes) noexcept {
  return (bytes + 255) / 256 * 256;
}

}  // namespace tessera::lapack_driver_codelets
