// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <vector>

#include <tessera/codelets/block_sparse/symbolic/kept_rows.hpp>

namespace tessera::detail {

void run(const HostContext&, const FindKept& task) {
  const std::span<std::int64_t> totals = *task.totals;
  const std::span<std::int32_t> row_counts = *task.row_counts;
  std::fill(totals.begin(), totals.end(), 0);
  std::fill(row_counts.begin(), row_counts.end(), 0);
  const PackedPattern pattern(task.pattern.view().data());
  std::vector<RowBits> kept(static_cast<std::size_t>(words_for(task.of.most_columns)));
  for (std::int32_t p = 0; p < task.of.count; ++p)
    for (std::int32_t row = 0; row < task.of.most_rows; ++row) {
      const ProductRow at = row_of(pattern, task.panels.view()[static_cast<std::size_t>(p)], row);
      if (at.exists())
        find_kept_row(RowGroup(), at, task.norms.view().data(), task.eps, kept.data(),
                      totals.data() + p * KeptLayout::size,
                      row_counts.data() + 2 * (std::int64_t(p) * task.of.most_rows + row));
    }
}
TESSERA_DEFINE_TASK(FindKept)

void run(const HostContext&, const WriteKept& task) {
  const PackedPattern pattern(task.pattern.view().data());
  std::int32_t* const words = task.result.view().data();
  const RowGroup group;
  write_directory(group, 0, 1, pattern, task.panels.view().data(), task.of.count, task.totals.view().data(),
                  KeptLayout::size, words);
  std::vector<RowBits> kept(static_cast<std::size_t>(words_for(task.of.most_columns)));
  for (std::int32_t p = 0; p < task.of.count; ++p) {
    const std::int32_t panel = task.panels.view()[static_cast<std::size_t>(p)];
    std::int32_t* const counts = task.row_counts.view().data() + 2 * std::int64_t(p) * task.of.most_rows;
    const WrittenPanel to = written_panel(pattern, panel, words);
    if (!to.row_begin) continue;
    sum_row_counts(group, to.rows, counts, to.row_begin);
    for (std::int32_t row = 0; row < to.rows; ++row) {
      const ProductRow at = row_of(pattern, panel, row);
      mark_kept(group, at, task.norms.view().data(), task.eps, kept.data());
      write_row(group, at, kept.data(), counts[2 * row], counts[2 * row + 1], to.column, to.offset);
    }
  }
}
TESSERA_DEFINE_TASK(WriteKept)

}  // namespace tessera::detail
