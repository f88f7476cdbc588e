// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <tessera/codelets/block_sparse/list_products.hpp>

namespace tessera {
namespace {

/// For each column of the panel the number of C's block in the row, or -1 if none is computed there.
void place_row(const ProductPanel& panel, const ProductCounts& counts, std::int32_t row, bool masked,
               std::vector<std::int32_t>& place) {
  if (masked) std::fill(place.begin(), place.end(), -1);
  const auto begin = counts.row_begin[static_cast<std::size_t>(row)],
             end = counts.row_begin[static_cast<std::size_t>(row) + 1];
  for (auto b = begin; b < end; ++b) {
    const std::int32_t j = counts.column[static_cast<std::size_t>(b)];
    if (!masked || panel.allows(row, j)) place[static_cast<std::size_t>(j)] = b;
  }
}

/// Calls visit(inner class, block of A, block of B, block of C) for every product, in the order of rows of C
/// and inner blocks.
template <bool masked, bool filter, class Visit>
void for_each_product(const ProductPanel& panel, const ProductCounts& counts, const InnerPanel& inner,
                      const Visit& visit) {
  std::vector<std::int32_t> place(static_cast<std::size_t>(panel.cols.blocks));
  for (std::int32_t i = 0; i < panel.rows.blocks; ++i) {
    const std::int32_t begin = inner.a.row_begin[i], end = inner.a.row_begin[i + 1];
    if (begin == end || panel.rows.sizes[static_cast<std::size_t>(panel.rows.of_block[i])] == 0) continue;
    place_row(panel, counts, i, masked, place);
    for (std::int32_t a = begin; a < end; ++a) {
      const std::int32_t k = inner.a.column[a], inner_class = inner.inner.of_block[k];
      if (inner.inner.sizes[static_cast<std::size_t>(inner_class)] == 0) continue;
      for (std::int32_t b = inner.b.row_begin[k]; b < inner.b.row_begin[k + 1]; ++b) {
        const std::int32_t c = place[static_cast<std::size_t>(inner.b.column[b])];
        if constexpr (masked)
          if (c < 0) continue;
        if constexpr (filter)
          if (inner.a.norm[a] * inner.b.norm[b] < panel.row_limit[i]) continue;
        visit(inner_class, a, b, c);
      }
    }
  }
}

template <bool masked, bool filter>
void list(const ProductPanel& panel, const ProductCounts& counts, const InnerPanel& inner,
          StackEntry* entries, StackRun* runs) {
  const std::size_t blocks = counts.column.size();
  // For each inner class and block of C: the number of products, then the place of the next one.
  std::vector<std::int32_t> next(inner.inner.sizes.size() * blocks, 0);
  for_each_product<masked, filter>(
      panel, counts, inner, [&](std::int32_t inner_class, std::int32_t, std::int32_t, std::int32_t c) {
        ++next[static_cast<std::size_t>(inner_class) * blocks + static_cast<std::size_t>(c)];
      });
  const auto shape_of = [&](std::int32_t c) {
    const auto row =
        std::upper_bound(counts.row_begin.begin(), counts.row_begin.end(), c) - counts.row_begin.begin() - 1;
    return std::pair(panel.rows.of_block[row],
                     panel.cols.of_block[counts.column[static_cast<std::size_t>(c)]]);
  };
  std::int32_t place = 0;
  StackRun* run = runs;
  // The classes are in the order of the shapes of C's blocks.
  for (std::size_t first = 0, end = first; first < blocks; first = end) {
    const auto shape = shape_of(counts.order[first]);
    end = static_cast<std::size_t>(
        std::partition_point(counts.order.begin() + static_cast<std::ptrdiff_t>(first), counts.order.end(),
                             [&](std::int32_t c) { return shape_of(c) == shape; }) -
        counts.order.begin());
    for (std::size_t inner_class = 0; inner_class < inner.inner.sizes.size(); ++inner_class)
      for (std::size_t at = first; at < end; ++at) {
        const auto c = static_cast<std::size_t>(counts.order[at]);
        std::int32_t& number = next[inner_class * blocks + c];
        if (number == 0) continue;
        *run++ = {static_cast<std::int32_t>(counts.offset[c]), place, number};
        place += std::exchange(number, place);
      }
  }
  for_each_product<masked, filter>(
      panel, counts, inner, [&](std::int32_t inner_class, std::int32_t a, std::int32_t b, std::int32_t c) {
        std::int32_t& at = next[static_cast<std::size_t>(inner_class) * blocks + static_cast<std::size_t>(c)];
        entries[at++] = {static_cast<std::int32_t>(inner.a.offset[a]),
                         static_cast<std::int32_t>(inner.b.offset[b])};
      });
}

struct ListArguments {
  const ProductPanel* panel;
  const ProductCounts* counts;
  Index inner_panel;
};

void list_task(const TaskContext&, TaskBuffers buffers, const ListArguments& arguments) {
  const auto& classes = arguments.counts->classes[static_cast<std::size_t>(arguments.inner_panel)];
  auto* const entries = buffers.array<StackEntry>(0).data();
  auto* const runs = reinterpret_cast<StackRun*>(entries + stack_products(classes));
  kernels::list_products(*arguments.panel, *arguments.counts, arguments.inner_panel, entries, runs);
}

Codelet list_codelet = make_codelet<ListArguments, list_task>("list_products");

}  // namespace

void kernels::list_products(const ProductPanel& panel, const ProductCounts& counts, Index inner_panel,
                            StackEntry* entries, StackRun* runs) {
  const InnerPanel& inner = panel.inner[static_cast<std::size_t>(inner_panel)];
  if (panel.masked())
    panel.row_limit ? list<true, true>(panel, counts, inner, entries, runs)
                    : list<true, false>(panel, counts, inner, entries, runs);
  else
    panel.row_limit ? list<false, true>(panel, counts, inner, entries, runs)
                    : list<false, false>(panel, counts, inner, entries, runs);
}

void insert_list_products(Sequence& sequence, int priority, int rank, const ProductPanel& panel,
                          const ProductCounts& counts, Index inner_panel, const Data& stack) {
  sequence.insert(list_codelet, ListArguments{&panel, &counts, inner_panel},
                  {.priority = priority, .execute_on = rank}, {write(stack)});
}

}  // namespace tessera
