// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/block_pattern.hpp>

namespace tessera {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& v) {
  return std::as_bytes(std::span<const T>(v));
}

/// Blocks of one panel, by (row, column) position.
PanelIndex compress(std::vector<std::pair<std::int32_t, std::int32_t>>& positions, std::size_t rows) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  PanelIndex index;
  index.row_begin.assign(rows + 1, 0);
  for (const auto& [row, col] : positions) {
    ++index.row_begin[static_cast<std::size_t>(row) + 1];
    index.column.push_back(col);
  }
  for (std::size_t row = 0; row < rows; ++row) index.row_begin[row + 1] += index.row_begin[row];
  return index;
}

}  // namespace

Index PanelIndex::find(Index row, Index col) const noexcept {
  if (column.empty()) return -1;
  const auto first = column.begin() + row_begin[static_cast<std::size_t>(row)],
             last = column.begin() + row_begin[static_cast<std::size_t>(row) + 1];
  const auto at = std::lower_bound(first, last, static_cast<std::int32_t>(col));
  return at != last && *at == col ? at - column.begin() : -1;
}

std::shared_ptr<const BlockPattern> BlockPattern::make(Runtime& runtime, const BlockLayout& layout,
                                                       std::span<const BlockCoordinate> local_blocks) {
  layout.require_valid(runtime);
  for (const auto& [row, col] : local_blocks) {
    if (row < 0 || row >= layout.rows->blocks())
      throw InvalidArgument("block row", fmt::to_string(row),
                            fmt::format("0 to {}", layout.rows->blocks() - 1));
    if (col < 0 || col >= layout.cols->blocks())
      throw InvalidArgument("block column", fmt::to_string(col),
                            fmt::format("0 to {}", layout.cols->blocks() - 1));
    if (!layout.stores(row, col))
      throw InvalidArgument("block", fmt::format("({}, {})", row, col),
                            "on or below the diagonal of a matrix that stores its lower half");
  }
  const std::shared_ptr<BlockPattern> pattern(new BlockPattern(runtime, layout));
  std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> positions(
      static_cast<std::size_t>(pattern->panels()));
  const std::vector<BlockCoordinate> mine(local_blocks.begin(), local_blocks.end());
  for (const std::vector<std::byte>& piece : runtime.all_gather(bytes_of(mine)))
    for (std::size_t at = 0; at < piece.size(); at += sizeof(BlockCoordinate)) {
      BlockCoordinate block;
      std::memcpy(&block, piece.data() + at, sizeof block);
      const Index panel = pattern->panel(layout.rows->panel_of(block.row), layout.cols->panel_of(block.col));
      positions[static_cast<std::size_t>(panel)].emplace_back(layout.rows->position(block.row),
                                                              layout.cols->position(block.col));
    }
  for (Index panel = 0; panel < pattern->panels(); ++panel)
    pattern->index_.push_back(compress(positions[static_cast<std::size_t>(panel)],
                                       layout.rows->panel(pattern->row_panel(panel)).size()));
  pattern->complete();
  return pattern;
}

std::shared_ptr<const BlockPattern> BlockPattern::from_panels(Runtime& runtime, const BlockLayout& layout,
                                                              std::vector<PanelIndex> panels) {
  const std::shared_ptr<BlockPattern> pattern(new BlockPattern(runtime, layout));
  if (runtime.size() > 1) {
    // Every rank's panels one after the other: number of blocks, then rows and columns.
    std::vector<std::int32_t> mine;
    for (Index panel = 0; panel < pattern->panels(); ++panel) {
      if (!pattern->panel_local(panel)) continue;
      const PanelIndex& index = panels[static_cast<std::size_t>(panel)];
      mine.insert(mine.end(), index.row_begin.begin(), index.row_begin.end());
      mine.insert(mine.end(), index.column.begin(), index.column.end());
    }
    const auto all = runtime.all_gather(bytes_of(mine));
    std::vector<std::size_t> at(all.size(), 0);
    for (Index panel = 0; panel < pattern->panels(); ++panel) {
      const auto owner = static_cast<std::size_t>(pattern->panel_owner(panel));
      const auto take = [&](std::vector<std::int32_t>& to, std::size_t count) {
        to.resize(count);
        std::memcpy(to.data(), all[owner].data() + at[owner], count * sizeof(std::int32_t));
        at[owner] += count * sizeof(std::int32_t);
      };
      PanelIndex& index = panels[static_cast<std::size_t>(panel)];
      take(index.row_begin, layout.rows->panel(pattern->row_panel(panel)).size() + 1);
      take(index.column, static_cast<std::size_t>(index.row_begin.back()));
    }
  }
  pattern->index_ = std::move(panels);
  pattern->complete();
  return pattern;
}

