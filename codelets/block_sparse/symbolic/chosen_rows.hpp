// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/chosen_blocks.hpp>
#include <tessera/codelets/block_sparse/symbolic/pattern_rows.hpp>
#include <tessera/codelets/block_sparse/symbolic/product_rows.hpp>

/// How chosen blocks are counted and written, for one row of blocks by a team of one group: the same text for
/// CPUs and GPUs. A choice has a `pattern` with the dimensions of the result, and
///   std::int64_t mark(group, at, bits) const
/// which sets the bits of the row's blocks, all others being clear, and returns, in each thread a part of,
/// what belongs to ChosenLayout::counted.
namespace tessera::detail {
inline namespace TESSERA_ROW_NAMESPACE {

TESSERA_ROW ProductRow row_of(const PackedPattern& pattern, std::int32_t panel, std::int32_t row) {
  return {pattern, pattern, pattern, {}, panel, row};
}

/// Adds to the totals of the panel, number `p` of those that are looked at; `bits` is scratch.
template <class Choice>
TESSERA_ROW void count_chosen_row(const RowGroup& group, const Choice& choice, const PanelsOfC& of,
                                  const std::int32_t* panels, std::int32_t p, std::int32_t row, RowBits* bits,
                                  std::int64_t* totals, std::int32_t* row_counts) {
  const ProductRow at = row_of(choice.pattern, panels[p], row);
  if (!at.exists()) return;
  clear(RowTeam(), bits, at.columns);
  std::int64_t* const of_panel = totals + std::int64_t(p) * ChosenLayout::size;
  const std::int64_t counted = group.sum(choice.mark(group, at, bits));
  if (group.lane == 0 && counted > 0) RowGroup::add(of_panel[ChosenLayout::counted], counted);
  count_found(group, at, bits, of_panel, row_counts + 2 * (std::int64_t(p) * of.most_rows + row));
}

/// `counts`: blocks and elements of the panel before the row.
template <class Choice>
TESSERA_ROW void write_chosen_row(const RowGroup& group, const Choice& choice, std::int32_t panel,
                                  std::int32_t row, RowBits* bits, const std::int32_t* counts,
                                  const WrittenPanel& to) {
  const ProductRow at = row_of(choice.pattern, panel, row);
  clear(RowTeam(), bits, at.columns);
  choice.mark(group, at, bits);
  write_row(group, at, bits, counts[0], counts[1], to.column, to.offset);
}

}  // namespace TESSERA_ROW_NAMESPACE
}  // namespace tessera::detail
