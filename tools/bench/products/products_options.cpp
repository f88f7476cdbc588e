// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "products_options.hpp"

#include "table_parts.hpp"

namespace tessera::program {

OptionTable option_table(ProductsBenchOptions& options) {
  OptionTable table("bench_products", "products of block-sparse matrices over block sizes and occupations");
  table.group("Problem");
  table.word("--generate", options.generate, {"random", "water"},
             "square matrices: random (blocks drawn independently) or water (blocks of near molecules in a "
             "box of liquid water)");
  table.integer("--n", options.n, 1, largest_order, "order of the matrices");
  table.integers("--blocks", options.blocks, 1, 4096, "block sizes, each in cases of its own");
  table.reals("--occupation", options.occupations, real_within(0, 1),
              "shares of blocks that are there, each in cases of its own");
  table.real("--filter", options.filter, real_from_0(), "as of `tessera multiply`")
      .shown_as("EPS")
      .by_default("0, none");
  add_type(table, options.type);
  add_machine(table, options.common);
  add_grid(table, options.grid);
  add_runs(table, options.common);
  add_check(table, options.common);
  table.word("--peer", options.peer, {"none", "dense", "dbcsr", "cutensor", "libxsmm"},
             "the same product by DBCSR (if this was built with it) or by cuTENSOR on a GPU (if the library "
             "is found), that of the dense matrices by BLAS, or as many products of blocks that stay in the "
             "cache by libxsmm, alternating run by run");
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("--n 4600 --blocks 5,13,23 --occupation 0.05,0.1,0.3 --repeat 3", "nine cases");
  table.example("--generate water --n 13800 --blocks 23 --filter 1e-6 --peer dbcsr --warmup 1",
                "a model of liquid water, beside DBCSR");
  table.example("--n 2300 --type s --peer dense --json products.json",
                "in float, beside dense products, with a record");
  return table;
}

void validate(const ProductsBenchOptions& options) {
  if (options.peer == "cutensor" && options.filter > 0)
    throw UsageError("--peer", options.peer, "is not possible",
                     "none, dense, dbcsr or libxsmm with --filter (cuTENSOR has no filter)");
}

}  // namespace tessera::program
