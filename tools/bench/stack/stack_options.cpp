// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stack_options.hpp"

#include "table_parts.hpp"

namespace tessera::program {

OptionTable option_table(StackBenchOptions& options) {
  constexpr Index largest_block = 256;
  OptionTable table("bench_stack",
                    "stacks of products of small blocks, m x k times k x n, beside the machine's limits");
  table.group("Problem");
  table.word(
      "--generate", options.generate, {"random", "water"},
      "random: 10000 blocks of A and of B, drawn anew for each product, 16 for each block of C; water: "
      "the stacks of a product of two water matrices");
  table.integer("--m", options.m, 1, largest_block, "rows of a block of A");
  table.integer("--n", options.n, 1, largest_block, "columns of a block of B").chosen("m", -1);
  table.integer("--k", options.k, 1, largest_block, "columns of a block of A").chosen("m", -1);
  table.integer("--products", options.products, 1, 100000000, "products of blocks")
      .chosen("16005; water: 400000", -1);
  table.real("--occupation", options.occupation, real_within(1e-6, 1), "share of blocks that are there")
      .needs([&options] { return options.generate == "water"; }, "--generate water");
  add_type(table, options.type);
  add_machine(table, options.common);
  add_runs(table, options.common);
  add_check(table, options.common);
  table.word("--peer", options.peer, {"none", "libxsmm", "blas", "cublas-batched", "cublas-grouped"},
             "alternating run by run: as many products by libxsmm or BLAS on operands that stay in the "
             "cache, or the "
             "same stacks by cuBLAS on a GPU, beside our kernels alone, in rounds of one product for each "
             "block of C");
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("--m 23 --peer libxsmm", "blocks of 23, beside libxsmm");
  table.example("--m 23 --products 300000 --peer cublas-batched --repeat 5",
                "a large stack on a GPU, beside cuBLAS");
  table.example("--m 5 --k 13 --n 5 --type s --repeat 5", "small blocks that are not square, in float");
  table.example("--generate water --m 23 --products 400000 --json stack.json",
                "the stacks of a product, with a record");
  return table;
}

}  // namespace tessera::program
