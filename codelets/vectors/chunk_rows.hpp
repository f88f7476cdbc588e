// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>

#include <tessera/codelets/vectors/columns.hpp>

namespace tessera::detail::kernels {

/// Rows that a task computes at once: those of its blocks stay in the first cache, and the next ones in the
/// second.
inline constexpr std::int64_t chunk_rows = 64;

/// Prefetches up to chunk_rows rows of a block from row `first` on into the second cache, since the
/// processor's own prefetching stops at the end of each page.
template <class T>
void fetch_rows(const VectorBlock<T>& block, std::int64_t first, std::int64_t rows) noexcept {
  constexpr std::int64_t line = 64;
  const auto* const begin = reinterpret_cast<const char*>(block.data + first * block.ld);
  const std::int64_t bytes = std::min(chunk_rows, rows - first) * block.ld * std::int64_t{sizeof(T)};
  for (std::int64_t at = 0; at < bytes; at += line) __builtin_prefetch(begin + at, 0, 1);
}

/// Rows in double, row-major.
struct WideRows {
  const double* data;
  std::int64_t ld;
};

/// Rows first, ..., first + rows - 1 of a block, in double: where they lie, or a copy in `space`.
template <class T>
WideRows wide_rows(const VectorBlock<const T>& block, std::int64_t first, std::int64_t rows,
                   double* space) noexcept {
  const T* from = block.data + first * block.ld;
  if constexpr (std::is_same_v<T, double>) {
    return {from, block.ld};
  } else {
    for (std::int64_t i = 0; i < rows; ++i, from += block.ld)
      std::copy_n(from, block.columns, space + i * block.columns);
    return {space, block.columns};
  }
}

}  // namespace tessera::detail::kernels
