// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "half_blocks.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <type_traits>
#include <utility>

#include <tessera/runtime/parallel_for.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera::program {
using namespace detail;

namespace {

/// visit(row, column, value) for the entries of a row of blocks, row after row. Entry: SparseEntry, or that of complex
/// values.
template <class Entry, class Visit>
void for_block_row(const SymmetricRows& rows, Index begin, Index end, std::vector<Entry>& space,
                   const Visit& visit) {
  constexpr Index max_rows = 256;
  const std::span<const Index> tiles = rows.tiles();
  for (Index first = begin; first < end;) {
    Index last = std::min(first + max_rows, end);
    if (!tiles.empty()) last = std::min(last, *std::upper_bound(tiles.begin(), tiles.end(), first));
    space.clear();
    if constexpr (std::is_same_v<Entry, SparseEntry>)
      rows.entries(first, last, 0, last, space);
    else
      rows.complex_entries(first, last, 0, last, space);
    std::stable_sort(space.begin(), space.end(), [](const Entry& a, const Entry& b) {
      return a.row != b.row ? a.row < b.row : a.column < b.column;
    });
    for (const Entry& e : space) visit(first + Index(e.row), Index(e.column), e.value);
    first = last;
  }
}

/// work(row of blocks, row, column, value) for all entries, those of a row of blocks by one thread.
template <class Entry = SparseEntry, class Work>
void for_block_rows(const SymmetricRows& rows, const std::vector<Index>& begins, int threads,
                    const Work& work) {
  std::vector<std::vector<Entry>> space(static_cast<std::size_t>(threads));
  parallel_for(threads, static_cast<Index>(begins.size()) - 1, [&](Index i, int thread) {
    const auto b = static_cast<std::size_t>(i);
    for_block_row(rows, begins[b], begins[b + 1], space[static_cast<std::size_t>(thread)],
                  [&](Index row, Index column, auto value) { work(b, row, column, value); });
  });
}

std::size_t block_of(const std::vector<Index>& begins, Index column) {
  return static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), column) - begins.begin() -
                                  1);
}

/// Entries of the blocks in each row of blocks.
std::vector<std::vector<Index>> count_entries(const SymmetricRows& rows, const std::vector<Index>& begins,
                                              int threads) {
  std::vector<std::vector<Index>> counts(begins.size() - 1);
  for (std::size_t b = 0; b < counts.size(); ++b) counts[b].assign(b + 1, 0);
  const auto count = [&](std::size_t b, Index, Index column, auto) { ++counts[b][block_of(begins, column)]; };
  if (rows.hermitian())
    for_block_rows<ComplexSparseEntry>(rows, begins, threads, count);
  else
    for_block_rows(rows, begins, threads, count);
  return counts;
}

}  // namespace

std::vector<Index> block_sizes(const SymmetricRows& rows, const std::vector<Index>& begins, int threads) {
  std::vector<Index> sizes;
  for (const std::vector<Index>& of_row : count_entries(rows, begins, threads))
    std::copy_if(of_row.begin(), of_row.end(), std::back_inserter(sizes),
                 [](Index count) { return count > 0; });
  return sizes;
}

template <class V>
HalfBlocks<V> half_blocks(const SymmetricRows& rows, const std::vector<Index>& begins, int threads) {
  // And then where the next one goes.
  std::vector<std::vector<Index>> counts = count_entries(rows, begins, threads);
  HalfBlocks<V> made;
  std::vector<std::vector<std::int64_t>> in_column(counts.size());
  Index entries = 0;
  made.row_begins.push_back(0);
  for (std::size_t b = 0; b < counts.size(); ++b) {
    for (std::size_t c = 0; c <= b; ++c) {
      const Index here = std::exchange(counts[b][c], entries);
      if (here == 0) continue;
      in_column[c].push_back(static_cast<std::int64_t>(made.blocks.size()));
      made.blocks.push_back({begins[b], begins[c], entries, here});
      entries += here;
    }
    made.row_begins.push_back(static_cast<std::int64_t>(made.blocks.size()));
  }
  made.column_begins.push_back(0);
  for (const std::vector<std::int64_t>& of_column : in_column) {
    made.by_column.insert(made.by_column.end(), of_column.begin(), of_column.end());
    made.column_begins.push_back(static_cast<std::int64_t>(made.by_column.size()));
  }
  made.values.resize(static_cast<std::size_t>(entries));
  made.rows.resize(made.values.size());
  made.columns.resize(made.values.size());
  for_block_rows(rows, begins, threads, [&](std::size_t b, Index row, Index column, double value) {
    const std::size_t c = block_of(begins, column);
    const auto at = static_cast<std::size_t>(counts[b][c]++);
    made.values[at] = static_cast<V>(value);
    made.rows[at] = static_cast<std::uint16_t>(row - begins[b]);
    made.columns[at] = static_cast<std::uint16_t>(column - begins[c]);
  });
  return made;
}

