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

/// Memory that a team shares, for listing.
struct ListScratch {
  StackEntry* row;    ///< entries of a row of blocks, before they are written together
  std::int32_t room;  ///< for so many
  std::int32_t columns, classes;
  std::int32_t *next, *runs, *products;  ///< of each part: for each column, and for each class of columns
  static constexpr std::size_t bytes(std::int32_t columns, std::int32_t classes, std::int32_t parts,
                                     std::int32_t room) noexcept {
    return sizeof(StackEntry) * static_cast<std::size_t>(room) +
           sizeof(std::int32_t) * static_cast<std::size_t>(parts) *
               (static_cast<std::size_t>(columns) + 2 * static_cast<std::size_t>(classes));
  }
  TESSERA_ROW ListScratch(void* memory, std::int32_t of_columns, std::int32_t of_classes, std::int32_t parts,
                          std::int32_t for_entries)
      : row(static_cast<StackEntry*>(memory)), room(for_entries), columns(of_columns), classes(of_classes) {
    next = reinterpret_cast<std::int32_t*>(row + room);
    runs = next + parts * columns;
    products = runs + parts * classes;
  }
  TESSERA_ROW std::int32_t* next_of(std::int32_t part) const { return next + part * columns; }
  TESSERA_ROW std::int32_t* runs_of(std::int32_t part) const { return runs + part * classes; }
  TESSERA_ROW std::int32_t* products_of(std::int32_t part) const { return products + part * classes; }
  /// Of all parts; 0 and less: none.
  TESSERA_ROW std::int32_t column_products(std::int32_t parts, std::int32_t j) const {
    std::int32_t sum = 0;
    for (std::int32_t q = 0; q < parts; ++q) sum += next[q * columns + j];
    return sum;
  }
};

/// Of `count` items in a row those of one part; the parts follow each other.
TESSERA_ROW BlockRange share_of(const RowTeam& team, std::int32_t count) {
  const auto begin_of = [&](std::int64_t part) {
    return static_cast<std::int32_t>(count * part / team.parts);
  };
  return {begin_of(team.part), begin_of(team.part + 1)};
}
/// This part's blocks of the row of C.
TESSERA_ROW BlockRange share_of_c(const RowTeam& team, const ProductRow& at) {
  const BlockRange all = blocks_of_row(at.old(), at.row), mine = share_of(team, all.end - all.begin);
  return {all.begin + mine.begin, all.begin + mine.end};
}
inline constexpr std::int32_t max_row_blocks = 0x7fffffff;
/// Calls visit(i, blocks) for this part's blocks of the row of A, of inner panel number i.
template <class Visit>
TESSERA_ROW void for_each_share_of_a(const RowTeam& team, const ProductRow& at, InnerPanels panels,
                                     const Visit& visit) {
  const auto in_panel = [&](std::int32_t i) {
    return blocks_of_row(at.a.panel(at.row_panel, panels.number[i]), at.row);
  };
  BlockRange mine{0, max_row_blocks};
  if (team.parts > 1) {
    std::int32_t all = 0;
    for (std::int32_t i = 0; i < panels.count; ++i) {
      const BlockRange row = in_panel(i);
      all += row.end - row.begin;
    }
    mine = share_of(team, all);
  }
  std::int32_t before = 0;
  for (std::int32_t i = 0; i < panels.count; ++i) {
    const BlockRange row = in_panel(i);
    const std::int32_t blocks = row.end - row.begin, begin = mine.begin - before, end = mine.end - before;
    before += blocks;
    if (begin < blocks && end > 0)
      visit(i, BlockRange{row.begin + (begin > 0 ? begin : 0), end < blocks ? row.begin + end : row.end});
  }
}

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

/// The products of this part of the row for each column, of one class of inner blocks, into next_of(part).
TESSERA_ROW void count_columns(const RowTeam& team, const RowGroup& group, const ProductRow& at,
                               InnerPanels panels, std::int32_t k, ListScratch scratch) {
  const bool masked = at.mask.any();
  std::int32_t* const next = scratch.next_of(team.part);
  open_row(group, at, next);
  for_each_share_of_a(team, at, panels, [&](std::int32_t i, BlockRange blocks) {
    for_each_product(
        group, at, panels.number[i], k, blocks, [](std::int32_t, std::int32_t) { return false; },
        [&](std::int32_t j, bool, std::int32_t) {
          if (!masked || next[j] >= 0) ++next[j];
        });
  });
  team.sync();
}

