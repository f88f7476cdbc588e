// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/chosen_rows.hpp>
#include <tessera/codelets/block_sparse/symbolic/find_above.hpp>

namespace tessera::detail {
inline namespace TESSERA_ROW_NAMESPACE {

/// The choice of find_above and write_above.
struct AboveChoice {
  PackedPattern pattern;
  const char* flags;

  template <class Task>
  static AboveChoice of(const Task& task) {
    return {PackedPattern(task.pattern.view().data()), task.flags.view().data()};
  }
  TESSERA_ROW std::int64_t mark(const RowGroup& group, const ProductRow& at, RowBits* above) const {
    const char* const row =
        flags + std::int64_t(at.first_row + at.row) * pattern.header().col_blocks + at.first_col;
    for (std::int32_t j = group.lane; j < at.columns; j += RowGroup::size)
      if (row[j] != 0) RowGroup::set(above, j);
    group.sync();
    return 0;
  }
};

}  // namespace TESSERA_ROW_NAMESPACE
}  // namespace tessera::detail
