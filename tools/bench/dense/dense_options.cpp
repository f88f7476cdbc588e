// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "dense_options.hpp"

#include <fmt/format.h>

#include "table_parts.hpp"

namespace tessera::program {

const std::vector<std::string>& bench_stages() {
  static const std::vector<std::string> stages{
      "cholesky",          "to_standard",      "reduce_to_band", "band_to_tridiagonal", "tridiagonalize",
      "tridiagonal_eigen", "back_tridiagonal", "back_band",      "to_general",          "gemm"};
  return stages;
}

OptionTable option_table(DenseBenchOptions& options) {
  OptionTable table("bench_dense",
                    "one stage of the dense eigensolver, or one kernel, beside the machine's limit");
  table.group("Problem");
  table.word("stage", options.stage, bench_stages(), "what to measure").shown_as("STAGE").required();
  table.integer("--n", options.n, 1, largest_order, "order of the matrix");
  table.integer("--columns", options.vectors, 1, largest_order, "vectors that are transformed back")
      .chosen("n", -1);
  add_type(table, options.type);
  add_dense_generator(table, options.generate);
  table.group("Solver");
  table
      .word("--kernel", options.kernel, {"blocked", "elpa"},
            "on GPUs: WY blocks on the tensor cores, or one reflector after another as in ELPA2, to compare "
            "with")
      .needs([&options] { return options.stage == "back_tridiagonal"; }, "the stage back_tridiagonal");
  add_sizes(table, options.tile, options.band, options.update_width, options.column_groups,
            options.split_products);
  add_machine(table, options.common);
  add_grid(table, options.grid);
  add_runs(table, options.common);
  warm_up_with_gpu_peer(table, options.peer, options.common);
  add_check(table, options.common);
  table.word(
      "--peer", options.peer, {"none", "lapack", "cusolver"},
      "run the routine of LAPACK (and BLAS), or of cuSOLVER and cuBLAS, for the same job where there is one, "
      "alternating run by run");
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("reduce_to_band --n 4000 --repeat 3", "the reduction of a random matrix to a band");
  table.example("cholesky --n 8000 --peer cusolver", "beside cuSOLVER's factorization");
  table.example("gemm --n 4000 --cores 1 --gpus 0 --peer lapack --json -",
                "products on one core beside BLAS, the record on stdout");
  return table;
}

void validate(const DenseBenchOptions& options) {
  if (options.vectors > options.n)
    throw UsageError("--columns", fmt::to_string(options.vectors), "is too large",
                     fmt::format("at most n = {}", options.n));
}

}  // namespace tessera::program