/// Runs and products of this part's blocks of C for each class of columns, into runs_of(part) and
/// products_of(part).
TESSERA_ROW void count_classes(const RowTeam& team, const RowGroup& group, const ProductRow& at,
                               ListScratch scratch) {
  const PackedPanel c = at.old();
  const BlockRange mine = share_of_c(team, at);
  std::int32_t *const runs_of_class = scratch.runs_of(team.part), *const products_of_class =
                                                                      scratch.products_of(team.part);
  for (std::int32_t n = group.lane; n < at.cols.classes; n += RowGroup::size)
    runs_of_class[n] = products_of_class[n] = 0;
  group.sync();
  std::int32_t runs = 0, products = 0;
  for (std::int32_t block = mine.begin + group.lane; block < mine.end; block += RowGroup::size) {
    const std::int32_t j = c.column[block], here = scratch.column_products(team.parts, j);
    if (here <= 0) continue;
    if (at.cols.classes == 1) {
      ++runs;
      products += here;
    } else {
      RowGroup::add(runs_of_class[at.col_class(j)], 1);
      RowGroup::add(products_of_class[at.col_class(j)], here);
    }
  }
  if (at.cols.classes == 1) {
    runs = group.sum(runs);
    products = group.sum(products);
    if (group.lane == 0) runs_of_class[0] = runs, products_of_class[0] = products;
  }
  team.sync();
}

/// Runs and products of the row for each pair of classes of columns and inner blocks, into
/// counts[2 (n inner classes + k)].
TESSERA_ROW void count_listed_row(const RowTeam& team, const RowGroup& group, const ProductRow& at,
                                  InnerPanels panels, ListScratch scratch, std::int32_t* counts) {
  for (std::int32_t k = 0; k < at.inner.classes; ++k) {
    count_columns(team, group, at, panels, k, scratch);
    count_classes(team, group, at, scratch);
    for (std::int32_t n = group.lane; team.part == 0 && n < at.cols.classes; n += RowGroup::size) {
      std::int32_t* const count = counts + 2 * (n * at.inner.classes + k);
      count[0] = count[1] = 0;
      for (std::int32_t q = 0; q < team.parts; ++q) {
        count[0] += scratch.runs_of(q)[n];
        count[1] += scratch.products_of(q)[n];
      }
    }
    team.sync();
  }
}

/// The same for a stack that counts_by_lengths: there are as many products as the rows of B are long.
TESSERA_ROW void count_complete_row(const RowGroup& group, const ProductRow& at, InnerPanels panels,
                                    std::int32_t* counts) {
  std::int32_t products = 0;
  for (std::int32_t i = 0; i < panels.count; ++i) {
    const PackedPanel a = at.a.panel(at.row_panel, panels.number[i]),
                      b = at.b.panel(panels.number[i], at.col_panel);
    const BlockRange row = blocks_of_row(a, at.row);
    for (std::int32_t block = row.begin + group.lane; b.blocks > 0 && block < row.end;
         block += RowGroup::size) {
      const std::int32_t k = a.column[block];
      if (at.inner.size[at.inner.first[panels.number[i]] + k] > 0)
        products += b.row_begin[k + 1] - b.row_begin[k];
    }
  }
  products = group.sum(products);
  if (group.lane > 0) return;
  const BlockRange c = blocks_of_row(at.old(), at.row);
  counts[0] = c.end - c.begin;
  counts[1] = products;
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
  double limit, square;             ///< of the limit; 0: too small to compare with
  /// Whether the product of the norms is not below the limit. Squares tell where rounding cannot matter.
  TESSERA_ROW bool passes(const PackedPanel& a, std::int32_t left, const PackedPanel& b,
                          std::int32_t right) const {
    constexpr double rounding = 1e-12;
    const double of_a = norms_a[a.before + left], of_b = norms_b[b.before + right];
    if (square > 0) {
      if (of_a * of_b > (1 + rounding) * square) return true;
      if (of_a * of_b < (1 - rounding) * square) return false;
    }
    return !(sqrt(of_a) * sqrt(of_b) < limit);
  }
};
/// `blocks`: for each row of blocks of C those of op(A); null: those of A.
TESSERA_ROW RowFilter row_filter(const ProductRow& at, const ListFilter& filter, const std::int32_t* blocks,
                                 const double* norms_a, const double* norms_b) {
  const std::int32_t here = blocks ? blocks[at.first_row + at.row] : at.blocks_of_a();
  const double limit = filter.eps / (here > 1 ? here : 1), square = limit * limit;
  return {norms_a - filter.before_a, norms_b - filter.before_b, limit, square > 1e-290 ? square : 0};
}

/// Runs keep their places; what the filter has left out is missing at their ends. For one class of inner
/// blocks, after its entries, in a team of one: scratch.next tells where they end.
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

