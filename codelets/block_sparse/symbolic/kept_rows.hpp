// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/chosen_rows.hpp>
#include <tessera/codelets/block_sparse/symbolic/find_kept.hpp>

namespace tessera::detail {
inline namespace TESSERA_ROW_NAMESPACE {

/// The choice of find_kept and write_kept.
struct KeptChoice {
  PackedPattern pattern;
  const double* norms;  ///< of all blocks of the pattern
  double eps;

  template <class Task>
  static KeptChoice of(const Task& task) {
    return {PackedPattern(task.pattern.view().data()), task.norms.view().data(), task.eps};
  }
  /// Counts the blocks that are left out though they are not zero.
  TESSERA_ROW std::int64_t mark(const RowGroup& group, const ProductRow& at, RowBits* kept) const {
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
};

}  // namespace TESSERA_ROW_NAMESPACE
}  // namespace tessera::detail
