// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/codelets/block_sparse/symbolic/stack.hpp>
#include <tessera/runtime/sequence.hpp>

#include "report.hpp"
#include "stack_options.hpp"

/// What `bench_stack` computes.
namespace tessera::program {
using namespace detail;

/// One stack: its panels by number, and its lists on the host and as tasks read them.
struct StackItem {
  std::size_t a = 0, b = 0, c = 0;
  std::vector<StackClass> classes;
  std::vector<StackEntry> entries;
  std::vector<StackRun> runs;
  Data data;
};

/// Panels of random elements and the stacks on them, of one process.
template <class T>
struct StackProblem {
  std::vector<Data> a, b, c;
  std::vector<StackItem> items;
  Index iterations = 1;  ///< how often all stacks are computed

  /// C := 0.
  void clear();
  Index products() const;  ///< of all iterations
  double flops() const;
  /// What moves if nothing stays in a cache: A and B of each product, C read and written by each run, and the
  /// lists.
  double bytes() const;
};

/// The stack of DBCSR's kernel benchmark, once for each of `copies` workers: blocks of A (m x k) and B (k x
/// n) drawn at random of 10000 each, about 16 consecutive products for each block of C; repeated max(3, 12500
/// / (m n k)) times.
template <class T>
StackProblem<T> artificial_stacks(Runtime& runtime, const StackBenchOptions& options, int copies);

/// The stacks of a product of two water-like matrices of blocks of order m, of about as many products as
/// wanted.
template <class T>
StackProblem<T> water_stacks(Runtime& runtime, const StackBenchOptions& options);

/// Values of a panel on the host.
template <class T>
std::vector<T> panel_values(const Data& panel);

/// Some blocks of C, which was zero, against plain loops in double precision:
///   max |C - C_ref| / (eps iterations sum |a| |b|),
/// the sum over all terms of the element. (To add the same number again and again rounds the same way each
/// time.)
template <class T>
CheckRecord check_stacks(const StackProblem<T>& problem);

}  // namespace tessera::program