/// Writes the runs of the row of one class of inner blocks; next_of(part)[j] := 1 + where that part's entries
/// of the column begin. counts: where runs and entries of the row begin, as sum_rows leaves them.
TESSERA_ROW void write_runs(const RowTeam& team, const RowGroup& group, const ProductRow& at, std::int32_t k,
                            ListScratch scratch, const std::int32_t* counts, StackRun* runs) {
  const PackedPanel c = at.old();
  if (team.parts > 1) count_classes(team, group, at, scratch);
  for (std::int32_t n = group.lane; team.part == 0 && n < at.cols.classes; n += RowGroup::size) {
    const std::int32_t* const count = counts + 2 * (n * at.inner.classes + k);
    std::int32_t run = count[0], entry = count[1];
    for (std::int32_t q = 0; q < team.parts; ++q) {
      const std::int32_t runs_here = scratch.runs_of(q)[n], products_here = scratch.products_of(q)[n];
      scratch.runs_of(q)[n] = run;
      scratch.products_of(q)[n] = entry;
      if (q + 1 == team.parts) break;
      run += runs_here;
      entry += products_here;
    }
  }
  team.sync();
  const BlockRange mine = share_of_c(team, at);
  for (std::int32_t base = mine.begin; base < mine.end; base += RowGroup::size) {
    const std::int32_t block = base + group.lane;
    const bool there = block < mine.end;
    const std::int32_t j = there ? c.column[block] : 0, n = there ? at.col_class(j) : -1;
    const std::int32_t here = there ? scratch.column_products(team.parts, j) : 0;
    for (std::int32_t column_class = 0; column_class < at.cols.classes; ++column_class) {
      const bool taken = n == column_class && here > 0;
      std::int32_t &run_of_class = scratch.runs_of(team.part)[column_class],
                   &entry_of_class = scratch.products_of(team.part)[column_class];
      const std::int32_t run = run_of_class + group.sum_before(taken ? 1 : 0),
                         entry = entry_of_class + group.sum_before(taken ? here : 0);
      const std::int32_t all_runs = group.sum(taken ? 1 : 0), all_products = group.sum(taken ? here : 0);
      if (taken) {
        runs[run] = {c.offset[block], entry, here, block};
        std::int32_t next = entry + 1;  // 0 and less: no products
        for (std::int32_t q = 0; q < team.parts; ++q) {
          const std::int32_t products = scratch.next_of(q)[j];
          scratch.next_of(q)[j] = next;
          next += products;
        }
      }
      group.sync();
      if (group.lane == 0) {
        run_of_class += all_runs;
        entry_of_class += all_products;
      }
      group.sync();
    }
  }
  team.sync();
}

/// Writes the runs and the entries of the row; counts: where they begin, as sum_rows leaves them. With a
/// filter, which teams of one apply, the products that it leaves out are added to `filtered`, class by class.
template <bool with_filter>
TESSERA_ROW void list_row(const RowTeam& team, const RowGroup& group, const ProductRow& at,
                          InnerPanels panels, const RowFilter& filter, ListScratch scratch,
                          const std::int32_t* counts, StackEntry* entries, StackRun* runs,
                          std::int64_t* filtered) {
  const bool masked = at.mask.any();
  std::int32_t* const next = scratch.next_of(team.part);
  for (std::int32_t k = 0; k < at.inner.classes; ++k) {
    count_columns(team, group, at, panels, k, scratch);
    write_runs(team, group, at, k, scratch, counts, runs);
    // Single entries, each elsewhere, would take far longer to write than a row of them.
    const std::int32_t first = at.cols.classes == 1 ? counts[2 * k + 1] : 0,
                       products = at.cols.classes == 1 ? scratch.products_of(team.parts - 1)[0] - first : 0;
    const bool together = products > 0 && products <= scratch.room;
    StackEntry* const to = together ? scratch.row : entries + first;
    ClassCounter left_out{at.cols.classes, scratch.runs};
    if constexpr (with_filter) left_out.clear(group);
    for_each_share_of_a(team, at, panels, [&](std::int32_t i, BlockRange blocks) {
      const PackedPanel a = at.a.panel(at.row_panel, panels.number[i]),
                        b = at.b.panel(panels.number[i], at.col_panel);
      for_each_product(
          group, at, panels.number[i], k, blocks,
          [&](std::int32_t left, std::int32_t right) {
            // Below 0: the filter leaves it out. One word a product is what registers have room for.
            const std::int32_t offset = b.offset[right];
            return !with_filter || filter.passes(a, left, b, right) ? offset : ~offset;
          },
          [&](std::int32_t j, std::int32_t offset, std::int32_t left) {
            if (masked && next[j] <= 0) return;
            if (offset >= 0)
              to[next[j]++ - 1 - first] = StackEntry(a.offset[left], offset, i);
            else
              left_out.count(at, j);
          });
    });
    team.sync();
    for (std::int32_t e = team.part * RowGroup::size + group.lane; together && e < products;
         e += team.parts * RowGroup::size)
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
