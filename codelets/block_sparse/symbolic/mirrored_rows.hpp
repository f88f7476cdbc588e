// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/chosen_rows.hpp>
#include <tessera/codelets/block_sparse/symbolic/find_mirrored.hpp>

namespace tessera::detail {
inline namespace TESSERA_ROW_NAMESPACE {

/// The choice of find_mirrored and write_mirrored.
struct MirroredChoice {
  PackedPattern pattern;
  bool stored;

  template <class Task>
  static MirroredChoice of(const Task& task) {
    return {PackedPattern(task.pattern.view().data()), task.stored};
  }
  TESSERA_ROW std::int64_t mark(const RowGroup& group, const ProductRow& at, RowBits* both) const {
    if (stored) mark_old(RowTeam(), at, both);
    const PackedPanel mirror = pattern.panel(at.col_panel, at.row_panel);
    if (mirror.blocks > 0)
      for (std::int32_t j = group.lane; j < at.columns; j += RowGroup::size)
        if (find_block(mirror, j, at.row) >= 0) RowGroup::set(both, j);
    group.sync();
    return 0;
  }
};

}  // namespace TESSERA_ROW_NAMESPACE
}  // namespace tessera::detail
