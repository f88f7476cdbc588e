// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "spmm_options.hpp"

#include "lobpcg_problem.hpp"
#include "output_files.hpp"
#include "table_parts.hpp"
#include "usage_error.hpp"

namespace tessera::program {

OptionTable option_table(SpmmBenchOptions& options) {
  OptionTable table(
      "bench_spmm",
      "products of a sparse symmetric or Hermitian matrix and a few vectors, beside the machine's copy rate");
  table.group("Problem");
  table
      .text("--matrix", options.matrix, "FILE",
            "symmetric or Hermitian matrix, Matrix Market, may be gzipped, or saved by tessera lobpcg (.h5)")
      .at_place("FILE")
      .reads(FileFormat::matrix_market_or_hdf5);
  add_shell_model(table, options.shell_model, options.generate);
  table.integer("--columns", options.columns, 1, 32, "vectors");
  add_precision(table, "--storage", options.storage, "values of the matrix in float or double");
  table.choice("--type", options.type, {{"s", 's'}, {"d", 'd'}},
               "vectors in float (only with --storage f) or double, of a complex matrix both parts");
  table.integer("--nd", options.nd, 1, 10000, "groups of rows").chosen("from the order and the machine", 0);
  table.integer("--segments", options.segments, 1, 10000, "parts of each group")
      .chosen("from the order and the machine", 0);
  add_sparse_generator(table, options.generate);
  add_machine(table, options.common);
  add_runs(table, options.common);
  add_check(table, options.common);
  table.word(
      "--peer", options.peer, {"none", "csr", "cusparse", "naive", "atomic", "cached", "free"},
      "alternating run by run: our product with both triangles by rows (csr), that of cuSPARSE, the "
      "half-stored blocks of Maris et al. 2022, with a thread (block) for each row of blocks (naive), for "
      "each block with atomic updates (atomic), or that with shared memory (cached; GPUs alone), or our "
      "product of protons and neutrons without the matrix (free; shell models alone)");
  table.text("--histogram", options.histogram, "FILE",
             "tell how many tiles have how many rows, and cells how many entries, and draw it, SVG");
  table.texts("--speedups", options.speedups, "FILES",
              "multiply nothing: compare times in records of earlier runs (--json), of one --peer each");
  table.text("--plot", options.plot, "FILE", "draw the speedups, SVG")
      .needs([&options] { return !options.speedups.empty(); }, "--speedups");
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("--generate shell:28Si --columns 8 --storage f --peer csr --repeat 5",
                "the matrix of a nucleus in float, beside compressed sparse rows");
  table.example("A.mtx.gz --peer atomic --histogram tiles.svg --json a8.json",
                "a matrix of a file beside atomic updates, with a histogram of its tiles");
  table.example("--speedups a4.json,a8.json --plot speedups.svg", "a heat map of such records");
  table.example("--generate laplacian3d:100 --gpus 1 --peer cusparse --warmup 1",
                "on a GPU, beside cuSPARSE");
  return table;
}

SparseSource source_of(const SpmmBenchOptions& options) {
  return {options.matrix, {}, options.generate, options.shell_model, options.common.seed};
}

void validate(const SpmmBenchOptions& options) {
  if (!options.histogram.empty()) require_writable("--histogram", options.histogram);
  if (!options.plot.empty()) require_writable("--plot", options.plot);
  if (!options.speedups.empty()) {
    if (!options.matrix.empty() || !options.generate.empty())
      throw UsageError("--speedups", options.speedups.front(), "stands beside a matrix",
                       "records of earlier runs alone");
    return;
  }
  validate(source_of(options));
  if (options.peer == "free" && !source_of(options).of_shell_model())
    throw UsageError("--peer", "free", "is not possible",
                     "another one than free without --generate shell:...");
  if (options.type == 's' && options.storage == 'd')
    throw UsageError("--storage", "d", "is not possible", "f, with --type s");
}

}  // namespace tessera::program
