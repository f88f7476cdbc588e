// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/tile_part.hpp>
#include <tessera/codelets/tridiagonal/merge_batch.hpp>
#include <tessera/codelets/tridiagonal/value_tasks.hpp>

/// Arguments that the CPU's and the GPU's side of value_tasks.hpp share.
namespace tessera::value_codelets {

/// Rows [start, start + m) of a problem of order n.
struct RangeArguments {
  Index n, start, m;
  double epsilon;
  bool rows;
  std::uint32_t footprint() const noexcept { return footprint_of(m, rows); }
};

/// A forest of leaves; the first starts at row `start` of a problem of order n.
struct LeafArguments {
  Index n, start;
  tridiagonal::Forest forest;
  double epsilon;
  std::uint32_t footprint() const noexcept { return footprint_of(forest.rows, forest.leaf); }
};

inline void* bytes_of(TaskBuffers buffers, int i) noexcept {
  return buffers.array<char>(i).data();
}
inline tridiagonal::NodeSpectrum spectrum_of(TaskBuffers buffers, int i, Index m) noexcept {
  return tridiagonal::NodeSpectrum(buffers.array<double>(i).data(), m);
}

}  // namespace tessera::value_codelets
