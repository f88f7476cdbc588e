// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

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

/// While products are counted next[j] is -1 for a block that is not computed, else twice the number of those that
/// pass the filter, and 1 more if there are any at all: then the block has a run, if only to become zero.
TESSERA_ROW std::int32_t counted(std::int32_t next, bool passes) {
  return (next | 1) + (passes ? 2 : 0);
}
struct ColumnProducts {
  bool any;
  std::int32_t passing;
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
  TESSERA_ROW std::int32_t passing(std::int32_t part, std::int32_t j) const {
    const std::int32_t here = next[part * columns + j];
    return here > 0 ? here / 2 : 0;
  }
  /// Of all parts.
  TESSERA_ROW ColumnProducts column_products(std::int32_t parts, std::int32_t j) const {
    ColumnProducts all{false, 0};
    for (std::int32_t q = 0; q < parts; ++q) {
      all.any = all.any || next[q * columns + j] > 0;
      all.passing += passing(q, j);
    }
    return all;
  }
};

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

/// next[j] of all parts := 0 for the blocks that are computed, -1 for others; a row of C has all columns with
/// products.
TESSERA_ROW void open_row(const RowTeam& team, const ProductRow& at, ListScratch scratch) {
  const PackedPanel c = at.old();
  const std::int32_t number = at.rows.number[at.first_row + at.row], all = team.parts * scratch.columns;
  if (!at.mask.any()) {
    for (std::int32_t j = team.thread; j < all; j += team.threads) scratch.next[j] = 0;
    team.sync();
    return;
  }
  for (std::int32_t j = team.thread; j < all; j += team.threads) scratch.next[j] = -1;
  team.sync();
  for (std::int32_t block = c.row_begin[at.row] + team.thread; block < c.row_begin[at.row + 1];
       block += team.threads) {
    const std::int32_t j = c.column[block];
    if (at.col_size(j) == 0 || (at.mask.lower && number < at.cols.number[at.first_col + j])) continue;
    for (std::int32_t q = 0; q < team.parts; ++q) scratch.next_of(q)[j] = 0;
  }
  team.sync();
}

/// Runs and products of the row for a stack that counts_by_lengths, into counts[0] and counts[1]: there are as many
/// products as the rows of B are long.
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

/// Whether the product of two norms, whose squares are given, is not below the limit.
TESSERA_ROW_APART bool not_below(double of_a, double of_b, double limit) {
  return !(sqrt(of_a) * sqrt(of_b) < limit);
}
/// What passes the filter in one row: norms are of the blocks of all panels.
struct RowFilter {
  const double *norms_a, *norms_b;  ///< squares
  double limit, low, high;  ///< products of squares up to low are below it, those from high on are not
  TESSERA_ROW bool passes(double of_a, double of_b) const {
    const double square = of_a * of_b;
    const bool passes = square >= high;
    return passes || square <= low ? passes : not_below(of_a, of_b, limit);
  }
};
/// `blocks`: for each row of blocks of C those of op(A); null: those of A.
TESSERA_ROW RowFilter row_filter(const ProductRow& at, const ListFilter& filter, const std::int32_t* blocks,
                                 const double* norms_a, const double* norms_b) {
  const std::int32_t here = blocks ? blocks[at.first_row + at.row] : at.blocks_of_a();
  const double limit = filter.eps / (here > 1 ? here : 1), square = limit * limit;
  // Squares tell where neither rounding matters nor underflow.
  constexpr double rounding = 1e-12;
  const bool by_squares = square > 1e-290;
  return {norms_a - filter.before_a, norms_b - filter.before_b, limit,
          by_squares ? (1 - rounding) * square : -1, by_squares ? (1 + rounding) * square : HUGE_VAL};
}

/// *to := the entry. Of its parts nvcc would put every byte together by itself.
TESSERA_ROW void write_entry(StackEntry* to, std::int32_t a, std::int32_t b, std::int32_t pair) {
#ifdef __CUDACC__
  *reinterpret_cast<unsigned long long*>(to) = static_cast<unsigned>(a) |
                                               static_cast<unsigned long long>(b) << stack_offset_bits |
                                               static_cast<unsigned long long>(pair) << 2 * stack_offset_bits;
#else
  *to = StackEntry(a, b, pair);
#endif
}

/// What of blocks of A and B tells whether their product passes; how it is read.
struct SquaredNorm {
  double norm;
  TESSERA_ROW SquaredNorm of_thread(const RowGroup& group, int thread) const {
    return {group.broadcast(norm, thread)};
  }
};
TESSERA_ROW bool passes(const RowFilter& filter, SquaredNorm of_a, SquaredNorm of_b) {
  return filter.passes(of_a.norm, of_b.norm);
}
TESSERA_ROW bool passes(const RowFilter&, Nothing, Nothing) {
  return true;
}
template <bool with_filter>
struct NormsOfPanel {
  const double* norms;
  TESSERA_ROW NormsOfPanel(const PackedPanel& panel, const double* all)
      : norms(with_filter ? all + panel.before : nullptr) {}
  TESSERA_ROW auto operator()(std::int32_t block) const {
    if constexpr (with_filter)
      return SquaredNorm{norms[block]};
    else
      return Nothing();
  }
};
/// The same, and where blocks begin.
template <class Norm>
struct PlacedBlock {
  std::int32_t offset;
  [[no_unique_address]] Norm norm;
  TESSERA_ROW PlacedBlock of_thread(const RowGroup& group, int thread) const {
    return {group.broadcast(offset, thread), norm.of_thread(group, thread)};
  }
};
template <bool with_filter>
struct BlocksOfPanel {
  const std::int32_t* offset;
  NormsOfPanel<with_filter> norms;
  TESSERA_ROW BlocksOfPanel(const PackedPanel& panel, const double* all)
      : offset(panel.offset), norms(panel, all) {}
  TESSERA_ROW auto operator()(std::int32_t block) const {
    return PlacedBlock<decltype(norms(block))>{offset[block], norms(block)};
  }
};

