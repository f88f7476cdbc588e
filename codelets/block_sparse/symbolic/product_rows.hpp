// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/find_products.hpp>
#include <tessera/codelets/block_sparse/symbolic/row_group.hpp>

/// The bodies of find_products and write_product_pattern for one row of blocks of a panel of C, by a team of
/// groups of threads: the same text for CPUs and GPUs.
namespace tessera::detail {
inline namespace TESSERA_ROW_NAMESPACE {

/// A row of blocks of a panel of C.
struct ProductRow {
  PackedPattern a, b, c;
  PackedSide rows, cols, inner;
  ProductMask mask;
  std::int32_t row_panel, col_panel;
  std::int32_t row, first_row, first_col, columns;
  std::int32_t size, size_class;  ///< of the row

  TESSERA_ROW ProductRow(const PackedPattern& pattern_a, const PackedPattern& pattern_b,
                         const PackedPattern& pattern_c, ProductMask products, std::int32_t panel,
                         std::int32_t position)
      : a(pattern_a),
        b(pattern_b),
        c(pattern_c),
        rows(c.rows()),
        cols(c.cols()),
        inner(a.cols()),
        mask(products),
        row_panel(panel % c.header().row_panels),
        col_panel(panel / c.header().row_panels),
        row(position),
        first_row(rows.first[row_panel]),
        first_col(cols.first[col_panel]),
        columns(cols.blocks(col_panel)),
        size(0),
        size_class(0) {
    if (!exists()) return;
    size = rows.size[first_row + row];
    size_class = rows.size_class[first_row + row];
  }
  /// Panels have different numbers of rows.
  TESSERA_ROW bool exists() const { return row < rows.blocks(row_panel); }
  /// Blocks in the row of A.
  TESSERA_ROW std::int32_t blocks_of_a() const {
    std::int32_t blocks = 0;
    for (std::int32_t r = 0; r < a.header().col_panels; ++r) {
      const PackedPanel panel = a.panel(row_panel, r);
      if (panel.blocks > 0) blocks += panel.row_begin[row + 1] - panel.row_begin[row];
    }
    return blocks;
  }
  TESSERA_ROW PackedPanel old() const { return c.panel(row_panel, col_panel); }
  TESSERA_ROW std::int32_t col_class(std::int32_t j) const { return cols.size_class[first_col + j]; }
  TESSERA_ROW std::int32_t col_size(std::int32_t j) const { return cols.size[first_col + j]; }
};

TESSERA_ROW void clear(const RowTeam& team, RowBits* bits, std::int32_t columns) {
  for (std::int32_t w = team.thread; w < words_for(columns); w += team.threads) bits[w] = 0;
  team.sync();
}

/// The blocks that C's row has already.
TESSERA_ROW void mark_old(const RowTeam& team, const ProductRow& at, RowBits* bits) {
  const PackedPanel old = at.old();
  if (old.blocks > 0)
    for (std::int32_t c = old.row_begin[at.row] + team.thread; c < old.row_begin[at.row + 1];
         c += team.threads)
      RowGroup::set(bits, old.column[c]);
  team.sync();
}

/// The blocks of the row that may be computed.
TESSERA_ROW void mark_allowed(const RowTeam& team, const ProductRow& at, RowBits* bits) {
  clear(team, bits, at.columns);
  const std::int32_t number = at.rows.number[at.first_row + at.row];
  const auto allowed = [&](std::int32_t j) {
    return at.col_size(j) > 0 && (!at.mask.lower || number >= at.cols.number[at.first_col + j]);
  };
  if (at.mask.only_old) {
    const PackedPanel old = at.old();
    if (old.blocks > 0)
      for (std::int32_t c = old.row_begin[at.row] + team.thread; c < old.row_begin[at.row + 1];
           c += team.threads)
        if (allowed(old.column[c])) RowGroup::set(bits, old.column[c]);
  } else {
    for (std::int32_t j = team.thread; j < at.columns; j += team.threads)
      if (allowed(j)) RowGroup::set(bits, j);
  }
  team.sync();
}

inline constexpr std::int32_t any_class = -1;

/// Blocks of a panel of A: numbers [begin, end).
struct BlockRange {
  std::int32_t begin, end;
};
TESSERA_ROW BlockRange blocks_of_row(const PackedPanel& panel, std::int32_t row) {
  if (panel.blocks == 0) return {0, 0};
  return {panel.row_begin[row], panel.row_begin[row + 1]};
}
/// Of `count` items in a row those of one part; the parts follow each other.
TESSERA_ROW BlockRange share_of(const RowTeam& team, std::int32_t count) {
  const auto begin_of = [&](std::int64_t part) {
    return static_cast<std::int32_t>(count * part / team.parts);
  };
  return {begin_of(team.part), begin_of(team.part + 1)};
}

/// What take() needs of a block beside its place.
struct Nothing {
  TESSERA_ROW Nothing of_thread(const RowGroup&, int) const { return {}; }
};

/// Goes along the rows of B of `inner_blocks` blocks of A. [from, to), `left`: in thread `thread` and those after,
/// where the rows of B are and what belongs to the block of A. Reads `strides` columns a thread of all rows, then
/// calls take for them: a GPU's threads wait for its memory once. all_short: the rows have no more.
template <int inner_blocks, int strides, bool all_short, class Left, class Look, class Take>
TESSERA_ROW void take_rows(const RowGroup& group, const PackedPanel& b, std::int32_t from, std::int32_t to,
                           const Left& left, int thread, const Look& look, const Take& take) {
  std::int32_t column[inner_blocks][strides];
  decltype(look(0)) seen[inner_blocks][strides];
  const auto read = [&](int u, std::int32_t begin, std::int32_t end) {
    TESSERA_UNROLL
    for (int v = 0; v < strides; ++v) {
      // Beyond the end the first block of the panel is read: without branches all is read at once.
      const std::int32_t right = begin + v * RowGroup::size + group.lane;
      const bool there = right < end;
      const std::int32_t any = there ? right : 0, j = b.column[any];
      seen[u][v] = look(any);
      column[u][v] = there ? j : -1;
    }
  };
  TESSERA_UNROLL
  for (int u = 0; u < inner_blocks; ++u)
    read(u, group.broadcast(from, thread + u), group.broadcast(to, thread + u));
  TESSERA_UNROLL
  for (int u = 0; u < inner_blocks; ++u) {
    const Left of = left.of_thread(group, thread + u);
    const std::int32_t end = group.broadcast(to, thread + u);
    std::int32_t begin = group.broadcast(from, thread + u);
    do {
      TESSERA_UNROLL
      for (int v = 0; v < strides; ++v)
        if (column[u][v] >= 0) take(column[u][v], seen[u][v], of);
      begin += strides * RowGroup::size;
      if (all_short || begin >= end) break;
      read(u, begin, end);
    } while (true);
    group.sync();
  }
}

/// Calls take(column, look(block of B), left_of(block of A)) for the products of some blocks of the row of A in one
/// inner panel, of inner blocks of one class or of any, in ascending order of the inner index: what one inner
/// index has written for the group is seen by the next. `left_of` and `look` only read, and may be called
/// earlier, and for other blocks.
template <class LeftOf, class Look, class Take>
TESSERA_ROW void for_each_product(const RowGroup& group, const ProductRow& at, std::int32_t inner_panel,
                                  std::int32_t inner_class, BlockRange blocks, const LeftOf& left_of,
                                  const Look& look, const Take& take) {
  // Of short rows of B many are read at a time, of long ones few: what is read has to fit the registers.
  constexpr bool alone = RowGroup::size == 1;
  constexpr int size = static_cast<int>(sizeof(look(0)));
  constexpr int short_rows = alone      ? 1
                             : size > 4 ? 4
                                        : 8,
                middle_rows = short_rows / (alone ? 1 : 2), long_rows = !alone && size == 1 ? 2 : 1,
                strides = alone ? 1 : 4;
  const PackedPanel a = at.a.panel(at.row_panel, inner_panel), b = at.b.panel(inner_panel, at.col_panel);
  if (a.blocks == 0 || b.blocks == 0) return;
  const std::int32_t first_inner = at.inner.first[inner_panel];
  for (std::int32_t base = blocks.begin; base < blocks.end; base += RowGroup::size) {
    // Each thread looks a block of A up; then all go along the rows of B one by one.
    std::int32_t from = 0, to = 0;
    decltype(left_of(0)) left{};
    if (base + group.lane < blocks.end) {
      const std::int32_t k = a.column[base + group.lane], number = first_inner + k;
      left = left_of(base + group.lane);
      if (at.inner.size[number] > 0 &&
          (inner_class == any_class || at.inner.size_class[number] == inner_class)) {
        from = b.row_begin[k];
        to = b.row_begin[k + 1];
      }
    }
    const int here = blocks.end - base < RowGroup::size ? blocks.end - base : RowGroup::size;
    if (alone || group.any(to - from > 2 * RowGroup::size))
      for (int s = 0; s < here; s += long_rows)
        take_rows<long_rows, strides, false>(group, b, from, to, left, s, look, take);
    else if (group.any(to - from > RowGroup::size))
      for (int s = 0; s < here; s += middle_rows)
        take_rows<middle_rows, 2, true>(group, b, from, to, left, s, look, take);
    else
      for (int s = 0; s < here; s += short_rows)
        take_rows<short_rows, 1, true>(group, b, from, to, left, s, look, take);
  }
}
/// Calls take(column) for this part's of these products of the row.
template <class Take>
TESSERA_ROW void for_each_product(const RowTeam& team, const RowGroup& group, const ProductRow& at,
                                  std::int32_t inner_panel, std::int32_t inner_class, const Take& take) {
  const BlockRange row = blocks_of_row(at.a.panel(at.row_panel, inner_panel), at.row),
                   mine = share_of(team, row.end - row.begin);
  for_each_product(
      group, at, inner_panel, inner_class, {row.begin + mine.begin, row.begin + mine.end},
      [](std::int32_t) { return Nothing(); }, [](std::int32_t) { return Nothing(); },
      [&](std::int32_t j, Nothing, Nothing) { take(j); });
}

/// Counts by classes of columns: in a register where there is one class.
struct ClassCounter {
  std::int32_t classes;
  std::int32_t* of_class;  ///< shared by the team
  std::int32_t only = 0;

  TESSERA_ROW void clear(const RowTeam& team) {
    only = 0;
    if (classes == 1) return;
    for (std::int32_t n = team.thread; n < classes; n += team.threads) of_class[n] = 0;
    team.sync();
  }
  TESSERA_ROW void count(const ProductRow& at, std::int32_t j) {
    if (classes == 1)
      ++only;
    else
      RowGroup::add(of_class[at.col_class(j)], 1);
  }
  TESSERA_ROW void count(const ProductRow& at, std::int32_t word, RowBits bits) {
    if (classes == 1)
      only += RowGroup::count(bits);
    else
      for (; bits != 0; bits &= bits - 1)
        RowGroup::add(of_class[at.col_class(32 * word + RowGroup::first(bits))], 1);
  }
  /// Calls take(class, count), whose counts add up to those of the class, each time in one thread.
  template <class Take>
  TESSERA_ROW void finish(const RowTeam& team, const RowGroup& group, const Take& take) {
    if (classes == 1) {
      const std::int32_t sum = group.sum(only);
      if (group.lane == 0 && sum > 0) take(0, sum);
      return;
    }
    team.sync();
    for (std::int32_t n = team.thread; n < classes; n += team.threads)
      if (of_class[n] > 0) take(n, of_class[n]);
    team.sync();
  }
};

/// Memory that a team shares, for counting.
struct CountScratch {
  RowBits *all, *together, *inner, *allowed;
  std::int32_t* of_class;
  static constexpr std::size_t bytes(std::int32_t columns, std::int32_t classes) noexcept {
    return sizeof(RowBits) *
           (4 * ((static_cast<std::size_t>(columns) + 31) / 32) + static_cast<std::size_t>(classes));
  }
  TESSERA_ROW CountScratch(void* memory, std::int32_t columns) {
    const std::int32_t words = words_for(columns);
    all = static_cast<RowBits*>(memory);
    together = all + words;
    inner = together + words;
    allowed = inner + words;
    of_class = reinterpret_cast<std::int32_t*>(allowed + words);
  }
};

/// Adds the blocks that `found` names, their elements, those on the diagonal, and what they add to the pattern's
/// identity to the totals of the row's panel; row_counts := blocks and elements.
TESSERA_ROW void count_found(const RowGroup& group, const ProductRow& at, const RowBits* found,
                             std::int64_t* totals, std::int32_t* row_counts) {
  std::int32_t blocks = 0, elements = 0, diagonal_blocks = 0, diagonal_elements = 0;
  std::uint64_t identity[2] = {0, 0};
  const std::int32_t words = words_for(at.columns), number = at.rows.number[at.first_row + at.row];
  const std::int64_t panel = at.row_panel + std::int64_t(at.col_panel) * at.c.header().row_panels;
  for (std::int32_t w = group.lane; w < words; w += RowGroup::size)
    for (RowBits bits = found[w]; bits != 0; bits &= bits - 1) {
      const std::int32_t j = 32 * w + RowGroup::first(bits);
      ++blocks;
      elements += at.size * at.col_size(j);
      if (at.cols.number[at.first_col + j] == number) {
        diagonal_blocks = 1;
        diagonal_elements = at.size * at.col_size(j);
      }
      identity[0] += block_identity(panel, at.row, j, first_identity_seed);
      identity[1] += block_identity(panel, at.row, j, second_identity_seed);
    }
  blocks = group.sum(blocks);
  elements = group.sum(elements);
  diagonal_blocks = group.sum(diagonal_blocks);
  diagonal_elements = group.sum(diagonal_elements);
  for (int i = 0; i < 2; ++i) {
    identity[i] = group.sum(identity[i]);
    if (group.lane == 0)
      RowGroup::add(totals[TotalsLayout::identity + i], static_cast<std::int64_t>(identity[i]));
  }
  if (group.lane > 0) return;
  row_counts[0] = blocks;
  row_counts[1] = elements;
  RowGroup::add(totals[TotalsLayout::blocks], std::int64_t(blocks));
  RowGroup::add(totals[TotalsLayout::elements], std::int64_t(elements));
  if (diagonal_blocks == 0) return;
  RowGroup::add(totals[TotalsLayout::diagonal_blocks], std::int64_t(diagonal_blocks));
  RowGroup::add(totals[TotalsLayout::diagonal_elements], std::int64_t(diagonal_elements));
}

/// What the row contributes to the totals of its panel, and its blocks and elements after the product.
TESSERA_ROW void count_row(const RowTeam& team, const RowGroup& group, const ProductRow& at,
                           const TotalsLayout& layout, CountScratch scratch, std::int64_t* totals,
                           std::int32_t* row_counts) {
  const bool masked = at.mask.any();
  clear(team, scratch.all, at.columns);
  if (masked) mark_allowed(team, at, scratch.allowed);
  ClassCounter counter{at.cols.classes, scratch.of_class};
  const std::int32_t class_row = at.size_class * at.cols.classes * at.inner.classes;
  const std::int32_t words = words_for(at.columns), inner_panels = layout.inner_panels;
  for (std::int32_t k = 0; at.size > 0 && k < at.inner.classes; ++k) {
    const auto class_number = [&](std::int32_t n) { return class_row + n * at.inner.classes + k; };
    for (std::int32_t set = 0; set < layout.sets; ++set) {
      clear(team, scratch.together, at.columns);
      for (std::int32_t step = set * layout.together;
           step < inner_panels && step < (set + 1) * layout.together; ++step) {
        const std::int32_t r = (at.row_panel + at.col_panel + step) % inner_panels;
        clear(team, scratch.inner, at.columns);
        counter.clear(team);
        for_each_product(team, group, at, r, k, [&](std::int32_t j) {
          if (masked && !test_bit(scratch.allowed, j)) return;
          RowGroup::set(scratch.inner, j);
          counter.count(at, j);
        });
        counter.finish(team, group, [&](std::int32_t n, std::int32_t products) {
          RowGroup::add(totals[layout.products(r, class_number(n))], std::int64_t(products));
        });
        counter.clear(team);
        team.sync();
        for (std::int32_t w = team.thread; w < words; w += team.threads) {
          const RowBits bits = scratch.inner[w];
          scratch.together[w] |= bits;
          counter.count(at, w, bits);
        }
        counter.finish(team, group, [&](std::int32_t n, std::int32_t runs) {
          RowGroup::add(totals[layout.runs(r, class_number(n))], std::int64_t(runs));
        });
      }
      // Words are a thread's own in all of these loops.
      counter.clear(team);
      for (std::int32_t w = team.thread; w < words; w += team.threads) {
        const RowBits bits = scratch.together[w];
        scratch.all[w] |= bits;
        counter.count(at, w, bits);
      }
      counter.finish(team, group, [&](std::int32_t n, std::int32_t runs) {
        RowGroup::add(totals[layout.set_runs(set, class_number(n))], std::int64_t(runs));
      });
    }
  }
  team.sync();
  mark_old(team, at, scratch.all);
  if (team.part == 0) count_found(group, at, scratch.all, totals, row_counts);
  team.sync();
}

/// The blocks of the row after the product, as bits in `found`; `allowed` is scratch.
TESSERA_ROW void mark_result(const RowTeam& team, const RowGroup& group, const ProductRow& at, RowBits* found,
                             RowBits* allowed) {
  const bool masked = at.mask.any();
  clear(team, found, at.columns);
  if (masked) mark_allowed(team, at, allowed);
  for (std::int32_t r = 0; at.size > 0 && r < at.a.header().col_panels; ++r)
    for_each_product(team, group, at, r, any_class, [&](std::int32_t j) {
      if (!masked || test_bit(allowed, j)) RowGroup::set(found, j);
    });
  mark_old(team, at, found);
}

/// Writes the columns and offsets of the blocks that `found` names; the first is number `block` of the panel
/// and begins at element `offset`.
TESSERA_ROW void write_row(const RowGroup& group, const ProductRow& at, const RowBits* found,
                           std::int32_t block, std::int32_t offset, std::int32_t* column,
                           std::int32_t* offsets) {
  const std::int32_t words = words_for(at.columns);
  for (std::int32_t base = 0; base < words; base += RowGroup::size) {
    const RowBits mine = base + group.lane < words ? found[base + group.lane] : 0;
    std::int32_t elements = 0;
    for (RowBits bits = mine; bits != 0; bits &= bits - 1)
      elements += at.size * at.col_size(32 * (base + group.lane) + RowGroup::first(bits));
    const std::int32_t blocks = RowGroup::count(mine);
    std::int32_t next = block + group.sum_before(blocks), begin = offset + group.sum_before(elements);
    for (RowBits bits = mine; bits != 0; bits &= bits - 1, ++next) {
      const std::int32_t j = 32 * (base + group.lane) + RowGroup::first(bits);
      column[next] = j;
      offsets[next] = begin;
      begin += at.size * at.col_size(j);
    }
    block += group.sum(blocks);
    offset += group.sum(elements);
  }
}

}  // namespace TESSERA_ROW_NAMESPACE
}  // namespace tessera::detail
