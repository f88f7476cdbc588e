// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <tessera/codelets/block_sparse/symbolic/product_panel.hpp>

namespace tessera::detail {

namespace {

/// Where the next run and the next product of a class go.
struct Cursor {
  std::int32_t run, entry;
};

class Lister {
 public:
  Lister(const ProductPanel& panel, const InnerPanel& inner, std::span<const StackClass> classes,
         StackEntry* entries, StackRun* runs);

  template <bool masked, bool filter>
  void list();

 private:
  template <bool masked, bool filter, class Visit>
  void for_each_product(std::int32_t row, const Visit& visit);
  void open_row(std::int32_t row);
  void place_runs_of_one_class(std::int32_t row);
  void place_runs(std::int32_t row);

  const ProductPanel& panel_;
  const InnerPanel& inner_;
  StackEntry* entries_;
  StackRun* runs_;
  std::int32_t columns_;
  std::vector<std::int32_t> count_,
      next_;                // for (inner class, column): products of the row, place of the next
  std::vector<char> open_;  // columns in which the row has a block that is computed
  std::vector<StackRun> row_runs_;
  std::vector<Cursor> cursors_;
  std::vector<std::int32_t> class_of_;  // by (row class, column class, inner class), if there are several
};

Lister::Lister(const ProductPanel& panel, const InnerPanel& inner, std::span<const StackClass> classes,
               StackEntry* entries, StackRun* runs)
    : panel_(panel),
      inner_(inner),
      entries_(entries),
      runs_(runs),
      columns_(panel.cols.blocks),
      count_(inner.inner.sizes.size() * static_cast<std::size_t>(columns_), 0),
      next_(count_.size()),
      open_(static_cast<std::size_t>(columns_), 0),
      row_runs_(static_cast<std::size_t>(columns_) + 1) {
  for (const StackClass& shape : classes) cursors_.push_back({shape.first_run, shape.first_entry});
  const auto &m = panel.rows.sizes, &n = panel.cols.sizes, &k = inner.inner.sizes;
  if (m.size() * n.size() * k.size() == 1) return;
  class_of_.assign(m.size() * n.size() * k.size(), -1);
  // The classes are in the order of the numbers of the three sizes.
  std::size_t found = 0;
  for (std::size_t at = 0; at < class_of_.size() && found < classes.size(); ++at) {
    const StackClass& shape = classes[found];
    if (shape.m == m[at / k.size() / n.size()] && shape.n == n[at / k.size() % n.size()] &&
        shape.k == k[at % k.size()])
      class_of_[at] = static_cast<std::int32_t>(found++);
  }
}

/// Calls visit(place in next_, block of A, block of B) for every product of a row.
template <bool masked, bool filter, class Visit>
void Lister::for_each_product(std::int32_t row, const Visit& visit) {
  const PanelRows &a = inner_.a, &b = inner_.b;
  for (std::int32_t left = a.row_begin[row]; left < a.row_begin[row + 1]; ++left) {
    const std::int32_t k = a.column[left], inner_class = inner_.inner.of_block[k];
    if (inner_.inner.sizes[static_cast<std::size_t>(inner_class)] == 0) continue;
    const std::int32_t shift = inner_class * columns_;
    for (std::int32_t right = b.row_begin[k], end = b.row_begin[k + 1]; right < end; ++right) {
      const std::int32_t j = b.column[right];
      if constexpr (masked)
        if (!open_[static_cast<std::size_t>(j)]) continue;
      if constexpr (filter)
        if (a.norm[left] * b.norm[right] < panel_.row_limit[row]) continue;
      visit(shift + j, left, right);
    }
  }
}

void Lister::open_row(std::int32_t row) {
  std::fill(open_.begin(), open_.end(), 0);
  for (auto c = panel_.result.row_begin[row]; c < panel_.result.row_begin[row + 1]; ++c)
    open_[static_cast<std::size_t>(panel_.result.column[c])] = panel_.allows(row, panel_.result.column[c]);
}

/// Runs of the row's blocks, and places of their products; without branches that the processor would
/// mispredict.
void Lister::place_runs_of_one_class(std::int32_t row) {
  std::size_t count = 0;
  std::int32_t place = cursors_[0].entry;
  const std::int32_t* const column = panel_.result.column;
  const Index* const offset = panel_.result.offset;
  std::int32_t *const products = count_.data(), *const next = next_.data();
  StackRun* const row_runs = row_runs_.data();
  for (auto c = panel_.result.row_begin[row], end = panel_.result.row_begin[row + 1]; c < end; ++c) {
    const std::int32_t j = column[c], here = products[j];
    row_runs[count] = {static_cast<std::int32_t>(offset[c]), place, here};
    count += here != 0;
    next[j] = place;
    place += here;
    products[j] = 0;
  }
  std::copy_n(row_runs_.begin(), count, runs_ + cursors_[0].run);
  cursors_[0] = {cursors_[0].run + static_cast<std::int32_t>(count), place};
}

void Lister::place_runs(std::int32_t row) {
  const std::size_t inner_classes = inner_.inner.sizes.size();
  const std::size_t first =
      static_cast<std::size_t>(panel_.rows.of_block[row]) * panel_.cols.sizes.size() * inner_classes;
  for (auto c = panel_.result.row_begin[row]; c < panel_.result.row_begin[row + 1]; ++c) {
    const auto j = static_cast<std::size_t>(panel_.result.column[c]);
    const std::int32_t* const shapes =
        class_of_.data() + first + static_cast<std::size_t>(panel_.cols.of_block[j]) * inner_classes;
    for (std::size_t inner_class = 0; inner_class < inner_classes; ++inner_class) {
      const std::size_t at = inner_class * static_cast<std::size_t>(columns_) + j;
      if (count_[at] == 0) continue;
      Cursor& cursor = cursors_[static_cast<std::size_t>(shapes[inner_class])];
      runs_[cursor.run++] = {static_cast<std::int32_t>(panel_.result.offset[c]), cursor.entry, count_[at]};
      next_[at] = cursor.entry;
      cursor.entry += std::exchange(count_[at], 0);
    }
  }
}

template <bool masked, bool filter>
void Lister::list() {
  for (std::int32_t row = 0; row < panel_.rows.blocks; ++row) {
    if (inner_.a.row_begin[row] == inner_.a.row_begin[row + 1] ||
        panel_.rows.sizes[static_cast<std::size_t>(panel_.rows.of_block[row])] == 0)
      continue;
    if constexpr (masked) open_row(row);
    std::int32_t* const count = count_.data();
    for_each_product<masked, filter>(row,
                                     [count](std::int32_t at, std::int32_t, std::int32_t) { ++count[at]; });
    class_of_.empty() ? place_runs_of_one_class(row) : place_runs(row);
    for_each_product<masked, filter>(
        row, [entries = entries_, next = next_.data(), offset_a = inner_.a.offset,
              offset_b = inner_.b.offset](std::int32_t at, std::int32_t left, std::int32_t right) {
          entries[next[at]++] = {static_cast<std::int32_t>(offset_a[left]),
                                 static_cast<std::int32_t>(offset_b[right])};
        });
  }
}

}  // namespace

void kernels::list_products(const ProductPanel& panel, const InnerPanel& inner,
                            std::span<const StackClass> classes, StackEntry* entries, StackRun* runs) {
  if (classes.empty()) return;
  Lister lister(panel, inner, classes, entries, runs);
  visit_specialized(panel, [&]<bool masked, bool filter>() { lister.list<masked, filter>(); });
}

void run(const HostContext&, const ListProducts& task) {
  StackEntry* const entries = task.stack.view().data();
  kernels::list_products(*task.panel, task.panel->inner[static_cast<std::size_t>(task.inner_panel)],
                         task.classes, entries,
                         reinterpret_cast<StackRun*>(entries + stack_products(task.classes)));
}
TESSERA_DEFINE_TASK(ListProducts)

}  // namespace tessera::detail
