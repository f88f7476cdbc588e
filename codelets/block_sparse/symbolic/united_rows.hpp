// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/chosen_rows.hpp>
#include <tessera/codelets/block_sparse/symbolic/find_united.hpp>

namespace tessera::detail {
inline namespace TESSERA_ROW_NAMESPACE {

/// The choice of find_united and write_united.
struct UnitedChoice {
  PackedPattern pattern, other;

  template <class Task>
  static UnitedChoice of(const Task& task) {
    return {PackedPattern(task.a.view().data()), PackedPattern(task.b.view().data())};
  }
  TESSERA_ROW std::int64_t mark(const RowGroup& group, const ProductRow& at, RowBits* both) const {
    mark_old(RowTeam(), at, both);
    const PackedPanel more = other.panel(at.row_panel, at.col_panel);
    if (more.blocks > 0)
      for (std::int32_t b = more.row_begin[at.row] + group.lane; b < more.row_begin[at.row + 1];
           b += RowGroup::size)
        RowGroup::set(both, more.column[b]);
    group.sync();
    return 0;
  }
};

}  // namespace TESSERA_ROW_NAMESPACE
}  // namespace tessera::detail
