// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <tessera/codelets/block_sparse/symbolic/chosen_rows.hpp>

/// The tasks that choose blocks, on CPUs.
namespace tessera::detail {

template <class Choice, class Task>
void count_chosen(const Choice& choice, const Task& task) {
  const std::span<std::int64_t> totals = *task.totals;
  const std::span<std::int32_t> row_counts = *task.row_counts;
  std::fill(totals.begin(), totals.end(), 0);
  std::fill(row_counts.begin(), row_counts.end(), 0);
  std::vector<RowBits> bits(static_cast<std::size_t>(words_for(task.of.most_columns)));
  for (std::int32_t p = 0; p < task.of.count; ++p)
    for (std::int32_t row = 0; row < task.of.most_rows; ++row)
      count_chosen_row(RowGroup(), choice, task.of, task.panels.view().data(), p, row, bits.data(),
                       totals.data(), row_counts.data());
}

template <class Choice, class Task>
void write_chosen(const Choice& choice, const Task& task) {
  const std::span<const std::int32_t> panels = task.panels.view();
  std::int32_t* const words = task.result.view().data();
  const RowGroup group;
  write_directory(group, 0, choice.pattern, panels.data(), task.of.count, task.totals.view().data(),
                  ChosenLayout::size, words);
  std::vector<RowBits> bits(static_cast<std::size_t>(words_for(task.of.most_columns)));
  for (std::int32_t p = 0; p < task.of.count; ++p) {
    const std::int32_t panel = panels[static_cast<std::size_t>(p)];
    const WrittenPanel to = written_panel(choice.pattern, panel, words);
    if (!to.row_begin) continue;
    std::int32_t* const counts = task.row_counts.view().data() + 2 * std::int64_t(p) * task.of.most_rows;
    sum_row_counts(group, to.rows, counts, to.row_begin);
    for (std::int32_t row = 0; row < to.rows; ++row)
      write_chosen_row(group, choice, panel, row, bits.data(), counts + 2 * row, to);
  }
}

}  // namespace tessera::detail
