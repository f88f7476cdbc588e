// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common_options.hpp"
#include "option_table.hpp"

/// `bench_batch`: batches of small Hermitian eigenproblems, for each order and each number of matrices.
namespace tessera::program {

struct BatchBenchOptions {
  BatchBenchOptions() { common.warmup = 1; }  // the first use of a GPU, and of new memory, is slow
  CommonOptions common;
  std::string generate = "random";
  std::vector<Index> orders{16, 32, 64, 128};
  std::vector<Index> counts;  ///< of matrices; empty: batch_elements of each order
  char type = 'd';
  bool vectors = true;
  Index chunk = 0;               ///< matrices of a task; 0: the library's choice
  std::string keep_on = "host";  ///< location of the matrices before and of the results after: host, gpu
  std::string peer = "none";
};

/// About as many elements all matrices of a case have if no number of matrices is given.
inline constexpr Index batch_elements = Index{1} << 24;

OptionTable option_table(BatchBenchOptions& options);
/// Order and number of matrices of each case.
std::vector<std::pair<Index, Index>> batch_cases(const BatchBenchOptions& options);
/// @return the exit code
int run_batch_bench(BatchBenchOptions& options);

}  // namespace tessera::program
