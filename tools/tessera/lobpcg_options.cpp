// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "eigen_output.hpp"
#include "lobpcg_problem.hpp"
#include "option_parts.hpp"
#include "options.hpp"
#include "output_files.hpp"

namespace tessera::program {

namespace {

/// One of some words.
void add_word_option(CLI::App& command, const std::string& name, std::string& value,
                     const std::vector<std::string>& words, const std::string& help) {
  command.add_option(name, value, help)
      ->check(CLI::IsMember(words))
      ->type_name(CLI::detail::join(words, "|"));
}

void add_source_options(CLI::App& command, LobpcgProgramOptions& options) {
  command.add_option("--matrix", options.matrix, "symmetric matrix A, Matrix Market, may be gzipped")
      ->type_name("FILE");
  command.add_option("--overlap", options.overlap, "positive definite B of A x = lambda B x")
      ->type_name("FILE");
  command.add_option("--generate", options.generate, sparse_generator_help())->type_name("KIND[:ARG]");
  add_shell_model_options(command, options.interaction, options.orbits);
}

}  // namespace

void add_lobpcg_options(CLI::App& command, LobpcgProgramOptions& options) {
  add_source_options(command, options);
  command.add_option("--k", options.k, "wanted eigenpairs, at most n / 5 (default: 5)")
      ->check(integer_in(1, 32));
  command
      .add_option("--block", options.block,
                  "vectors that are iterated, at least k (default: 3/2 k or so, with GPUs a multiple of 8)")
      ->check(integer_in(1, 32));
  command.add_flag("--largest", options.largest, "the largest eigenvalues (default: the smallest)");
  command
      .add_option(
          "--tol", options.tolerance,
          "a pair has converged when its residual is this small (default: 1e-8; vectors in float: 1e-4)")
      ->check(number_above_0())
      ->type_name("TOL");
  add_word_option(command, "--norm", options.norm, {"backward", "relative", "absolute"},
                  "what ||A x - lambda B x|| is compared with: TOL (||A|| + |lambda| ||B||) ||x|| (default), "
                  "TOL |lambda| ||x||, or TOL ||x||");
  command.add_option("--iterations", options.iterations, "at most (default: 500)")
      ->check(integer_in(0, 1000000));
  add_word_option(
      command, "--variant", options.variant, {"orthonormal", "basic"},
      "[X W P] kept orthonormal (default), or the generalized Rayleigh-Ritz problem of Gram matrices");
  add_word_option(
      command, "--preconditioner", options.preconditioner, {"none", "jacobi", "fom", "chebyshev"},
      "none, the diagonal, the diagonal tiles by a few steps of FOM (default), or a polynomial of A");
  command.add_option("--steps", options.steps, "of FOM on each tile (default: 2)")->check(integer_in(1, 32));
  command.add_option("--degree", options.degree, "of the Chebyshev polynomial (default: 8)")
      ->check(integer_in(1, 1000));
  command
      .add_option("--shift", options.shift,
                  "of the preconditioner (default: beyond the wanted end, from the Ritz values)")
      ->check(any_number())
      ->type_name("FLOAT");
  add_letter_option(command, "--storage", options.storage,
                    "values of the matrix in float or double (default: d)");
  add_letter_option(command, "--vectors-type", options.vectors_type,
                    "vectors in float (only with --storage f) or double (default: d)");
  command
      .add_option("--nd", options.nd,
                  "groups of rows: nd (nd + 1) / 2 sub-matrices are dealt to ranks and their GPUs, or "
                  "runs of groups to the GPUs of a single rank, or, without GPUs, to sums that its workers "
                  "add to (default: chosen)")
      ->check(integer_in(1, 10000));
  add_word_option(command, "--peer", options.peer, {"none", "dense", "slepc-lobpcg", "slepc-krylovschur"},
                  "solve by LAPACK as a dense matrix, too, or by SLEPc (if the program was built with it)");
  command
      .add_option("--output", options.output,
                  "write PREFIX_values.mtx and PREFIX_vectors.mtx, or one HDF5 file if PREFIX ends in .h5")
      ->type_name("PREFIX");
  command.add_option("--plot", options.plot, "draw the residuals' history, SVG")->type_name("FILE");
  add_common_options(command, options.common);
}

SparseSource source_of(const LobpcgProgramOptions& options) {
  return {options.matrix,      options.overlap, options.generate,
          options.interaction, options.orbits,  options.common.seed};
}

void validate(const LobpcgProgramOptions& options) {
  validate(source_of(options));
  const auto only_of = [&](bool given, const char* name, const std::string& value, bool wanted,
                           const char* expected) {
    if (given && !wanted) throw InvalidArgument(name, value, expected);
  };
  only_of(options.steps > 0, "--steps", fmt::to_string(options.steps), options.preconditioner == "fom",
          "--preconditioner fom");
  only_of(options.degree > 0, "--degree", fmt::to_string(options.degree),
          options.preconditioner == "chebyshev", "--preconditioner chebyshev");
  only_of(options.shift.has_value(), "--shift", fmt::to_string(options.shift.value_or(0)),
          options.preconditioner != "none", "a preconditioner, whose shift it is");
  if (options.vectors_type == 'f' && options.storage == 'd')
    throw InvalidArgument("--vectors-type", "f", "d, with --storage d");
  if (options.block > 0 && options.block < options.k)
    throw InvalidArgument("--block", fmt::to_string(options.block),
                          fmt::format("at least k = {}", options.k));
  require_eigenpairs_writable(options.output, true);
  if (!options.plot.empty()) require_writable("--plot", options.plot);
}

}  // namespace tessera::program
