// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "batch_settings.hpp"

/// `bench_batch`: batches of small Hermitian eigenproblems, for each order and each number of matrices.
namespace tessera::program {

struct BatchBenchOptions : BatchSettings {
  BatchBenchOptions() {
    common.warmup = 1;  // the first use of a GPU, and of new memory, is slow
    generate = "random";
  }
  std::vector<Index> orders{16, 32, 64, 128};
  std::vector<Index> counts;  ///< of matrices; empty: batch_elements of each order
};

/// About as many elements all matrices of a case have if no number of matrices is given.
inline constexpr Index batch_elements = Index{1} << 24;

OptionTable option_table(BatchBenchOptions& options);
/// Order and number of matrices of each case.
std::vector<std::pair<Index, Index>> batch_cases(const BatchBenchOptions& options);
/// @return the exit code
int run_batch_bench(BatchBenchOptions& options);

}  // namespace tessera::program
