// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batch_options.hpp"

#include <algorithm>

#include <tessera/eigensolve_batch.hpp>

#include "table_parts.hpp"

namespace tessera::program {

OptionTable option_table(BatchBenchOptions& options) {
  OptionTable table("bench_batch", "batches of small dense Hermitian eigenproblems over orders and counts");
  table.group("Problem");
  table.integers("--n", options.orders, 1, max_batch_order,
                 "orders of the matrices, each in cases of its own");
  table
      .integers(
          "--count", options.counts, 1, largest_order,
          "numbers of matrices, each in cases of its own; matrix number k is generated with seed --seed + k")
      .by_default("for each order as many as have 2^24 elements");
  add_type(table, options.type);
  add_dense_generator(table, options.generate);
  add_batch_solver(table, options);
  add_machine(table, options.common);
  add_batch_place(table, options);
  add_runs(table, options.common);
  add_check(table, options.common);
  add_batch_peer(table, options);
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("--n 16,32,64,128,256 --peer lapack --repeat 3", "five orders, beside LAPACK");
  table.example("--n 32 --count 100,1000,10000 --vectors no --type s",
                "values of up to 10000 matrices in float");
  table.example("--n 32,64,128 --keep-on gpu --peer cusolver --repeat 5 --json batch.json",
                "all on the GPU, beside cuSOLVER, with a record");
  return table;
}

std::vector<std::pair<Index, Index>> batch_cases(const BatchBenchOptions& options) {
  std::vector<std::pair<Index, Index>> cases;
  for (const Index n : options.orders) {
    if (options.counts.empty()) cases.emplace_back(n, std::max<Index>(batch_elements / (n * n), 1));
    for (const Index count : options.counts) cases.emplace_back(n, count);
  }
  return cases;
}

}  // namespace tessera::program
