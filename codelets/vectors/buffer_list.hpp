// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/vectors/gram.hpp>

namespace tessera {

/// The different pieces of vectors of a task: StarPU takes none twice.
struct BufferList {
  const Data* data[6] = {};
  int count = 0;

  int index_of(const Data& piece) noexcept {
    for (int k = 0; k < count; ++k)
      if (data[k] == &piece) return k;
    data[count] = &piece;
    return count++;
  }
  /// Appends the ranges that have columns; returns how many columns.
  std::int32_t add(std::span<const VectorColumns> from, ColumnRange* ranges,
                   std::int32_t& range_count) noexcept {
    std::int32_t columns = 0;
    for (const VectorColumns& range : from) {
      if (range.columns == 0) continue;
      ranges[range_count++] = {index_of(*range.data), static_cast<std::int32_t>(range.first),
                               static_cast<std::int32_t>(range.columns)};
      columns += ranges[range_count - 1].columns;
    }
    return columns;
  }
};

/// What a range means in a running task.
template <class T, class Element>
VectorBlock<Element> block_of(const TaskBuffers& buffers, const ColumnRange& range) noexcept {
  const MatrixView<T> whole = buffers.matrix<T>(range.buffer);
  return {whole.data + range.first, whole.ld, range.columns};
}

}  // namespace tessera
