// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tessera {

/// A block of row-major vectors has at most so many columns.
inline constexpr int most_block_columns = 32;

/// Columns first, ..., first + columns - 1 of the block of vectors that is buffer number `buffer` of a task.
struct ColumnRange {
  std::int32_t buffer = 0, first = 0, columns = 0;
};

/// The same with memory: element j of row i is data[i * ld + j], 0 <= j < columns. Known to CPU and CUDA
/// code.
template <class T>
struct VectorBlock {
  T* data = nullptr;
  std::int64_t ld = 0;
  std::int32_t columns = 0;
};

}  // namespace tessera