/// Offsets, totals and what tasks read.
void BlockPattern::complete() {
  entries_.resize(static_cast<std::size_t>(panels()));
  for (Index p = 0; p < panels(); ++p) {
    PanelIndex& index = index_[static_cast<std::size_t>(p)];
    const auto panel_rows = rows().panel(row_panel(p)), panel_cols = cols().panel(col_panel(p));
    index.offset.resize(index.column.size() + 1);
    Index offset = 0;
    for (std::size_t row = 0; row < panel_rows.size(); ++row) {
      const Index m = rows().size(panel_rows[row]);
      for (auto b = static_cast<std::size_t>(index.row_begin[row]);
           b < static_cast<std::size_t>(index.row_begin[row + 1]); ++b) {
        index.offset[b] = offset;
        offset += m * cols().size(panel_cols[static_cast<std::size_t>(index.column[b])]);
      }
    }
    index.offset.back() = offset;
    blocks_ += index.blocks();
    elements_ += offset;
    if (index.column.empty()) continue;
    Data& entries = entries_[static_cast<std::size_t>(p)];
    entries = Data::bytes(*runtime_, index.column.size() * sizeof(PanelBlock), panel_owner(p));
    if (panel_local(p)) describe(p);
  }
}

/// A panel's blocks as tasks see them.
void BlockPattern::describe(Index p) {
  const PanelIndex& index = this->index(p);
  const auto panel_rows = rows().panel(row_panel(p)), panel_cols = cols().panel(col_panel(p));
  const HostAccess access(blocks_of(p), HostAccess::Mode::write);
  PanelBlock* const blocks = access.array<PanelBlock>().data();
  for (std::size_t row = 0; row < panel_rows.size(); ++row) {
    const Index i = panel_rows[row];
    for (auto b = static_cast<std::size_t>(index.row_begin[row]);
         b < static_cast<std::size_t>(index.row_begin[row + 1]); ++b) {
      const Index j = panel_cols[static_cast<std::size_t>(index.column[b])];
      blocks[b] = {index.offset[b],
                   static_cast<std::int32_t>(rows().size(i)),
                   static_cast<std::int32_t>(cols().size(j)),
                   static_cast<std::int32_t>(i),
                   static_cast<std::int32_t>(j),
                   rows().first(i),
                   cols().first(j)};
    }
  }
}

std::optional<BlockPattern::Location> BlockPattern::find(Index block_row, Index block_col) const noexcept {
  const Index p = panel(rows().panel_of(block_row), cols().panel_of(block_col));
  const Index block = index(p).find(rows().position(block_row), cols().position(block_col));
  if (block < 0) return std::nullopt;
  return Location{p, block};
}

Index BlockPattern::blocks_in_row(Index block_row) const noexcept {
  const Index p = rows().panel_of(block_row);
  const auto row = static_cast<std::size_t>(rows().position(block_row));
  Index count = 0;
  for (Index q = 0; q < col_panels(); ++q) {
    const PanelIndex& i = index(panel(p, q));
    count += i.row_begin[row + 1] - i.row_begin[row];
  }
  return count;
}

std::vector<BlockCoordinate> BlockPattern::coordinates(Index panel) const {
  const PanelIndex& i = index(panel);
  const auto panel_rows = rows().panel(row_panel(panel)), panel_cols = cols().panel(col_panel(panel));
  std::vector<BlockCoordinate> result;
  for (std::size_t row = 0; row < panel_rows.size(); ++row)
    for (auto b = i.row_begin[row]; b < i.row_begin[row + 1]; ++b)
      result.push_back(
          {panel_rows[row], panel_cols[static_cast<std::size_t>(i.column[static_cast<std::size_t>(b)])]});
  return result;
}

}  // namespace tessera
