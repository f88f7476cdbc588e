// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "products_options.hpp"

#include "option_parts.hpp"

namespace tessera::program {

ProgramText products_bench_text() {
  return {"bench_products", "Products of block-sparse matrices over block sizes and occupations",
          "Examples:\n"
          "  bench_products --n 4600 --blocks 5,13,23 --occupation 0.05,0.1,0.3 --repeat 3\n"
          "  bench_products --generate water --n 13800 --blocks 23 --filter 1e-6 --peer dbcsr --warmup 1\n"
          "  bench_products --n 2300 --type s --peer dense --json products.json\n\n"};
}

void add_products_bench_options(CLI::App& command, ProductsBenchOptions& options) {
  command
      .add_option(
          "--generate", options.generate,
          "square matrices: random (blocks drawn independently; the default) or water (blocks of near "
          "molecules in a box of liquid water)")
      ->check(CLI::IsMember({"random", "water"}))
      ->type_name("random|water");
  command.add_option("--n", options.n, "order of the matrices (default: 2300)")
      ->check(integer_in(1, largest_order));
  command.add_option("--blocks", options.blocks, "block sizes, each in cases of its own (default: 5,13,23)")
      ->delimiter(',')
      ->check(integer_in(1, 4096))
      ->type_name("SIZE[,SIZE...]");
  command
      .add_option("--occupation", options.occupations,
                  "shares of blocks that are there, each in cases of its own (default: 0.1)")
      ->delimiter(',')
      ->check(number_in(0, 1))
      ->type_name("SHARE[,SHARE...]");
  command.add_option("--filter", options.filter, "as of tessera multiply (default: 0, none)")
      ->check(number_from_0())
      ->type_name("EPS");
  add_type_option(command, options.type, "scalar type (default: d)");
  command
      .add_option(
          "--peer", options.peer,
          "the same product by DBCSR (if this was built with it), that of the dense matrices by BLAS, or "
          "as many products of blocks that stay in the cache by libxsmm, alternating run by run")
      ->check(CLI::IsMember({"none", "dense", "dbcsr", "libxsmm"}))
      ->type_name("none|dense|dbcsr|libxsmm");
  add_grid_option(command, options.grid);
  add_common_options(command, options.common);
}

}  // namespace tessera::program
