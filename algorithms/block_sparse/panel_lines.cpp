// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <tessera/algorithms/block_sparse/panel_lines.hpp>

namespace tessera::detail {

std::vector<Index> first_lines(const BlockDimension& dimension) {
  std::vector<Index> first(static_cast<std::size_t>(dimension.blocks()), 0);
  for (Index p = 0; p < dimension.panels(); ++p) {
    Index line = 0;
    for (const Index block : dimension.panel(p)) {
      first[static_cast<std::size_t>(block)] = line;
      line += dimension.size(block);
    }
  }
  return first;
}

Data make_lines(const BlockPattern& pattern, Index p) {
  Data data =
      Data::bytes(pattern.runtime(), static_cast<std::size_t>(pattern.panel_blocks(p)) * sizeof(BlockLines),
                  pattern.panel_owner(p));
  if (!data.local()) return data;
  const auto firsts = [](const BlockDimension& dimension, Index panel) {
    std::vector<std::int32_t> first(1, 0);
    for (const Index block : dimension.panel(panel))
      first.push_back(first.back() + static_cast<std::int32_t>(dimension.size(block)));
    return first;
  };
  const auto rows = firsts(pattern.rows(), pattern.row_panel(p)),
             cols = firsts(pattern.cols(), pattern.col_panel(p));
  const PanelIndex& index = pattern.index(p);
  const HostAccess access(data, HostAccess::Mode::write);
  const auto lines = access.array<BlockLines>();
  for (std::size_t row = 0; row + 1 < index.row_begin.size(); ++row)
    for (auto b = static_cast<std::size_t>(index.row_begin[row]);
         b < static_cast<std::size_t>(index.row_begin[row + 1]); ++b)
      lines[b] = {rows[row], cols[static_cast<std::size_t>(index.column[b])]};
  return data;
}

Data make_order(const BlockPattern& pattern, Index p) {
  if (!pattern.runtime().any_gpus()) return {};
  const auto rows = static_cast<Index>(pattern.rows().panel(pattern.row_panel(p)).size()),
             cols = static_cast<Index>(pattern.cols().panel(pattern.col_panel(p)).size());
  Data data = Data::bytes(
      pattern.runtime(),
      static_cast<std::size_t>(PanelOrder::size(rows, cols, pattern.panel_blocks(p))) * sizeof(std::int32_t),
      pattern.panel_owner(p));
  if (!data.local()) return data;
  const PanelIndex& index = pattern.index(p);
  const HostAccess access(data, HostAccess::Mode::write);
  const auto order = access.array<std::int32_t>();
  const auto after_rows = std::copy(index.row_begin.begin(), index.row_begin.end(), order.begin());
  // How many blocks each column has; then where the next one of it goes; then where it begins.
  const auto col_begin = after_rows, list = col_begin + cols + 1;
  std::fill(col_begin, list, 0);
  for (const std::int32_t column : index.column) ++col_begin[column + 1];
  std::partial_sum(col_begin, list, col_begin);
  for (std::size_t b = 0; b < index.column.size(); ++b)
    list[col_begin[index.column[b]]++] = static_cast<std::int32_t>(b);
  std::copy_backward(col_begin, list - 1, list);
  *col_begin = 0;
  return data;
}

}  // namespace tessera::detail
