// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "options.hpp"
#include "output_files.hpp"
#include "table_parts.hpp"

namespace tessera::program {

namespace {

/// Whether the options define the blocks of a matrix. HDF5 files store their own block sizes.
bool cuts_blocks(const MultiplyProgramOptions& options) {
  if (!options.generate.empty()) return true;
  const auto cut = [](const std::string& file) { return !file.empty() && !file.ends_with(".h5"); };
  return cut(options.matrix_a) || cut(options.matrix_b) || cut(options.matrix_c);
}

void add_problem(OptionTable& table, MultiplyProgramOptions& options) {
  const auto generated = [&options] { return !options.generate.empty(); };
  const auto reads = [&options] { return options.generate.empty(); };
  const std::string with_generate = "--generate, as a file has its own",
                    with_files = "--matrix-a, as generated matrices take no files";
  table.group("Problem");
  table
      .text("--matrix-a", options.matrix_a, "FILE",
            "A, Matrix Market (may be gzipped), or HDF5 as --output writes it if the name ends in .h5")
      .at_place("A")
      .reads(FileFormat::matrix_market_or_hdf5);
  table.text("--matrix-b", options.matrix_b, "FILE", "B")
      .at_place("B")
      .by_default("A")
      .reads(FileFormat::matrix_market_or_hdf5)
      .needs(reads, with_files);
  table.text("--matrix-c", options.matrix_c, "FILE", "C before")
      .reads(FileFormat::matrix_market_or_hdf5)
      .needs([&options, reads] { return reads() && (options.beta != 0 || options.retain_sparsity); },
             "--matrix-a, and --beta or --retain-sparsity");
  table
      .text(
          "--block-sizes", options.block_sizes, "FILE",
          "block sizes of Matrix Market files, numbers in a text file; a line `columns` before those of the "
          "columns, if they are others")
      .by_default("--blocks")
      .reads(FileFormat::text)
      .needs([&options, reads] { return reads() && cuts_blocks(options); },
             "--matrix-a and Matrix Market files, as HDF5 files have their own");
  table
      .integers("--blocks", options.blocks, 1, 4096,
                "block sizes, repeated, as in 13,5,5; in the water matrix one round is a molecule")
      .by_default("23")
      .needs([&options] { return cuts_blocks(options) && options.block_sizes.empty(); },
             "--generate or Matrix Market files, as HDF5 files have their own, and without --block-sizes");
  table.word("--generate", options.generate, {"random", "water"},
             "square matrices, with --n: random (blocks drawn independently) or water (blocks of near "
             "molecules in a box of liquid water)");
  table.integer("--n", options.n, 0, largest_order, "order of the generated matrices")
      .chosen("none", -1)
      .needs(generated, with_generate);
  table.real("--occupation", options.occupation, real_within(0, 1), "share of their blocks that are there")
      .chosen("0.1", -1.0)
      .needs(generated, with_generate);
  table
      .choice("--symmetry", options.symmetry, {{"N", 'N'}, {"S", 'S'}, {"A", 'A'}, {"H", 'H'}},
              "how generated A and B are stored: both halves (N), or one of a symmetric, antisymmetric or "
              "Hermitian matrix")
      .by_default("N")
      .needs(generated, with_generate);
  add_type(table, options.type).by_default("z for a complex file, else d");
}

void add_product(OptionTable& table, MultiplyProgramOptions& options) {
  const std::vector<std::pair<std::string, Op>> ops{
      {"N", Op::none}, {"T", Op::transpose}, {"C", Op::adjoint}};
  table.group("Product");
  table.choice("--op-a", options.op_a, ops, "A as it is (N), transposed (T) or adjoint (C)");
  table.choice("--op-b", options.op_b, ops, "the same for B");
  table.real("--alpha", options.alpha, any_real(), "factor on the product");
  table.real("--beta", options.beta, any_real(), "factor on C before; other than 0, C is made or read, too");
  table
      .real("--filter", options.filter, real_from_0(),
            "skip products with |alpha| |A_ik| |B_kj| < EPS / (blocks in row i of A), then drop blocks of C "
            "with |C_ij| < EPS; Frobenius norms")
      .shown_as("EPS")
      .by_default("0, none");
  table
      .choice("--filter-rule", options.filter_rule,
              {{"exact", ProductFilterRule::exact}, {"at-least", ProductFilterRule::at_least}},
              "skip exactly these products, or leave panels that are multiplied as dense matrices whole")
      .needs([&options] { return options.filter > 0; }, "--filter");
  table.choice("--plan", options.reuse_plan, {{"kept", true}, {"new", false}},
               "use what an earlier run has found of the blocks and products, or find it in each run");
  table.flag("--retain-sparsity", options.retain_sparsity, "compute only the blocks that C has before");
  table.integer("--panel", options.panel, 1, 1 << 20, "rows and columns of a panel, about")
      .chosen("from the order and the machine", 0);
  table.choice(
      "--dense", options.dense,
      {{"auto", UseDense::automatic}, {"never", UseDense::never}, {"always", UseDense::always}},
      "multiply panels as dense matrices: where they are full enough (auto), never, or wherever the products "
      "are the same (always)");
}

}  // namespace

OptionTable option_table(MultiplyProgramOptions& options) {
  OptionTable table("tessera multiply", "C := alpha op(A) op(B) + beta C of block-sparse matrices");
  add_problem(table, options);
  add_product(table, options);
  add_machine(table, options.common);
  add_grid(table, options.grid);
  table.word(
      "--permute", options.permute, {"none", "random"},
      "how blocks are dealt to the ranks: in runs of a panel (none), or at random by --seed, so that all "
      "have as much to do");
  table.word("--keep-on", options.keep_on, {"host", "gpu"},
             "what is timed: host: A, B and C before are in host memory only, and C gets there again; gpu: "
             "they are on the GPU already, and C stays there");
  add_runs(table, options.common);
  add_check(table, options.common);
  table.word("--peer", options.peer, {"none", "dense", "dbcsr", "cutensor", "libxsmm"},
             "compute the product by DBCSR, too (if the program was built with it), or that of the dense "
             "matrices by BLAS, or as many products of blocks that stay in the cache by libxsmm, on as many "
             "threads; or by cuTENSOR on a GPU (if the library is found); alternating run by run");
  table.text("--output", options.output, "FILE", "write C: Matrix Market, or HDF5 if the name ends in .h5");
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("--generate water --n 13800 --filter 1e-6", "a model of liquid water, in blocks of 23");
  table.example("S.mtx.gz H.h5 --block-sizes sizes.txt --output SH.h5", "the product of two files");
  table.example("--generate water --n 13800 --permute random",
                "under mpirun: blocks dealt to the ranks at random");
  table.example("--generate random --n 10000 --blocks 13,5,5 --symmetry S --op-b T --peer dense",
                "half-stored random matrices, beside the dense product");
  return table;
}

void validate(const MultiplyProgramOptions& options) {
  const bool generated = !options.generate.empty();
  if (generated != options.matrix_a.empty())
    throw UsageError("--matrix-a", options.matrix_a, "stands beside --generate",
                     "either --matrix-a FILE or --generate KIND --n N");
  if (generated && options.n < 0) throw UsageError("--n", "", "", "the order of the generated matrices");
  if (!generated && options.matrix_c.empty() && (options.beta != 0 || options.retain_sparsity))
    throw UsageError("--matrix-c", "", "", "a file, for --beta or --retain-sparsity");
  if (options.peer == "cutensor" && options.filter > 0)
    throw UsageError("--peer", options.peer, "is not possible",
                     "none, dense, dbcsr or libxsmm with --filter (cuTENSOR has no filter)");
  if (!options.output.empty()) require_writable("--output", options.output);
}

}  // namespace tessera::program
