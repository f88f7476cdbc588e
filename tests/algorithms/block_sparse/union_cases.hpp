// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tests/algorithms/block_sparse/generated.hpp>

#include <tessera/algorithms/block_sparse/pattern_algebra.hpp>
#include <tessera/runtime/host_waits.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

#include "operation_problem.hpp"

/// Unions of patterns by tasks against those that the host makes, and sums of matrices with such patterns.
namespace tessera::operations_test {
using namespace detail;

inline BlockPatternPointer drawn_pattern(Runtime& runtime, const BlockLayout& layout, std::uint64_t seed,
                                         double occupation) {
  std::vector<BlockCoordinate> blocks;
  for (Index i = 0; i < layout.rows->blocks(); ++i)
    for (Index j = 0; j < layout.cols->blocks(); ++j)
      if (layout.stores(i, j) && chosen(seed, layout.symmetry, i, j, occupation)) blocks.push_back({i, j});
  return BlockPattern::make(runtime, layout, blocks);
}

/// The numbers of blocks before each panel are part of a packed pattern alone.
inline void expect_same_packed(const BlockPattern& x, const BlockPattern& y) {
  const auto words = test::download_values<std::int32_t>(x.packed()),
             others = test::download_values<std::int32_t>(y.packed());
  ASSERT_EQ(words.size(), others.size());
  for (Index p = 0; p < x.panels(); ++p) {
    const auto row = word_of(x.row_panel(p)), col = word_of(x.col_panel(p));
    const PackedPanel panel = PackedPattern(words.data()).panel(row, col),
                      other = PackedPattern(others.data()).panel(row, col);
    EXPECT_EQ(panel.blocks, other.blocks);
    EXPECT_EQ(panel.before, other.before);
    if (panel.blocks > 0) {
      EXPECT_EQ(panel.row_begin - words.data(), other.row_begin - others.data());
    }
  }
}

inline void expect_same_pattern(const BlockPattern& x, const BlockPattern& y) {
  EXPECT_EQ(x.layout(), y.layout());
  EXPECT_TRUE(x == y);
  EXPECT_EQ(x.identity(), y.identity());
  EXPECT_EQ(x.blocks(), y.blocks());
  EXPECT_EQ(x.elements(), y.elements());
  EXPECT_EQ(x.diagonal_elements(), y.diagonal_elements());
  for (Index p = 0; p < x.panels(); ++p) {
    EXPECT_EQ(x.panel_blocks(p), y.panel_blocks(p));
    EXPECT_EQ(x.panel_elements(p), y.panel_elements(p));
    ASSERT_EQ(x.knows(p), y.knows(p));
    if (!x.knows(p)) continue;
    EXPECT_EQ(x.index(p).row_begin, y.index(p).row_begin);
    EXPECT_EQ(x.index(p).column, y.index(p).column);
    EXPECT_EQ(x.index(p).offset, y.index(p).offset);
  }
  expect_same_packed(x, y);
}

inline void check_union(Runtime& runtime, const BlockPatternPointer& a, const BlockPatternPointer& b) {
  Sequence sequence(runtime);
  const auto by_tasks = unite_by_tasks(sequence, a, *b), on_host = unite_on_host(a, *b);
  EXPECT_EQ(by_tasks == a, on_host == a);
  EXPECT_EQ(by_tasks->found_by_task(), runtime.size() == 1 && by_tasks != a);
  // Then such a pattern with one of the host.
  const auto again = unite(sequence, by_tasks, *b), turned = unite(sequence, b, *by_tasks);
  EXPECT_EQ(again, by_tasks);
  EXPECT_TRUE(sequence.wait().ok());
  expect_same_pattern(*by_tasks, *on_host);
  expect_same_pattern(*turned, *on_host);
}

inline void check_unions(Runtime& runtime, const BlockLayout& layout) {
  for (const double of_a : {0.0, 0.15, 0.5, 1.0})
    for (const double of_b : {0.0, 0.15, 0.5, 1.0}) {
      SCOPED_TRACE(::testing::Message() << of_a << " and " << of_b);
      check_union(runtime, drawn_pattern(runtime, layout, 41, of_a),
                  drawn_pattern(runtime, layout, 42, of_b));
    }
}

/// A matrix that a filter has taken blocks from: in one process tasks have found what is left.
template <class T>
BlockSparseMatrix<T> filtered_problem(Runtime& runtime, const BlockLayout& layout, std::uint64_t seed) {
  auto problem = make_problem<T>(runtime, layout, seed, 0.6);
  const Index dropped = filter(problem.matrix, 1.5);
  EXPECT_EQ(problem.matrix.pattern().found_by_task(), runtime.size() == 1 && dropped > 0);
  return std::move(problem.matrix);
}

/// The same blocks and values, with a pattern that the host has made.
template <class T>
BlockSparseMatrix<T> remade(const BlockSparseMatrix<T>& a) {
  BlockSparseBuilder<T> builder(a.runtime(), a.layout());
  a.for_each_block([&](Index i, Index j, MatrixView<const T> values) { builder.put(i, j, values); });
  return builder.finalize();
}

/// Sums of filtered matrices have the bits of those of matrices made on the host, and ask for no index.
template <class T>
void check_filtered_sums(Runtime& runtime, const BlockLayout& layout) {
  const auto filtered = [&](std::uint64_t seed) { return filtered_problem<T>(runtime, layout, seed); };
  BlockSparseMatrix<T> a = filtered(43), p = remade(filtered(43));
  const BlockSparseMatrix<T> b = filtered(44), q = remade(filtered(44));
  const T alpha = some_factor<T>(layout.symmetry, 0.5, -0.25), beta = some_factor<T>(layout.symmetry, -2, 1);
  const BlockPatternPointer of_a = a.pattern_pointer(), of_b = b.pattern_pointer();
  const auto bytes = [](const BlockSparseMatrix<T>& x) { return x.pattern().index_bytes(); };
  of_a->packed(), of_b->packed();
  const std::size_t bytes_of_a = of_a->index_bytes(), bytes_of_b = of_b->index_bytes();
  run_sequence(runtime, [&](Sequence& sequence) { add(sequence, alpha, a, beta, b); });
  EXPECT_EQ(of_a->index_bytes(), bytes_of_a);
  EXPECT_EQ(of_b->index_bytes(), bytes_of_b);
  a.pattern().packed();
  const std::size_t bytes_of_sum = bytes(a);
  const BlockPatternPointer of_sum = a.pattern_pointer();
  run_sequence(runtime, [&](Sequence& sequence) {
    add(sequence, T(1), a, T(1), b);  // no block is new
    add(sequence, T(0), a, alpha, a);
    add(sequence, beta, a, T(0), b);
  });
  EXPECT_EQ(a.pattern_pointer(), of_sum);
  EXPECT_EQ(bytes(a), bytes_of_sum);
  run_sequence(runtime, [&](Sequence& sequence) {
    add(sequence, alpha, p, beta, q);
    add(sequence, T(1), p, T(1), q);
    add(sequence, T(0), p, alpha, p);
    add(sequence, beta, p, T(0), q);
  });
  expect_same_pattern(a.pattern(), p.pattern());
  EXPECT_EQ(test::fingerprint(a), test::fingerprint(p));
  if (layout.symmetry == Symmetry::antisymmetric || a.rows() != a.cols()) return;
  run_sequence(runtime, [&, &m = p, &n = q](Sequence& sequence) {
    add(sequence, T(1), m, T(1), b);  // of the host and of tasks
    add(sequence, T(1), a, T(1), n);
    add_on_diagonal(sequence, T(2), m);
    add_on_diagonal(sequence, T(2), a);
  });
  expect_same_pattern(a.pattern(), p.pattern());
  EXPECT_EQ(test::fingerprint(a), test::fingerprint(p));
}

/// New blocks: a wait for the task that counts, and one for its numbers, which are on their way to the host
/// then. Known blocks of one pattern: none.
inline void check_union_waits(Runtime& runtime, const BlockLayout& layout) {
  auto a = filtered_problem<double>(runtime, layout, 45);
  const auto b = filtered_problem<double>(runtime, layout, 46);
  run_sequence(runtime, [&](Sequence& sequence) {
    const std::uint64_t before = host_waits(runtime);
    add(sequence, 1.0, a, 1.0, b);
    EXPECT_EQ(host_waits(runtime) - before, 2u);
    const auto c = copy(sequence, a);
    const std::uint64_t then = host_waits(runtime);
    add(sequence, 1.0, a, 1.0, c);
    EXPECT_EQ(host_waits(runtime) - then, 0u);
  });
}

template <class T>
void check_all_sums(Runtime& runtime, unsigned seed, const std::vector<Symmetry>& symmetries) {
  for_each_symmetry<T>(runtime, seed, symmetries,
                       [&](Symmetry, const BlockLayout& first, const BlockLayout& second) {
                         for (const BlockLayout& layout : {first, second})
                           check_filtered_sums<T>(runtime, layout);
                       });
}

inline void check_all_unions(Runtime& runtime, unsigned seed) {
  for_each_symmetry<double>(runtime, seed, {Symmetry::none, Symmetry::symmetric},
                            [&](Symmetry, const BlockLayout& first, const BlockLayout& second) {
                              for (const BlockLayout& layout : {first, second}) check_unions(runtime, layout);
                            });
}

}  // namespace tessera::operations_test
