// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/list_products.hpp>
#include <tessera/codelets/block_sparse/symbolic/product_rows.hpp>
#include <tessera/codelets/linalg/stack_entry.hpp>

/// The body of list_products for one row of blocks of a panel of C: the same text for CPUs and GPUs.
namespace tessera::detail {
inline namespace TESSERA_ROW_NAMESPACE {

/// The inner panels of a stack.
struct InnerPanels {
  const std::int32_t* number;
  std::int32_t count;
};

/// Memory that a group shares, for listing.
struct ListScratch {
  StackEntry* row;    ///< entries of a row of blocks, before they are written together
  std::int32_t room;  ///< for so many
  std::int32_t *next, *runs_of_class, *products_of_class;
  static constexpr std::size_t bytes(std::int32_t columns, std::int32_t classes, std::int32_t room) noexcept {
    return sizeof(StackEntry) * static_cast<std::size_t>(room) +
           sizeof(std::int32_t) * (static_cast<std::size_t>(columns) + 2 * static_cast<std::size_t>(classes));
  }
  TESSERA_ROW ListScratch(void* memory, std::int32_t columns, std::int32_t classes, std::int32_t for_entries)
      : row(static_cast<StackEntry*>(memory)), room(for_entries) {
    next = reinterpret_cast<std::int32_t*>(row + room);
    runs_of_class = next + columns;
    products_of_class = runs_of_class + classes;
  }
};

/// next[j] := 0 for the blocks that are computed, -1 for others; a row of C has all columns with products.
TESSERA_ROW void open_row(const RowGroup& group, const ProductRow& at, std::int32_t* next) {
  const PackedPanel c = at.old();
  const std::int32_t number = at.rows.number[at.first_row + at.row];
  if (at.mask.any()) {
    for (std::int32_t j = group.lane; j < at.columns; j += RowGroup::size) next[j] = -1;
    group.sync();
  }
  for (std::int32_t block = c.row_begin[at.row] + group.lane; block < c.row_begin[at.row + 1];
       block += RowGroup::size) {
    const std::int32_t j = c.column[block];
    if (at.col_size(j) > 0 && (!at.mask.lower || number >= at.cols.number[at.first_col + j])) next[j] = 0;
  }
  group.sync();
}

/// The products of the row for each column, of one class of inner blocks, into `next` of the open row.
TESSERA_ROW void count_columns(const RowGroup& group, const ProductRow& at, InnerPanels panels,
                               std::int32_t k, std::int32_t* next) {
  const bool masked = at.mask.any();
  for (std::int32_t i = 0; i < panels.count; ++i)
    for_each_product(group, at, panels.number[i], k, [&](std::int32_t j) {
      if (!masked || next[j] >= 0) RowGroup::add(next[j], 1);
    });
  group.sync();
}

/// Runs and products of the row for each pair of classes of columns and inner blocks, into
/// counts[2 (n inner classes + k)].
TESSERA_ROW void count_listed_row(const RowGroup& group, const ProductRow& at, InnerPanels panels,
                                  ListScratch scratch, std::int32_t* counts) {
  const PackedPanel c = at.old();
  for (std::int32_t k = 0; k < at.inner.classes; ++k) {
    open_row(group, at, scratch.next);
    count_columns(group, at, panels, k, scratch.next);
    for (std::int32_t n = group.lane; n < at.cols.classes; n += RowGroup::size)
      scratch.runs_of_class[n] = scratch.products_of_class[n] = 0;
    group.sync();
    std::int32_t runs = 0, products = 0;
    for (std::int32_t block = c.row_begin[at.row] + group.lane; block < c.row_begin[at.row + 1];
         block += RowGroup::size) {
      const std::int32_t j = c.column[block], here = scratch.next[j];
      if (here <= 0) continue;
      if (at.cols.classes == 1) {
        ++runs;
        products += here;
      } else {
        RowGroup::add(scratch.runs_of_class[at.col_class(j)], 1);
        RowGroup::add(scratch.products_of_class[at.col_class(j)], here);
      }
    }
    if (at.cols.classes == 1) {
      runs = group.sum(runs);
      products = group.sum(products);
      if (group.lane == 0) scratch.runs_of_class[0] = runs, scratch.products_of_class[0] = products;
    }
    group.sync();
    for (std::int32_t n = group.lane; n < at.cols.classes; n += RowGroup::size) {
      std::int32_t* const count = counts + 2 * (n * at.inner.classes + k);
      count[0] = scratch.runs_of_class[n];
      count[1] = scratch.products_of_class[n];
    }
    group.sync();
  }
}

/// Where the rows' runs and products of one class begin: counts, for each row of the class's row class, :=
/// the sums over the rows before, from `begin` on. counts of row i: counts[i stride], counts[i stride + 1].
TESSERA_ROW void sum_rows(const RowGroup& group, const PackedSide& rows, std::int32_t row_panel,
                          std::int32_t row_class, ClassBegin begin, std::int32_t* counts,
                          std::int32_t stride) {
  const std::int32_t first = rows.first[row_panel], count = rows.blocks(row_panel);
  for (std::int32_t base = 0; base < count; base += RowGroup::size) {
    const std::int32_t i = base + group.lane;
    const bool mine = i < count && rows.size_class[first + i] == row_class;
    std::int32_t* const at = counts + static_cast<std::int64_t>(i) * stride;
    const std::int32_t runs = mine ? at[0] : 0, products = mine ? at[1] : 0;
    const std::int32_t runs_before = group.sum_before(runs), products_before = group.sum_before(products);
    if (mine) {
      at[0] = begin.run + runs_before;
      at[1] = begin.entry + products_before;
    }
    begin.run += group.sum(runs);
    begin.entry += group.sum(products);
  }
}

/// What passes the filter in one row: norms are of the blocks of all panels.
struct RowFilter {
  const double *norms_a, *norms_b;  ///< squares
  double limit;
  TESSERA_ROW bool passes(const PackedPanel& a, std::int32_t left, const PackedPanel& b,
                          std::int32_t right) const {
    return !(sqrt(norms_a[a.before + left]) * sqrt(norms_b[b.before + right]) < limit);
  }
};
/// `blocks`: for each row of blocks of C those of op(A); null: those of A.
TESSERA_ROW RowFilter row_filter(const ProductRow& at, const ListFilter& filter, const std::int32_t* blocks,
                                 const double* norms_a, const double* norms_b) {
  const std::int32_t here = blocks ? blocks[at.first_row + at.row] : at.blocks_of_a();
  return {norms_a - filter.before_a, norms_b - filter.before_b, filter.eps / (here > 1 ? here : 1)};
}

/// A product, and whether it passes the filter.
struct ListedProduct {
  StackEntry entry;
  bool passes;
};

/// Runs keep their places; what the filter has left out is missing at their ends. For one class of inner blocks,
/// after its entries: scratch.next tells where they end.
TESSERA_ROW void shorten_runs(const RowGroup& group, const ProductRow& at, std::int32_t inner_class,
                              ListScratch scratch, const std::int32_t* counts, StackRun* runs) {
  const PackedPanel c = at.old();
  for (std::int32_t n = 0; n < at.cols.classes; ++n) {
    std::int32_t run = counts[2 * (n * at.inner.classes + inner_class)];
    for (std::int32_t base = c.row_begin[at.row]; base < c.row_begin[at.row + 1]; base += RowGroup::size) {
      const std::int32_t block = base + group.lane;
      const std::int32_t j = block < c.row_begin[at.row + 1] ? c.column[block] : -1;
      const bool mine = j >= 0 && at.col_class(j) == n && scratch.next[j] > 0;
      const std::int32_t number = run + group.sum_before(mine ? 1 : 0);
      if (mine) runs[number].count = scratch.next[j] - 1 - runs[number].first;
      run += group.sum(mine ? 1 : 0);
    }
  }
  group.sync();
}

/// Writes the runs and the entries of the row; counts: where they begin, as sum_rows leaves them. With a
/// filter the products that it leaves out are added to `filtered`, class by class.
template <bool with_filter>
TESSERA_ROW void list_row(const RowGroup& group, const ProductRow& at, InnerPanels panels,
                          const RowFilter& filter, ListScratch scratch, const std::int32_t* counts,
                          StackEntry* entries, StackRun* runs, std::int64_t* filtered) {
  const PackedPanel c = at.old();
  const bool masked = at.mask.any();
  for (std::int32_t k = 0; k < at.inner.classes; ++k) {
    open_row(group, at, scratch.next);
    count_columns(group, at, panels, k, scratch.next);
    const auto cursors = [&] {
      for (std::int32_t n = group.lane; n < at.cols.classes; n += RowGroup::size) {
        scratch.runs_of_class[n] = counts[2 * (n * at.inner.classes + k)];
        scratch.products_of_class[n] = counts[2 * (n * at.inner.classes + k) + 1];
      }
      group.sync();
    };
    /// Calls take(block, column, run, first entry or 0) for the blocks of the row with products.
    const auto for_each_run = [&](const auto& products_of, const auto& take) {
      cursors();
      for (std::int32_t base = c.row_begin[at.row]; base < c.row_begin[at.row + 1]; base += RowGroup::size) {
        const std::int32_t block = base + group.lane;
        const bool there = block < c.row_begin[at.row + 1];
        const std::int32_t j = there ? c.column[block] : 0, n = there ? at.col_class(j) : -1;
        const std::int32_t here = there ? products_of(j) : 0;
        for (std::int32_t column_class = 0; column_class < at.cols.classes; ++column_class) {
          const bool mine = n == column_class && here > 0;
          const std::int32_t run = scratch.runs_of_class[column_class] + group.sum_before(mine ? 1 : 0),
                             entry =
                                 scratch.products_of_class[column_class] + group.sum_before(mine ? here : 0);
          const std::int32_t all_runs = group.sum(mine ? 1 : 0), all_products = group.sum(mine ? here : 0);
          if (mine) take(block, j, run, entry, here);
          group.sync();
          if (group.lane == 0) {
            scratch.runs_of_class[column_class] += all_runs;
            scratch.products_of_class[column_class] += all_products;
          }
          group.sync();
        }
      }
    };
    for_each_run(
        [&](std::int32_t j) { return scratch.next[j]; },
        [&](std::int32_t block, std::int32_t j, std::int32_t run, std::int32_t entry, std::int32_t products) {
          runs[run] = {c.offset[block], entry, products, block};
          scratch.next[j] = entry + 1;  // 0 and less: no products
        });
    group.sync();
    // Single entries, each elsewhere, would take far longer to write than a row of them.
    const std::int32_t first = at.cols.classes == 1 ? counts[2 * k + 1] : 0,
                       products = at.cols.classes == 1 ? scratch.products_of_class[0] - first : 0;
    const bool together = products > 0 && products <= scratch.room;
    StackEntry* const to = together ? scratch.row : entries + first;
    ClassCounter left_out{at.cols.classes, scratch.runs_of_class};
    left_out.clear(group);
    for (std::int32_t i = 0; i < panels.count; ++i) {
      const PackedPanel a = at.a.panel(at.row_panel, panels.number[i]),
                        b = at.b.panel(panels.number[i], at.col_panel);
      for_each_product(
          group, at, panels.number[i], k,
          [&](std::int32_t left, std::int32_t right) {
            return ListedProduct{StackEntry(a.offset[left], b.offset[right], i),
                                 !with_filter || filter.passes(a, left, b, right)};
          },
          [&](std::int32_t j, const ListedProduct& product) {
            if (masked && scratch.next[j] <= 0) return;
            if (product.passes)
              to[scratch.next[j]++ - 1 - first] = product.entry;
            else
              left_out.count(at, j);
          });
    }
    group.sync();
    for (std::int32_t e = group.lane; together && e < products; e += RowGroup::size)
      entries[first + e] = scratch.row[e];
    if constexpr (with_filter) {
      left_out.finish(group, [&](std::int32_t n, std::int32_t count) {
        const std::int32_t number = (at.size_class * at.cols.classes + n) * at.inner.classes + k;
        if (count > 0) RowGroup::add(filtered[number], std::int64_t(count));
      });
      shorten_runs(group, at, k, scratch, counts, runs);
    }
  }
}

}  // namespace TESSERA_ROW_NAMESPACE
}  // namespace tessera::detail
