// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/error.hpp>

#include "eigen_output.hpp"
#include "options.hpp"
#include "table_parts.hpp"

namespace tessera::program {

namespace {

RangeOption parse_range_option(const std::string& text) {
  try {
    return parse_range(text);
  } catch (const InvalidArgument& error) {
    throw UsageError(error.name(), text, "is not a range", error.expected());
  }
}

void add_problem(OptionTable& table, EigenProgramOptions& options) {
  const auto generated = [&options] { return !options.generate.empty(); };
  const std::string with_generate = "--generate KIND";
  table.group("Problem");
  table.text("--matrix", options.matrix, "FILE", "Hermitian matrix A, Matrix Market, may be gzipped")
      .at_place("FILE")
      .reads(FileFormat::matrix_market);
  table
      .text("--overlap", options.overlap, "FILE",
            "positive definite B of A x = lambda B x: a file, or `generated` for a test matrix")
      .suggests({"generated"});
  table.integer("--n", options.n, 0, largest_order, "order of the generated matrix")
      .chosen("none", -1)
      .needs(generated, with_generate);
  table.real("--scale", options.scale, any_real(), "factor on the generated matrix")
      .needs(generated, with_generate);
  add_type(table, options.type).by_default("z for a complex file, else d");
  add_dense_generator(table, options.generate);
}

void add_solver(OptionTable& table, EigenProgramOptions& options) {
  const auto two_stage = [&options] { return options.solver == "auto" || options.solver == "two_stage"; };
  const std::string with_two_stage = "--solver two_stage or auto";
  table.group("Solver");
  table.word("--solver", options.solver, {"auto", "two_stage", "one_stage", "vendor"},
             "auto: by the order and the range; vendor: LAPACK, on GPUs cuSOLVER");
  table
      .form(
          "--range", options.range, "RANGE", parse_range_option,
          [](const RangeOption& range) { return to_string(range); },
          "all; index:LO:HI for eigenpairs LO to HI-1 in ascending order from 0; or value:LO:HI for those "
          "with values in (LO, HI]")
      .suggests({"all", "index:", "value:"});
  table.yes_no("--vectors", options.vectors, "eigenvectors too");
  add_sizes(table, options.tile, options.band, options.update_width, options.column_groups,
            options.split_products);
  for (const char* size : {"--band", "--update-width", "--column-groups", "--split-products"})
    table.entry(size).needs(two_stage, with_two_stage);
  table
      .text("--tuning", options.tuning, "FILE",
            "take the solver and the sizes from what `tessera tune` has found")
      .reads(FileFormat::json)
      .needs([&options] { return options.solver != "vendor"; },
             "another solver than vendor, which has no sizes");
}

}  // namespace

OptionTable option_table(EigenProgramOptions& options) {
  OptionTable table("tessera eigen", "solve A x = lambda x or A x = lambda B x, dense Hermitian");
  add_problem(table, options);
  add_solver(table, options);
  add_machine(table, options.common);
  add_grid(table, options.grid);
  add_runs(table, options.common);
  table.entry("--seed").needs([&options] { return !options.generate.empty(); }, "--generate KIND");
  warm_up_with_gpu_peer(table, options.peer, options.common);
  add_check(table, options.common);
  table.word(
      "--peer", options.peer, {"none", "lapack", "scalapack", "elpa", "cusolver", "cusolvermg"},
      "solve with this library too, alternating run by run: LAPACK on as many threads, ScaLAPACK or ELPA on "
      "as many ranks and threads (if the program was built with it), cuSOLVER on one GPU, or cuSOLVERMg on "
      "as many GPUs (all pairs, also for a range)");
  table
      .integer("--electrons", options.electrons, 2, largest_order,
               "print HOMO, LUMO and gap of N electrons, two an orbital")
      .chosen("none", -1);
  table.text("--output", options.output, "PREFIX",
             "write PREFIX_values.mtx and PREFIX_vectors.mtx, or one HDF5 file if PREFIX ends in .h5");
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("H.mtx.gz --overlap S.mtx.gz --electrons 256 --output orbitals",
                "orbitals of a molecule, in orbitals_values.mtx and orbitals_vectors.mtx");
  table.example("--generate random --n 4000 --range index:0:800 --peer lapack --repeat 3",
                "the lowest fifth of the pairs, beside LAPACK");
  table.example("--generate random --n 4000 --vectors no --json -",
                "eigenvalues alone, the record on stdout");
  return table;
}

namespace {

/// Checks that the range contains the orbitals on both sides of the gap.
void validate_electrons(const EigenProgramOptions& options) {
  if (options.electrons < 0) return;
  const std::string electrons = fmt::to_string(options.electrons);
  if (options.electrons % 2 != 0)
    throw UsageError("--electrons", electrons, "is odd", "an even number (closed shell)");
  const Index homo = options.electrons / 2 - 1, lumo = homo + 1;
  if (!options.generate.empty() && lumo >= options.n)
    throw UsageError("--electrons", electrons, "are too many",
                     fmt::format("at most 2 n - 2 = {}, so that there is a LUMO", 2 * options.n - 2));
  if (options.range.kind == RangeOption::Kind::index &&
      (homo < options.range.index_low || lumo >= options.range.index_high))
    throw UsageError(
        "--electrons", electrons, "has no effect",
        fmt::format("a range with numbers {} and {}, not --range {}", homo, lumo, to_string(options.range)));
}

}  // namespace

void validate(const EigenProgramOptions& options) {
  if (options.matrix.empty() == options.generate.empty())
    throw UsageError("--matrix", options.matrix, "stands beside --generate",
                     "either --matrix FILE or --generate KIND --n N");
  if (!options.generate.empty() && options.n < 0)
    throw UsageError("--n", "", "", "the order of the generated matrix");
  if (!options.matrix.empty() && options.overlap == "generated")
    throw UsageError("--overlap", options.overlap, "is not possible", "a file where --matrix is a file");
  if (options.peer == "cusolvermg" && !options.overlap.empty())
    throw UsageError("--peer", options.peer, "is not possible",
                     "none, lapack or cusolver with --overlap (cuSOLVERMg solves for one matrix)");
  validate_electrons(options);
  require_eigenpairs_writable(options.output, options.vectors);
}

}  // namespace tessera::program
