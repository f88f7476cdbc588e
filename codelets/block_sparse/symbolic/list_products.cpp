// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <vector>

#include <tessera/codelets/block_sparse/symbolic/product_rows.hpp>

namespace tessera::detail {

void run(const HostContext&, const ListProducts& task) {
  const PackedPattern a(task.a.view().data()), b(task.b.view().data()), c(task.c.view().data());
  StackEntry* const entries = task.stack.view().data();
  auto* const runs = reinterpret_cast<StackRun*>(entries + task.shape.products);
  std::fill_n(runs, task.shape.runs, StackRun{0, 0, 0});
  const ProductRow any(a, b, c, task.mask, task.shape.panel, 0);
  const std::int32_t col_classes = task.shape.col_classes, pairs = col_classes * task.shape.inner_classes,
                     stride = 2 * pairs;
  std::vector<std::int32_t> counts(static_cast<std::size_t>(task.shape.rows * stride), 0);
  std::vector<std::byte> memory(ListScratch::bytes(task.shape.columns, col_classes));
  const ListScratch scratch(memory.data(), task.shape.columns, col_classes);
  const RowGroup group;
  const auto for_each_row = [&](const auto& visit) {
    for (std::int32_t row = 0; row < task.shape.rows; ++row) {
      const ProductRow at(a, b, c, task.mask, task.shape.panel, row);
      if (at.size > 0 && at.old().blocks > 0) visit(at, counts.data() + std::int64_t(row) * stride);
    }
  };
  for_each_row([&](const ProductRow& at, std::int32_t* count) {
    count_listed_row(group, at, task.listed, scratch, count);
  });
  const std::span<const ClassBegin> begins = *task.begins;
  for (std::int32_t number = 0; number < task.shape.row_classes * pairs; ++number)
    sum_rows(group, any.rows, any.row_panel, number / pairs,
             begins[static_cast<std::size_t>(task.shape.first_class + number)],
             counts.data() + 2 * (number % pairs), stride);
  std::vector<const double*> norms_a, norms_b;
  for (int i = 0; 2 * i + 1 < task.norms.size(); ++i) {
    norms_a.push_back(task.norms[2 * i].data());
    norms_b.push_back(task.norms[2 * i + 1].data());
  }
  std::int64_t* const filtered = task.filtered ? task.filtered.view().data() : nullptr;
  if (filtered) std::fill_n(filtered, task.shape.row_classes * pairs, 0);
  for_each_row([&](const ProductRow& at, const std::int32_t* count) {
    RowFilter filter{};
    if (filtered) {
      const std::int32_t blocks =
          task.row_blocks ? task.row_blocks.view()[static_cast<std::size_t>(at.first_row + at.row)]
                          : at.blocks_of_a();
      filter = {norms_a.data(), norms_b.data(), task.eps / std::max(blocks, 1)};
    }
    list_row(group, at, task.listed, filter, scratch, count, entries, runs, filtered);
  });
}
TESSERA_DEFINE_TASK(ListProducts)

}  // namespace tessera::detail
