// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

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

double product_memory(const BlockPattern& a, const BlockPattern& b, const BlockPattern& c, bool new_c,
                      std::size_t element_bytes) {
  double bytes = new_c ? values_memory(c, element_bytes) : 0;
  if (c.runtime().size() > 1) {
    // Rows of A and columns of B that the rank has a part of.
    const ProcessGrid& grid = c.layout().grid;
    bytes += static_cast<double>(element_bytes) *
             (static_cast<double>(a.elements()) / grid.rows + static_cast<double>(b.elements()) / grid.cols);
  }
  return bytes;
}

}  // namespace tessera::detail