/// The products of this part of the row for each column, of one class of inner blocks, into next_of(part); those
/// that the filter leaves out are added to `filtered`, class by class.
template <bool with_filter>
TESSERA_ROW void count_columns(const RowTeam& team, const RowGroup& group, const ProductRow& at,
                               InnerPanels panels, std::int32_t k, const RowFilter& filter,
                               ListScratch scratch, std::int64_t* filtered) {
  const bool masked = at.mask.any();
  std::int32_t* const next = scratch.next_of(team.part);
  open_row(team, at, scratch);
  ClassCounter left_out{at.cols.classes, scratch.runs};
  if constexpr (with_filter) left_out.clear(team);
  for_each_share_of_a(team, at, panels, [&](std::int32_t i, BlockRange blocks) {
    const NormsOfPanel<with_filter> a(at.a.panel(at.row_panel, panels.number[i]), filter.norms_a),
        b(at.b.panel(panels.number[i], at.col_panel), filter.norms_b);
    for_each_product(group, at, panels.number[i], k, blocks, a, b,
                     [&](std::int32_t j, const auto& right, const auto& left) {
                       const std::int32_t here = next[j];
                       if (masked && here < 0) return;
                       const bool listed = passes(filter, left, right);
                       next[j] = counted(here, listed);
                       if (with_filter && !listed) left_out.count(at, j);
                     });
  });
  if constexpr (with_filter)
    left_out.finish(team, group, [&](std::int32_t n, std::int32_t count) {
      const std::int32_t number = (at.size_class * at.cols.classes + n) * at.inner.classes + k;
      RowGroup::add(filtered[number], std::int64_t(count));
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
    const std::int32_t j = c.column[block];
    const ColumnProducts here = scratch.column_products(team.parts, j);
    if (!here.any) continue;
    if (at.cols.classes == 1) {
      ++runs;
      products += here.passing;
    } else {
      RowGroup::add(runs_of_class[at.col_class(j)], 1);
      RowGroup::add(products_of_class[at.col_class(j)], here.passing);
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
    count_columns<false>(team, group, at, panels, k, {}, scratch, nullptr);
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
    const ColumnProducts here = there ? scratch.column_products(team.parts, j) : ColumnProducts{false, 0};
    for (std::int32_t column_class = 0; column_class < at.cols.classes; ++column_class) {
      const bool taken = n == column_class && here.any;
      std::int32_t &run_of_class = scratch.runs_of(team.part)[column_class],
                   &entry_of_class = scratch.products_of(team.part)[column_class];
      const std::int32_t run = run_of_class + group.sum_before(taken ? 1 : 0),
                         entry = entry_of_class + group.sum_before(taken ? here.passing : 0);
      const std::int32_t all_runs = group.sum(taken ? 1 : 0),
                         all_products = group.sum(taken ? here.passing : 0);
      if (taken) {
        runs[run] = {c.offset[block], entry, here.passing, block};
        std::int32_t next = entry + 1;  // 0 and less: no products
        for (std::int32_t q = 0; q < team.parts; ++q) {
          const std::int32_t products = scratch.passing(q, j);
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
/// filter, the products that it leaves out are added to `filtered`, class by class.
template <bool with_filter>
TESSERA_ROW void list_row(const RowTeam& team, const RowGroup& group, const ProductRow& at,
                          InnerPanels panels, const RowFilter& filter, ListScratch scratch,
                          const std::int32_t* counts, StackEntry* entries, StackRun* runs,
                          std::int64_t* filtered) {
  const bool masked = at.mask.any();
  std::int32_t* const next = scratch.next_of(team.part);
  for (std::int32_t k = 0; k < at.inner.classes; ++k) {
    count_columns<with_filter>(team, group, at, panels, k, filter, scratch, filtered);
    write_runs(team, group, at, k, scratch, counts, runs);
    // Single entries, each elsewhere, would take far longer to write than a row of them.
    const std::int32_t first = at.cols.classes == 1 ? counts[2 * k + 1] : 0,
                       products = at.cols.classes == 1 ? scratch.products_of(team.parts - 1)[0] - first : 0;
    const bool together = products > 0 && products <= scratch.room;
    StackEntry* const to = together ? scratch.row : entries + first;
    for_each_share_of_a(team, at, panels, [&](std::int32_t i, BlockRange blocks) {
      const BlocksOfPanel<with_filter> a(at.a.panel(at.row_panel, panels.number[i]), filter.norms_a),
          b(at.b.panel(panels.number[i], at.col_panel), filter.norms_b);
      for_each_product(group, at, panels.number[i], k, blocks, a, b,
                       [&](std::int32_t j, const auto& right, const auto& left) {
                         if (!passes(filter, left.norm, right.norm)) return;
                         const std::int32_t here = next[j];
                         if (masked && here <= 0) return;
                         next[j] = here + 1;
                         write_entry(to + (here - 1 - first), left.offset, right.offset, i);
                       });
    });
    team.sync();
    for (std::int32_t e = team.thread; together && e < products; e += team.threads)
      entries[first + e] = scratch.row[e];
    team.sync();
  }
}

}  // namespace TESSERA_ROW_NAMESPACE
}  // namespace tessera::detail
