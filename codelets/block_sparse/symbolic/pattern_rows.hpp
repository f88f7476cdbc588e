// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/row_group.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

/// How a packed pattern is written by a group of threads: the same text for CPUs and GPUs.
namespace tessera::detail {
inline namespace TESSERA_ROW_NAMESPACE {

/// Groups that write a directory together on a GPU.
inline constexpr std::int32_t directory_parts = RowGroup::size > 1 ? 64 : 1;

/// Header, sides and directory of a pattern of the same dimensions as `like`: the named panels get the blocks
/// that their totals begin with. By directory_parts groups, of which this is number `part`.
TESSERA_ROW void write_directory(const RowGroup& group, std::int32_t part, const PackedPattern& like,
                                 const std::int32_t* panels, std::int32_t count, const std::int64_t* totals,
                                 std::int64_t totals_size, std::int32_t* words) {
  const PackedHeader& header = like.header();
  const std::int32_t* const from = reinterpret_cast<const std::int32_t*>(&header);
  for (std::int32_t w = part * RowGroup::size + group.lane; w < header.directory_at;
       w += directory_parts * RowGroup::size)
    words[w] = from[w];
  if (part > 0) return;
  std::int32_t* const directory = words + header.directory_at;
  const std::int32_t entries = 3 * header.row_panels * header.col_panels;
  for (std::int32_t w = group.lane; w < entries; w += RowGroup::size) directory[w] = 0;
  group.sync();
  std::int32_t next = header.directory_at + entries, before = 0;
  for (std::int32_t base = 0; base < count; base += RowGroup::size) {
    const std::int32_t p = base + group.lane, panel = p < count ? panels[p] : 0;
    const auto blocks = static_cast<std::int32_t>(p < count ? totals[p * totals_size] : 0);
    const std::int32_t rows = like.rows().blocks(panel % header.row_panels),
                       here = blocks == 0 ? 0 : rows + 1 + 2 * blocks;
    const std::int32_t begin = next + group.sum_before(here),
                       blocks_before = before + group.sum_before(blocks);
    if (blocks > 0) {
      directory[3 * panel] = begin;
      directory[3 * panel + 1] = blocks;
      directory[3 * panel + 2] = blocks_before;
    }
    next += group.sum(here);
    before += group.sum(blocks);
  }
}

/// The parts of a panel that are being written.
struct WrittenPanel {
  std::int32_t *row_begin, *column, *offset;  ///< null: no blocks
  std::int32_t rows;
};
TESSERA_ROW WrittenPanel written_panel(const PackedPattern& like, std::int32_t panel, std::int32_t* words) {
  const PackedHeader& header = like.header();
  const std::int32_t* const entry = words + header.directory_at + 3 * panel;
  const std::int32_t rows = like.rows().blocks(panel % header.row_panels);
  if (entry[0] == 0) return {nullptr, nullptr, nullptr, rows};
  std::int32_t* const row_begin = words + entry[0];
  return {row_begin, row_begin + rows + 1, row_begin + rows + 1 + entry[1], rows};
}

/// Blocks and elements of each row of a panel := the sums over the rows before; the former are row_begin, too.
TESSERA_ROW void sum_row_counts(const RowGroup& group, std::int32_t rows, std::int32_t* counts,
                                std::int32_t* row_begin) {
  std::int32_t blocks = 0, elements = 0;
  for (std::int32_t base = 0; base < rows; base += RowGroup::size) {
    const std::int32_t row = base + group.lane;
    const std::int32_t more_blocks = row < rows ? counts[2 * row] : 0,
                       more_elements = row < rows ? counts[2 * row + 1] : 0;
    const std::int32_t blocks_before = blocks + group.sum_before(more_blocks),
                       elements_before = elements + group.sum_before(more_elements);
    if (row < rows) {
      counts[2 * row] = row_begin[row] = blocks_before;
      counts[2 * row + 1] = elements_before;
    }
    blocks += group.sum(more_blocks);
    elements += group.sum(more_elements);
  }
  if (group.lane == 0) row_begin[rows] = blocks;
}

}  // namespace TESSERA_ROW_NAMESPACE
}  // namespace tessera::detail
