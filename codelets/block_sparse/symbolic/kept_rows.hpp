// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/find_kept.hpp>
#include <tessera/codelets/block_sparse/symbolic/pattern_rows.hpp>
#include <tessera/codelets/block_sparse/symbolic/product_rows.hpp>

/// The bodies of find_kept and write_kept for one row of blocks: the same text for CPUs and GPUs.
namespace tessera::detail {
inline namespace TESSERA_ROW_NAMESPACE {

TESSERA_ROW ProductRow row_of(const PackedPattern& pattern, std::int32_t panel, std::int32_t row) {
  return {pattern, pattern, pattern, {}, panel, row};
}

/// The blocks of the row that are kept, as bits; norms: of all blocks of the pattern. Returns, in each thread a part of, the number of others that
/// are not zero.
TESSERA_ROW std::int64_t mark_kept(const RowGroup& group, const ProductRow& at, const double* norms,
                                   double eps, RowBits* kept) {
  clear(group, kept, at.columns);
  const PackedPanel panel = at.old();
  std::int64_t not_zero = 0;
  if (panel.blocks > 0)
    for (std::int32_t b = panel.row_begin[at.row] + group.lane; b < panel.row_begin[at.row + 1];
         b += RowGroup::size) {
      if (!(sqrt(norms[panel.before + b]) < eps))
        RowGroup::set(kept, panel.column[b]);
      else
        not_zero += norms[panel.before + b] > 0;
    }
  group.sync();
  return not_zero;
}

/// Part of find_kept for one row; `kept` is scratch.
TESSERA_ROW void find_kept_row(const RowGroup& group, const ProductRow& at, const double* norms, double eps,
                               RowBits* kept, std::int64_t* totals, std::int32_t* row_counts) {
  const std::int64_t not_zero = group.sum(mark_kept(group, at, norms, eps, kept));
  if (group.lane == 0 && not_zero > 0) RowGroup::add(totals[KeptLayout::not_zero], not_zero);
  count_found(group, at, kept, totals, row_counts);
}

}  // namespace TESSERA_ROW_NAMESPACE
}  // namespace tessera::detail