namespace {

/// Y += A X (or, transposed, the upper triangle's part) for a block; the diagonal counts in the former.
template <bool transposed, class V, class T, class Add>
void multiply_block(const HalfBlocks<V>& a, const HalfBlock& block, int columns, const T* x, T* y,
                    const Add& add) {
  for (std::int64_t e = block.first_entry; e < block.first_entry + block.entries; ++e) {
    const auto at = static_cast<std::size_t>(e);
    const std::int64_t row = block.first_row + a.rows[at], column = block.first_column + a.columns[at];
    if (transposed && row == column) continue;
    const T value = static_cast<T>(a.values[at]);
    const T* from = x + (transposed ? row : column) * columns;
    T* to = y + (transposed ? column : row) * columns;
    for (int j = 0; j < columns; ++j) add(to[j], value * from[j]);
  }
}

}  // namespace

template <class V, class T>
void multiply_half_blocks(const HalfBlocks<V>& a, HalfBlocksMethod method, int columns,
                          const std::vector<T>& x, std::vector<T>& y, int threads) {
  std::fill(y.begin(), y.end(), T(0));
  if (method == HalfBlocksMethod::naive) {
    const auto add = [](T& to, T term) { to += term; };
    parallel_for(threads, a.block_rows(), [&](Index i, int) {
      for (auto b = a.row_begins[static_cast<std::size_t>(i)];
           b < a.row_begins[static_cast<std::size_t>(i) + 1]; ++b)
        multiply_block<false>(a, a.blocks[static_cast<std::size_t>(b)], columns, x.data(), y.data(), add);
    });
    parallel_for(threads, a.block_rows(), [&](Index i, int) {
      for (auto k = a.column_begins[static_cast<std::size_t>(i)];
           k < a.column_begins[static_cast<std::size_t>(i) + 1]; ++k)
        multiply_block<true>(a, a.blocks[static_cast<std::size_t>(a.by_column[static_cast<std::size_t>(k)])],
                             columns, x.data(), y.data(), add);
    });
    return;
  }
  const auto add = [](T& to, T term) { std::atomic_ref<T>(to).fetch_add(term, std::memory_order_relaxed); };
  const auto count = static_cast<Index>(a.blocks.size());
  parallel_for(threads, count, [&](Index b, int) {
    multiply_block<false>(a, a.blocks[static_cast<std::size_t>(b)], columns, x.data(), y.data(), add);
  });
  parallel_for(threads, count, [&](Index b, int) {
    multiply_block<true>(a, a.blocks[static_cast<std::size_t>(b)], columns, x.data(), y.data(), add);
  });
}

template HalfBlocks<float> half_blocks<float>(const SymmetricRows&, const std::vector<Index>&, int);
template HalfBlocks<double> half_blocks<double>(const SymmetricRows&, const std::vector<Index>&, int);
#define TESSERA_INSTANTIATE(V, T)                                                                        \
  template void multiply_half_blocks(const HalfBlocks<V>&, HalfBlocksMethod, int, const std::vector<T>&, \
                                     std::vector<T>&, int);
TESSERA_INSTANTIATE(double, double)
TESSERA_INSTANTIATE(float, double)
TESSERA_INSTANTIATE(float, float)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
