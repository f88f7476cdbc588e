// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/codelets/block_sparse/symbolic/stack.hpp>
#include <tessera/runtime/sequence.hpp>

#include "report.hpp"
#include "stack_options.hpp"

/// The problems for `bench_stack`.
namespace tessera::program {
using namespace detail;

/// One stack: the indices of its panels, and its lists, both on the host and in the form that tasks
/// read.
struct StackItem {
  std::size_t a = 0, b = 0, c = 0;
  std::vector<StackClass> classes;
  std::vector<StackEntry> entries;
  std::vector<StackRun> runs;
  Data data;
};

/// Panels of random elements and the stacks for them, in one process.
template <class T>
struct StackProblem {
  std::vector<Data> a, b, c;
  std::vector<StackItem> items;
  Index iterations = 1;  ///< number of times that all stacks are computed

  /// Sets C to zero.
  void clear();
  Index products() const;  ///< in all iterations
  double flops() const;
  /// Bytes that are moved if nothing stays in a cache: A and B for each product, C read and written
  /// for each run, and the lists.
  double bytes() const;
};

/// The stack of DBCSR's kernel benchmark, once for each of `copies` workers: random choices among
/// 10000 blocks of A (m x k) and 10000 blocks of B (k x n), about 16 consecutive products for each
/// block of C; repeated max(3, 12500 / (m n k)) times.
template <class T>
StackProblem<T> artificial_stacks(Runtime& runtime, const StackBenchOptions& options, int copies);

/// The stacks of a product of two water-like matrices with blocks of order m, and about as many
/// products as requested.
template <class T>
StackProblem<T> water_stacks(Runtime& runtime, const StackBenchOptions& options);

/// Values of a panel on the host.
template <class T>
std::vector<T> panel_values(const Data& panel);

/// Compares some blocks of C, which was zero at the start, with plain loops in double precision:
///   max |C - C_ref| / (eps iterations sum |a| |b|),
/// where the sum is over all terms of the element. The bound is linear in `iterations`, because
/// repeated additions of the same number can round in the same direction each time.
template <class T>
CheckRecord check_stacks(const StackProblem<T>& problem);

}  // namespace tessera::program
