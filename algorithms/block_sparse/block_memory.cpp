// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include <tessera/algorithms/block_sparse/block_memory.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/runtime/matrix/panel_block.hpp>

namespace tessera::detail {

double pattern_memory(const PatternSize& size) noexcept {
  // Six numbers of a block row or column, in vectors that have grown; one of a row in each panel.
  constexpr double of_row = 10 * sizeof(Index), of_row_in_panel = sizeof(std::int32_t);
  constexpr double of_block = sizeof(std::int32_t) + sizeof(Index) + sizeof(PanelBlock);
  // Panel, description, and what StarPU knows of a piece, of which empty panels have none.
  constexpr double of_panel = 2 * sizeof(Data) + sizeof(std::once_flag) + 5 * sizeof(Index),
                   of_own_panel = sizeof(PanelIndex), of_piece = 6000;
  const double panels = size.row_panels * size.col_panels;
  const double own =
      panels * of_own_panel + size.block_rows * size.col_panels * of_row_in_panel + size.blocks * of_block;
  return (size.block_rows + size.block_cols) * of_row + panels * of_panel +
         std::min(panels, size.blocks) * of_piece + own / size.ranks;
}

double values_memory(const BlockPattern& pattern, std::size_t element_bytes) {
  double elements = 0;
  for (Index p = 0; p < pattern.panels(); ++p)
    if (pattern.panel_local(p)) elements += static_cast<double>(pattern.panel_elements(p));
  return elements * static_cast<double>(element_bytes);
}

namespace {

/// Elements of the inner panels of the largest step: those of A in the rows and of B in the columns of C that
/// this rank has panels of.
Index largest_step(const BlockPattern& a, const BlockPattern& b, const BlockPattern& c, Index steps) {
  std::vector<char> rows(static_cast<std::size_t>(c.row_panels()), 0),
      cols(static_cast<std::size_t>(c.col_panels()), 0);
  for (Index p = 0; p < c.panels(); ++p)
    if (c.panel_local(p))
      rows[static_cast<std::size_t>(c.row_panel(p))] = cols[static_cast<std::size_t>(c.col_panel(p))] = 1;
  std::vector<Index> elements(static_cast<std::size_t>(steps), 0);
  for (Index inner = 0; inner < a.col_panels(); ++inner) {
    Index& sum = elements[static_cast<std::size_t>(inner % steps)];
    for (Index row = 0; row < c.row_panels(); ++row)
      if (rows[static_cast<std::size_t>(row)]) sum += a.panel_elements(a.panel(row, inner));
    for (Index col = 0; col < c.col_panels(); ++col)
      if (cols[static_cast<std::size_t>(col)]) sum += b.panel_elements(b.panel(inner, col));
  }
  return *std::max_element(elements.begin(), elements.end());
}

}  // namespace

double product_memory(const BlockPattern& a, const BlockPattern& b, const BlockPattern& c, bool new_c,
                      Index steps, std::size_t element_bytes) {
  double bytes = new_c ? values_memory(c, element_bytes) : 0;
  if (c.runtime().size() > 1) {
    constexpr Index waiting = 3;
    bytes += static_cast<double>(element_bytes) *
             static_cast<double>(largest_step(a, b, c, steps) * std::min(waiting, steps));
  }
  return bytes;
}

}  // namespace tessera::detail
