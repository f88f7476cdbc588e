// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <tessera/block_operations.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>

/// Which blocks of a matrix go where in another one.
namespace tessera::detail {

/// How the places of stored blocks become those in op(A).
struct BlockWay {
  bool transposed = false;
  bool diagonal = true;  ///< diagonal blocks go this way, too
};

/// New numbers of the blocks of op(A); without any, block rows and columns keep theirs.
struct Renumbering {
  std::span<const Index> rows{}, cols{};
};

/// A block has elements in the window.
bool touches(const ElementWindow& window, const BlockLayout& layout, Index row, Index col);

/// Calls visit(row, column, block) for the blocks of one panel that go a way, by their new numbers in op(A).
template <class Visit>
void for_each_image(const BlockPattern& pattern, Index panel, const BlockWay& way,
                    const Renumbering& renumbering, const Visit& visit) {
  const auto place = [&](Index row, Index col, Index block) {
    if (renumbering.rows.empty())
      visit(row, col, block);
    else
      visit(renumbering.rows[static_cast<std::size_t>(row)], renumbering.cols[static_cast<std::size_t>(col)],
            block);
  };
  if (pattern.panel_blocks(panel) == 0) return;
  const PanelIndex& index = pattern.index(panel);
  const auto panel_rows = pattern.rows().panel(pattern.row_panel(panel)),
             panel_cols = pattern.cols().panel(pattern.col_panel(panel));
  for (std::size_t i = 0; i < panel_rows.size(); ++i)
    for (Index b = index.row_begin[i]; b < index.row_begin[i + 1]; ++b) {
      const Index row = panel_rows[i],
                  col = panel_cols[static_cast<std::size_t>(index.column[static_cast<std::size_t>(b)])];
      if (row == col && !way.diagonal) continue;
      if (way.transposed)
        place(col, row, b);
      else
        place(row, col, b);
    }
}

/// A panel of A, the number of a way, and a panel of B.
struct PanelPair {
  Index source, way, destination;
  /// By panels of A, then ways.
  auto operator<=>(const PanelPair&) const = default;
};

/// Calls visit(pair, moves) for the pairs of panels between which some part of a block of op(A) in the window
/// moves, the same ones in the same order on all ranks. The moves are listed where the task runs: by the owner
/// of B's panel. Collective: with several ranks the owners of A's panels tell those of B's what they have.
void for_each_move(const BlockPattern& from, const BlockPattern& to, const ElementWindow& window,
                   const Renumbering& renumbering, std::span<const BlockWay> ways,
                   const std::function<void(const PanelPair&, const std::vector<BlockMove>&)>& visit);

}  // namespace tessera::detail
