// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/types.hpp>

/// How the tasks of panel_qr.hpp divide their work space on a GPU.
namespace tessera::panel_cuda {

/// Gram matrices of at most this many chunks of rows are summed, each of at least so many rows.
inline constexpr std::int64_t gram_chunks = 132, gram_chunk_rows = 64;

/// Bytes of the work space: two counters, a Gram matrix and one for each chunk, in double precision; or a
/// copy of the panel; or two matrices of order b.
template <class T>
std::size_t gpu_workspace_bytes(std::int64_t rows, std::int64_t b) {
  const auto square = static_cast<std::size_t>(b * b);
  const auto chunks = static_cast<std::size_t>(std::min(gram_chunks, rows / gram_chunk_rows + 1));
  const std::size_t wide = is_complex<T> ? 16 : 8;
  return std::max({256 + (chunks + 1) * square * wide, static_cast<std::size_t>(rows * b) * sizeof(T),
                   2 * square * sizeof(T)});
}

}  // namespace tessera::panel_cuda
