// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include <tessera/block_pattern.hpp>
#include <tessera/runtime.hpp>

namespace tessera::detail {

/// The pattern whose block row i has the block columns columns_of(i) (ascending), as far as the layout stores
/// them. Every rank requests only the rows that it owns.
template <class Columns>
BlockPatternPointer pattern_by_rows(Runtime& runtime, const BlockLayout& layout, const Columns& columns_of) {
  const BlockDimension &rows = *layout.rows, &cols = *layout.cols;
  const auto number = [&](Index p, Index q) { return static_cast<std::size_t>(p + q * rows.panels()); };
  std::vector<PanelIndex> panels(static_cast<std::size_t>(rows.panels() * cols.panels()));
  for (Index p = 0; p < rows.panels(); ++p) {
    const auto members = rows.panel(p);
    std::vector<Index> mine;  // panels of columns
    for (Index q = 0; q < cols.panels(); ++q) {
      panels[number(p, q)].row_begin.assign(members.size() + 1, 0);
      if (layout.grid.rank(rows.panel_owner(p), cols.panel_owner(q)) == runtime.rank()) mine.push_back(q);
    }
    if (mine.empty()) continue;
    for (std::size_t row = 0; row < members.size(); ++row) {
      for (const Index col : columns_of(members[row])) {
        const Index q = cols.panel_of(col);
        if (!layout.stores(members[row], col) ||
            layout.grid.rank(rows.panel_owner(p), cols.panel_owner(q)) != runtime.rank())
          continue;
        panels[number(p, q)].column.push_back(static_cast<std::int32_t>(cols.position(col)));
      }
      for (const Index q : mine) {
        PanelIndex& index = panels[number(p, q)];
        index.row_begin[row + 1] = static_cast<std::int32_t>(index.column.size());
      }
    }
  }
  return BlockPattern::from_panels(runtime, layout, std::move(panels));
}

}  // namespace tessera::detail
