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
  if (task.totals.first()) std::fill(totals.begin(), totals.end(), 0);
  if (task.row_counts.first()) std::fill(row_counts.begin(), row_counts.end(), 0);
  const PackedPattern pattern(task.pattern.view().data());
  std::vector<RowBits> kept(static_cast<std::size_t>(words_for(task.part.all.most_columns)));
  for (std::int32_t p = 0; p < task.part.count; ++p) {
    const std::int32_t number = task.part.first + p;
    for (std::int32_t row = 0; row < task.part.all.most_rows; ++row) {
      const ProductRow at = row_of(pattern, task.panels.view()[static_cast<std::size_t>(number)], row);
      if (at.exists())
        find_kept_row(RowGroup(), at, task.norms[p].data(), task.part.eps, kept.data(),
                      totals.data() + number * KeptLayout::size,
                      row_counts.data() + 2 * (std::int64_t(number) * task.part.all.most_rows + row));
    }
  }
}
TESSERA_DEFINE_TASK(FindKept)

void run(const HostContext&, const WriteKept& task) {
  const PackedPattern pattern(task.pattern.view().data());
  std::int32_t* const words = task.result.view().data();
  const RowGroup group;
  if (task.result.first())
    write_directory(group, pattern, task.panels.view().data(), task.part.all.count, task.totals.view().data(),
                    KeptLayout::size, words);
  std::vector<RowBits> kept(static_cast<std::size_t>(words_for(task.part.all.most_columns)));
  for (std::int32_t p = 0; p < task.part.count; ++p) {
    const std::int32_t number = task.part.first + p,
                       panel = task.panels.view()[static_cast<std::size_t>(number)];
    std::int32_t* const counts =
        task.row_counts.view().data() + 2 * std::int64_t(number) * task.part.all.most_rows;
    const WrittenPanel to = written_panel(pattern, panel, words);
    if (!to.row_begin) continue;
    sum_row_counts(group, to.rows, counts, to.row_begin);
    for (std::int32_t row = 0; row < to.rows; ++row) {
      const ProductRow at = row_of(pattern, panel, row);
      mark_kept(group, at, task.norms[p].data(), task.part.eps, kept.data());
      write_row(group, at, kept.data(), counts[2 * row], counts[2 * row + 1], to.column, to.offset);
    }
  }
}
TESSERA_DEFINE_TASK(WriteKept)

}  // namespace tessera::detail
