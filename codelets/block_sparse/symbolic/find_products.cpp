// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <vector>

#include <tessera/codelets/block_sparse/symbolic/pattern_rows.hpp>
#include <tessera/codelets/block_sparse/symbolic/product_rows.hpp>

namespace tessera::detail {

void run(const HostContext&, const FindProducts& task) {
  const std::span<std::int64_t> totals = *task.totals;
  const std::span<std::int32_t> row_counts = *task.row_counts;
  std::fill(totals.begin(), totals.end(), 0);
  std::fill(row_counts.begin(), row_counts.end(), 0);
  const PackedPattern a(task.a.view().data()), b(task.b.view().data()), c(task.c.view().data());
  std::vector<std::byte> scratch(CountScratch::bytes(task.of_c.most_columns, task.of_c.col_classes));
  for (std::int32_t p = 0; p < task.of_c.count; ++p)
    for (std::int32_t row = 0; row < task.of_c.most_rows; ++row) {
      const ProductRow at(a, b, c, task.of_c.mask, task.panels.view()[static_cast<std::size_t>(p)], row);
      if (at.exists())
        count_row(RowTeam(), RowGroup(), at, task.layout, CountScratch(scratch.data(), at.columns),
                  totals.data() + p * task.layout.size(),
                  row_counts.data() + 2 * (std::int64_t(p) * task.of_c.most_rows + row));
    }
}
TESSERA_DEFINE_TASK(FindProducts)

void run(const HostContext&, const WriteProductPattern& task) {
  const PackedPattern a(task.a.view().data()), b(task.b.view().data()), c(task.c.view().data());
  std::int32_t* const words = task.result.view().data();
  const std::int32_t most_rows = task.of_c.most_rows;
  const RowGroup group;
  write_directory(group, 0, c, task.panels.view().data(), task.of_c.count, task.totals.view().data(),
                  task.totals_size, words);
  std::vector<RowBits> bits(2 * static_cast<std::size_t>(words_for(task.of_c.most_columns)));
  for (std::int32_t p = 0; p < task.of_c.count; ++p) {
    const std::int32_t panel = task.panels.view()[static_cast<std::size_t>(p)];
    std::int32_t* const counts = task.row_counts.view().data() + 2 * std::int64_t(p) * most_rows;
    const WrittenPanel to = written_panel(c, panel, words);
    if (!to.row_begin) continue;
    sum_row_counts(group, to.rows, counts, to.row_begin);
    for (std::int32_t row = 0; row < to.rows; ++row) {
      const ProductRow at(a, b, c, task.of_c.mask, panel, row);
      mark_result(RowTeam(), group, at, bits.data(), bits.data() + words_for(at.columns));
      write_row(group, at, bits.data(), counts[2 * row], counts[2 * row + 1], to.column, to.offset);
    }
  }
}
TESSERA_DEFINE_TASK(WriteProductPattern)

}  // namespace tessera::detail
