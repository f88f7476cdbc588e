// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "eigen_output.hpp"
#include "lobpcg_problem.hpp"
#include "options.hpp"
#include "output_files.hpp"
#include "saved_problem.hpp"
#include "table_parts.hpp"

namespace tessera::program {

namespace {

void add_problem(OptionTable& table, LobpcgProgramOptions& options) {
  table.group("Problem");
  table
      .text("--matrix", options.matrix, "FILE",
            "real symmetric or complex Hermitian matrix A, Matrix Market, may be gzipped, or what "
            "--save-matrix "
            "wrote (.h5)")
      .at_place("FILE")
      .reads(FileFormat::matrix_market_or_hdf5);
  table.text("--overlap", options.overlap, "FILE", "positive definite B of A x = lambda B x")
      .reads(FileFormat::matrix_market_or_hdf5);
  add_shell_model(table, options.shell_model, options.generate);
  table
      .flag("--dimension", options.dimension,
            "tell how many rows the matrix of a shell model has, and make nothing: for spaces of any size")
      .needs([&options] { return options.generate.starts_with("shell:"); }, "--generate shell:...");
  table.integer("--k", options.k, 1, 500,
                "wanted eigenpairs, at most n / 5; more than 32 in groups, except with lanczos");
  table.flag("--largest", options.largest, "the largest eigenvalues").by_default("the smallest");
  add_sparse_generator(table, options.generate);
}

void add_solver(OptionTable& table, LobpcgProgramOptions& options) {
  const auto preconditioned_by = [&options](const char* name) {
    return [&options, name] { return options.preconditioner == name; };
  };
  table.group("Solver");
  table.word("--method", options.method, {"auto", "gd", "lobpcg", "lanczos"},
             "generalized Davidson with a deep basis (GD+k), LOBPCG, whose basis is [X W P], block Lanczos "
             "with thick "
             "restarts, for many pairs, or the one that costs less");
  table
      .integer("--block", options.block, 1, 32,
               "gd, lanczos: the most columns that A is multiplied with at once; lobpcg: vectors that are "
               "iterated, at least k")
      .chosen("k, at most 8; lobpcg: 3/2 k or so, with GPUs a multiple of 8", 0);
  table
      .integer("--basis", options.basis, 3, 100000,
               "the most columns of the basis: gd, of k + 2 BLOCK to 128; lanczos, at least k + 3 BLOCK")
      .chosen("64 or more; lanczos: 2 k + 32", 0)
      .needs([&options] { return options.method != "lobpcg"; }, "another method than lobpcg");
  table
      .real("--tol", options.tolerance, real_above_0(),
            "a pair has converged when its residual is this small")
      .shown_as("TOL")
      .chosen("1e-8; vectors in float: 1e-4", 0.0);
  table.word("--norm", options.norm, {"backward", "relative", "absolute"},
             "what ||A x - lambda B x|| is compared with: TOL (||A|| + |lambda| ||B||) ||x||, TOL |lambda| "
             "||x||, or TOL ||x||");
  table.integer("--iterations", options.iterations, 0, 1000000, "at most");
  table.word(
      "--variant", options.variant, {"orthonormal", "basic"},
      "of lobpcg: [X W P] kept orthonormal, or the generalized Rayleigh-Ritz problem of Gram matrices");
  table.word("--preconditioner", options.preconditioner, {"auto", "none", "jacobi", "fom", "chebyshev"},
             "none, the diagonal, the diagonal tiles by a few steps of FOM, or a polynomial of A; auto: none "
             "with lanczos, jacobi with gd and without a stored matrix, else and with --steps fom");
  table.integer("--steps", options.steps, 1, 32, "of FOM on each tile")
      .chosen("2", 0)
      .needs([=] { return preconditioned_by("fom")() || preconditioned_by("auto")(); },
             "--preconditioner fom");
  table.integer("--degree", options.degree, 1, 1000, "of the Chebyshev polynomial")
      .chosen("8", 0)
      .needs(preconditioned_by("chebyshev"), "--preconditioner chebyshev");
  table.real("--shift", options.shift, any_real(), "of the preconditioner")
      .chosen("beyond the wanted end, from the Ritz values", nullptr)
      .needs([&options] { return options.preconditioner != "none"; }, "a preconditioner");
  table.word(
      "--product", options.product, {"auto", "stored", "free"},
      "A as a stored matrix, or a shell model's applied from lists of its protons' and neutrons' states; "
      "auto: free where it can be, on one rank, of spaces without a core where the matrix does not fit into "
      "memory");
  add_precision(table, "--storage", options.storage,
                "values of the matrix in float or double, of a complex one both parts");
  add_precision(table, "--vectors-type", options.vectors_type,
                "vectors in float (only with --storage f) or double");
  table
      .integer("--nd", options.nd, 1, 10000,
               "groups of rows: nd (nd + 1) / 2 sub-matrices are dealt to ranks and their GPUs, or runs of "
               "groups to the GPUs of a single rank, or, without GPUs, to sums that its workers add to")
      .chosen("from the order and the machine", 0);
}

void add_checkpoint(OptionTable& table, LobpcgProgramOptions& options) {
  const auto written = [&options] { return !options.checkpoint.empty(); };
  table.text(
      "--checkpoint", options.checkpoint, "FILE",
      "write what --resume needs from time to time, and where the iterations are used up: HDF5, FILE ends "
      "in .h5");
  table
      .real("--checkpoint-seconds", options.checkpoint_seconds, real_from_0(),
            "after so many; 0: by iterations alone")
      .needs(written, "--checkpoint FILE");
  table
      .integer("--checkpoint-iterations", options.checkpoint_iterations, 0, 1000000,
               "or after so many; 0: by seconds alone")
      .needs(written, "--checkpoint FILE");
  table
      .text("--resume", options.resume, "FILE",
            "go on from a checkpoint of the same problem, --k and end; --iterations count from there")
      .reads(FileFormat::hdf5);
}

}  // namespace

OptionTable option_table(LobpcgProgramOptions& options) {
  OptionTable table("tessera lobpcg", "a few extreme eigenpairs of a sparse symmetric or Hermitian matrix");
  add_problem(table, options);
  add_solver(table, options);
  add_machine(table, options.common);
  add_runs(table, options.common);
  add_check(table, options.common);
  table.word(
      "--peer", options.peer,
      {"none", "dense", "lanczos", "cusparse-lanczos", "slepc-lobpcg", "slepc-krylovschur"},
      "solve by LAPACK as a dense matrix, too, by a Lanczos method with thick restarts (ARPACK's and CuPy's "
      "choices) on the cores or on a GPU, or by SLEPc (if the program was built with it)");
  table.text("--output", options.output, "PREFIX",
             "write PREFIX_values.mtx and PREFIX_vectors.mtx, or one HDF5 file if PREFIX ends in .h5");
  table.text("--plot", options.plot, "FILE", "draw the residuals' history, SVG");
  table.text("--save-matrix", options.save_matrix, "FILE",
             "write A as it is cut and stored, for --matrix: HDF5, FILE ends in .h5");
  table.text("--save-overlap", options.save_overlap, "FILE", "write B in the same way, for --overlap");
  add_checkpoint(table, options);
  const auto of_shell_model = [&options] {
    return source_of(options).of_shell_model() || source_of(options).saved();
  };
  table
      .yes_no("--quantum-numbers", options.quantum_numbers,
              "J, T, parity and the nucleons in each orbit, of each state of a shell model: every rank holds "
              "all vectors for it")
      .needs(of_shell_model, "--generate shell:... or a saved matrix");
  table
      .text("--levels", options.levels, "FILE",
            "write the levels of a shell model as KSHELL's summary has them, or, if FILE ends in .res, as "
            "BIGSTICK's results")
      .needs(of_shell_model, "--generate shell:... or a saved matrix");
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("A.mtx.gz --overlap B.mtx.gz --k 3 --shift 0 --output modes",
                "the lowest modes of a positive definite pair of files");
  table.example("--generate shell:28Si --k 8 --plot residuals.svg --checkpoint c.h5",
                "the lowest levels of a nucleus; after a kill --resume c.h5 goes on");
  table.example("--generate shell:24Mg --k 80", "many levels of a nucleus, by block Lanczos");
  table.example("--generate hofstadter:120:120:1:40 --k 6",
                "the lowest Landau level of a lattice in a magnetic field, in complex numbers");
  return table;
}

SparseSource source_of(const LobpcgProgramOptions& options) {
  return {options.matrix, options.overlap, options.generate, options.shell_model, options.common.seed};
}

bool is_plain(const LobpcgProgramOptions& options) {
  const bool automatic = options.preconditioner == "auto" && options.steps == 0 && !options.shift;
  return options.overlap.empty() && (options.preconditioner == "none" || automatic);
}

void validate(const LobpcgProgramOptions& options) {
  validate(source_of(options));
  if (options.vectors_type == 'f' && options.storage == 'd')
    throw UsageError("--vectors-type", "f", "is not possible", "d, with --storage d");
  if ((options.method == "gd" || options.method == "lanczos") && options.variant == "basic")
    throw UsageError("--variant", "basic", "is not possible", "orthonormal, with --method " + options.method);
  if (options.method == "lanczos" && !options.overlap.empty())
    throw UsageError("--method", "lanczos", "has no inv(B)", "gd or lobpcg, with --overlap");
  if (options.method == "lanczos" && !is_plain(options))
    throw UsageError("--method", "lanczos", "takes no preconditioner", "gd or lobpcg with one");
  if (options.method == "lanczos" && !(options.checkpoint.empty() && options.resume.empty()))
    throw UsageError(
        "--method", "lanczos", "writes no checkpoint",
        options.checkpoint.empty() ? "gd or lobpcg, with --resume" : "gd or lobpcg, with --checkpoint");
  if (options.method == "lobpcg" && options.block > 0 && options.block < options.k && options.k <= 32)
    throw UsageError("--block", fmt::to_string(options.block), "is too small",
                     fmt::format("at least k = {}", options.k));
  require_eigenpairs_writable(options.output, true);
  if (!options.plot.empty()) require_writable("--plot", options.plot);
  require_matrix_writable("--save-matrix", options.save_matrix);
  require_matrix_writable("--save-overlap", options.save_overlap);
  require_matrix_writable("--checkpoint", options.checkpoint);
  if (!options.checkpoint.empty() && options.checkpoint_seconds == 0 && options.checkpoint_iterations == 0)
    throw UsageError("--checkpoint-seconds", "0", "is not possible",
                     "above 0, or --checkpoint-iterations above 0");
  if (options.common.repeat + options.common.warmup > 1 &&
      !(options.checkpoint.empty() && options.resume.empty()))
    throw UsageError(options.resume.empty() ? "--checkpoint" : "--resume",
                     options.resume.empty() ? options.checkpoint : options.resume, "is not possible",
                     "a single run, without --repeat and --warmup");
  if (options.levels.empty()) return;
  require_writable("--levels", options.levels);
  if (!options.quantum_numbers)
    throw UsageError("--levels", options.levels, "has no effect", "it only with --quantum-numbers yes");
  if (options.largest)
    throw UsageError("--levels", options.levels, "has no effect", "it only with the smallest eigenvalues");
}

}  // namespace tessera::program
