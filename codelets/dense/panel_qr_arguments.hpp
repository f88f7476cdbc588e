// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/tile_part.hpp>

/// What the tasks of panel_qr.hpp carry beside their buffers: shared by the CPU and the CUDA implementations.
namespace tessera::panel_qr_codelets {

struct PanelArguments {
  TilePart panel, v;
  std::int32_t b = 0, stack_row = 0, first_rows = 0, last_rows = 0;
  bool top = false, formed = false;
  std::uint32_t footprint() const noexcept { return footprint_of(panel.rows, v.rows, b, top, formed); }
};

/// The GPU sums Gram matrices of at most this many chunks of rows, each of at least so many rows.
inline constexpr std::int64_t gram_chunks = 132, gram_chunk_rows = 64;

/// Bytes of the work space for the GPU: two counters, a Gram matrix and one for each chunk, in double
/// precision; or a copy of the panel; or two matrices of order b.
template <class T>
std::size_t gpu_workspace_bytes(std::int64_t rows, std::int64_t b) {
  const auto square = static_cast<std::size_t>(b * b);
  const auto chunks = static_cast<std::size_t>(std::min(gram_chunks, rows / gram_chunk_rows + 1));
  const std::size_t wide = is_complex<T> ? 16 : 8;
  return std::max({256 + (chunks + 1) * square * wide, static_cast<std::size_t>(rows * b) * sizeof(T),
                   2 * square * sizeof(T)});
}

}  // namespace tessera::panel_qr_codelets
