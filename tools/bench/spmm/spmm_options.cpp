// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "spmm_options.hpp"

#include <tessera/runtime/error.hpp>

#include "lobpcg_problem.hpp"
#include "option_parts.hpp"

namespace tessera::program {

ProgramText spmm_bench_text() {
  return {"bench_spmm",
          "Products of a sparse symmetric matrix and a few vectors, beside the machine's copy rate",
          "Examples:\n"
          "  bench_spmm --generate shell:28Si --columns 8 --storage f --peer csr --repeat 5\n"
          "  bench_spmm --matrix A.mtx.gz --columns 16 --json -\n"
          "  bench_spmm --generate laplacian3d:100 --gpus 1 --peer cusparse --warmup 1\n\n"};
}

void add_spmm_bench_options(CLI::App& command, SpmmBenchOptions& options) {
  command.add_option("--generate", options.generate, sparse_generator_help())->type_name("KIND[:ARG]");
  command.add_option("--matrix", options.matrix, "a symmetric matrix, Matrix Market, instead of --generate")
      ->type_name("FILE");
  add_shell_model_options(command, options.interaction, options.orbits);
  command.add_option("--columns", options.columns, "vectors (default: 8)")->check(integer_in(1, 32));
  add_letter_option(command, "--storage", options.storage,
                    "values of the matrix in float or double (default: d)");
  command
      .add_option_function<std::string>(
          "--type", [&options](const std::string& text) { options.type = text.at(0); },
          "vectors in float (only with --storage f) or double (default: d)")
      ->check(CLI::IsMember({"s", "d"}))
      ->type_name("s|d");
  command.add_option("--nd", options.nd, "groups of rows (default: chosen)")->check(integer_in(1, 10000));
  command.add_option("--segments", options.segments, "parts of each group (default: chosen)")
      ->check(integer_in(1, 10000));
  command
      .add_option(
          "--peer", options.peer,
          "our product with both triangles by rows (csr), or that of cuSPARSE, alternating run by run")
      ->check(CLI::IsMember({"none", "csr", "cusparse"}))
      ->type_name("none|csr|cusparse");
  add_common_options(command, options.common);
}

SparseSource source_of(const SpmmBenchOptions& options) {
  return {options.matrix, {}, options.generate, options.interaction, options.orbits, options.common.seed};
}

void validate(const SpmmBenchOptions& options) {
  validate(source_of(options));
  if (options.type == 's' && options.storage == 'd')
    throw InvalidArgument("--storage", "d", "f, with --type s");
}

}  // namespace tessera::program
