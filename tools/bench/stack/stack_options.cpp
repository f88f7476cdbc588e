// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stack_options.hpp"

#include "option_parts.hpp"

namespace tessera::program {

ProgramText stack_bench_text() {
  return {"bench_stack", "Stacks of products of small blocks, m x k times k x n, beside the machine's limits",
          "Examples:\n"
          "  bench_stack --m 23 --peer libxsmm\n"
          "  bench_stack --m 5 --k 13 --n 5 --type s --repeat 5\n"
          "  bench_stack --generate water --m 23 --products 400000 --json stack.json\n\n"};
}

void add_stack_bench_options(CLI::App& command, StackBenchOptions& options) {
  constexpr Index largest_block = 256;
  command
      .add_option(
          "--generate", options.generate,
          "random (10000 blocks of A and of B, drawn anew for each product, 16 for each block of C; the "
          "default) or water (the stacks of a product of two water matrices)")
      ->check(CLI::IsMember({"random", "water"}))
      ->type_name("random|water");
  command.add_option("--m", options.m, "rows of a block of A (default: 23)")
      ->check(integer_in(1, largest_block));
  command.add_option("--n", options.n, "columns of a block of B (default: m)")
      ->check(integer_in(1, largest_block));
  command.add_option("--k", options.k, "columns of a block of A (default: m)")
      ->check(integer_in(1, largest_block));
  command.add_option("--products", options.products, "products of blocks (default: 16005; water: 400000)")
      ->check(integer_in(1, 100000000));
  command.add_option("--occupation", options.occupation, "of the water matrices (default: 0.1)")
      ->check(number_in(1e-6, 1.0));
  add_type_option(command, options.type, "scalar type (default: d)");
  command
      .add_option(
          "--peer", options.peer,
          "as many products by libxsmm or BLAS on operands that stay in the cache, alternating run by "
          "run")
      ->check(CLI::IsMember({"none", "libxsmm", "blas"}))
      ->type_name("none|libxsmm|blas");
  add_common_options(command, options.common);
}

}  // namespace tessera::program
