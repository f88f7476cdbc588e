// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <vector>

#include <tessera/codelets/block_sparse/symbolic/list_rows.hpp>

namespace tessera::detail {

namespace {

/// Stack number `number` of the task.
void list_stack(const ListProducts& task, std::int32_t number) {
  const PackedPattern a(task.a.view().data()), b(task.b.view().data()), c(task.c.view().data());
  const ListedStack& stack = task.stacks.stack[number];
  StackEntry* const entries = task.lists[number].data();
  auto* const runs = reinterpret_cast<StackRun*>(entries + stack.products);
  if (!stack.all_runs) std::fill_n(runs, stack.runs, StackRun{0, 0, 0});
  const InnerPanels inner{task.inner.view().data() + stack.first_inner, stack.inner};
  const std::int32_t pairs = task.shape.pairs(), stride = 2 * pairs;
  std::vector<std::int32_t> counts(static_cast<std::size_t>(task.shape.rows * stride), 0);
  std::vector<std::byte> memory(ListScratch::bytes(task.shape.columns, task.shape.col_classes, 1, 0));
  const ListScratch scratch(memory.data(), task.shape.columns, task.shape.col_classes, 1, 0);
  const RowTeam team;
  const RowGroup group;
  const auto for_each_row = [&](const auto& visit) {
    for (std::int32_t row = 0; row < task.shape.rows; ++row) {
      const ProductRow at(a, b, c, task.shape.mask, stack.panel, row);
      if (at.size > 0 && at.old().blocks > 0) visit(at, counts.data() + std::int64_t(row) * stride);
    }
  };
  for_each_row([&](const ProductRow& at, std::int32_t* count) {
    if (counts_by_lengths(task.shape, stack))
      count_complete_row(group, at, inner, count);
    else
      count_listed_row(team, group, at, inner, scratch, count);
  });
  const ProductRow any(a, b, c, task.shape.mask, stack.panel, 0);
  for (std::int32_t n = 0; n < task.shape.classes(); ++n)
    sum_rows(group, any.rows, any.row_panel, n / pairs,
             task.begins.view()[static_cast<std::size_t>(stack.first_class + n)],
             counts.data() + 2 * (n % pairs), stride);
  std::int64_t* const filtered =
      task.filtered ? task.filtered.view().data() + number * task.shape.classes() : nullptr;
  if (filtered) std::fill_n(filtered, task.shape.classes(), 0);
  for_each_row([&](const ProductRow& at, const std::int32_t* count) {
    if (filtered)
      list_row<true>(team, group, at, inner,
                     row_filter(at, task.filter, task.row_blocks ? task.row_blocks.view().data() : nullptr,
                                task.norms_a.view().data(), task.norms_b.view().data()),
                     scratch, count, entries, runs, filtered);
    else
      list_row<false>(team, group, at, inner, {}, scratch, count, entries, runs, nullptr);
  });
}

}  // namespace

void run(const HostContext&, const ListProducts& task) {
  for (std::int32_t s = 0; s < task.stacks.count; ++s) list_stack(task, s);
}
TESSERA_DEFINE_TASK(ListProducts)

}  // namespace tessera::detail
