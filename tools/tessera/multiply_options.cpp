// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <fmt/format.h>

#include "option_parts.hpp"
#include "options.hpp"
#include "output_files.hpp"

namespace tessera::program {

namespace {

void add_op_option(CLI::App& command, const std::string& name, Op& op, const std::string& help) {
  command
      .add_option_function<std::string>(
          name,
          [&op](const std::string& text) {
            op = text == "T" ? Op::transpose : text == "C" ? Op::adjoint : Op::none;
          },
          help)
      ->check(CLI::IsMember({"N", "T", "C"}))
      ->type_name("N|T|C");
}

void add_source_options(CLI::App& command, MultiplyProgramOptions& options) {
  command
      .add_option("--generate", options.generate,
                  "square matrices, with --n: random (blocks drawn independently) or water (blocks of near "
                  "molecules in a box of liquid water)")
      ->check(CLI::IsMember({"random", "water"}))
      ->type_name("random|water");
  command.add_option("--n", options.n, "order of the generated matrices")
      ->check(integer_in(0, largest_order));
  command
      .add_option("--occupation", options.occupation, "share of their blocks that are there (default: 0.1)")
      ->check(number_in(0, 1));
  command
      .add_option("--symmetry", options.symmetry,
                  "how generated A and B are stored: both halves (N, the default), or one of a symmetric, "
                  "antisymmetric or Hermitian matrix")
      ->check(CLI::IsMember({"N", "S", "A", "H"}))
      ->type_name("N|S|A|H");
  command
      .add_option(
          "--blocks", options.blocks,
          "block sizes, repeated: 23 (the default), or 13,5,5; in the water matrix one round is a molecule")
      ->delimiter(',')
      ->check(integer_in(1, 4096))
      ->type_name("SIZE[,SIZE...]");
  const auto file = [&](const std::string& name, std::string& value, const std::string& help) {
    command.add_option(name, value, help)->type_name("FILE");
  };
  file("--matrix-a", options.matrix_a,
       "A, Matrix Market (may be gzipped), or HDF5 as --output writes it if the name ends in .h5");
  file("--matrix-b", options.matrix_b, "B (default: A)");
  file("--matrix-c", options.matrix_c, "C before, for --beta and --retain-sparsity");
  file("--block-sizes", options.block_sizes,
       "block sizes of Matrix Market files, numbers in a text file; a line `columns` before those of the "
       "columns, if they are others (default: --blocks)");
}

}  // namespace

void add_multiply_options(CLI::App& command, MultiplyProgramOptions& options) {
  add_source_options(command, options);
  add_type_option(command, options.type, "scalar type (default: z for a complex file, else d)");
  add_op_option(command, "--op-a", options.op_a, "A as it is (the default), transposed or adjoint");
  add_op_option(command, "--op-b", options.op_b, "the same for B");
  command.add_option("--alpha", options.alpha, "factor on the product (default: 1)")->check(any_number());
  command
      .add_option("--beta", options.beta,
                  "factor on C before (default: 0); other than 0, C is made or read, too")
      ->check(any_number());
  command
      .add_option(
          "--filter", options.filter,
          "skip products with |alpha| |A_ik| |B_kj| < EPS / (blocks in row i of A), then drop blocks of C "
          "with |C_ij| < EPS; Frobenius norms (default: 0, none)")
      ->check(number_from_0())
      ->type_name("EPS");
  command.add_flag("--retain-sparsity", options.retain_sparsity, "compute only the blocks that C has before");
  command.add_option("--panel", options.panel, "rows and columns of a panel, about (default: chosen)")
      ->check(integer_in(1, 1 << 20));
  command
      .add_option_function<std::string>(
          "--dense",
          [&options](const std::string& text) {
            options.dense = text == "never"    ? UseDense::never
                            : text == "always" ? UseDense::always
                                               : UseDense::automatic;
          },
          "multiply panels as dense matrices: where they are full enough (auto, the default), never, or "
          "wherever the products are the same (always)")
      ->check(CLI::IsMember({"auto", "never", "always"}))
      ->type_name("auto|never|always");
  command
      .add_option("--keep-on", options.keep_on,
                  "what is timed: host (the default): A, B and C before are in host memory only, and C gets "
                  "there again; gpu: they are on the GPU already, and C stays there")
      ->check(CLI::IsMember({"host", "gpu"}))
      ->type_name("host|gpu");
  command
      .add_option("--peer", options.peer,
                  "compute the product by DBCSR, too (if the program was built with it), or that of the "
                  "dense matrices by BLAS, or as many products of blocks that stay in the cache by libxsmm; "
                  "on as many threads, alternating run by run")
      ->check(CLI::IsMember({"none", "dense", "dbcsr", "libxsmm"}))
      ->type_name("none|dense|dbcsr|libxsmm");
  command.add_option("--output", options.output, "write C: Matrix Market, or HDF5 if the name ends in .h5")
      ->type_name("FILE");
  add_grid_option(command, options.grid);
  add_common_options(command, options.common);
}

void validate(const MultiplyProgramOptions& options) {
  const bool generated = !options.generate.empty();
  if (generated != options.matrix_a.empty())
    throw InvalidArgument("--matrix-a", generated ? options.matrix_a : "nothing",
                          "either --matrix-a FILE or --generate KIND --n N");
  if (generated && options.n < 0)
    throw InvalidArgument("--n", "nothing", "the order of the generated matrices");
  const auto only = [&](bool given, const char* name, const std::string& value, bool wanted,
                        const char* why) {
    if (given && !wanted) throw InvalidArgument(name, value, why);
  };
  const char* const with_file = "--matrix-a too (generated matrices take no files)";
  const char* const with_generate = "--generate (a file has its own)";
  only(!options.matrix_b.empty(), "--matrix-b", options.matrix_b, !generated, with_file);
  only(!options.matrix_c.empty(), "--matrix-c", options.matrix_c, !generated, with_file);
  only(!options.block_sizes.empty(), "--block-sizes", options.block_sizes, !generated, with_file);
  only(options.n >= 0, "--n", fmt::to_string(options.n), generated, with_generate);
  only(options.occupation >= 0, "--occupation", fmt::to_string(options.occupation), generated, with_generate);
  only(options.symmetry != 0, "--symmetry", std::string(1, options.symmetry), generated, with_generate);
  if (!options.block_sizes.empty() && !options.blocks.empty())
    throw InvalidArgument("--blocks", fmt::to_string(options.blocks.front()),
                          "either --blocks or --block-sizes");
  if (!generated && options.matrix_c.empty() && (options.beta != 0 || options.retain_sparsity))
    throw InvalidArgument("--matrix-c", "nothing", "a file, for --beta or --retain-sparsity");
  for (const auto& [name, value] :
       {std::pair("--alpha", options.alpha), {"--beta", options.beta}, {"--filter", options.filter}})
    if (!std::isfinite(value)) throw InvalidArgument(name, fmt::to_string(value), "a finite number");
  if (!options.output.empty()) require_writable("--output", options.output);
}

}  // namespace tessera::program
