// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "dense_options.hpp"

#include <fmt/format.h>

#include <tessera/runtime/error.hpp>

#include "lobpcg_problem.hpp"
#include "option_parts.hpp"

namespace tessera::program {

const std::vector<std::string>& bench_stages() {
  static const std::vector<std::string> stages{
      "cholesky",          "to_standard",      "reduce_to_band", "band_to_tridiagonal", "tridiagonalize",
      "tridiagonal_eigen", "back_tridiagonal", "back_band",      "to_general",          "gemm"};
  return stages;
}

ProgramText dense_bench_text() {
  return {"bench_dense", "One stage of the dense eigensolver, or one kernel, beside the machine's limit",
          "Examples:\n"
          "  bench_dense reduce_to_band --n 4000 --repeat 3\n"
          "  bench_dense cholesky --n 8000 --peer cusolver\n"
          "  bench_dense gemm --n 4000 --cores 1 --gpus 0 --peer lapack --json -\n\n"};
}

void add_dense_bench_options(CLI::App& command, DenseBenchOptions& options) {
  command.add_option("stage", options.stage, "what to measure: " + CLI::detail::join(bench_stages(), ", "))
      ->required()
      ->check(CLI::IsMember(bench_stages()))
      ->type_name("STAGE");
  command.add_option("--generate", options.generate, generator_help() + "\n(default: random)")
      ->type_name("KIND");
  command.add_option("--n", options.n, "order of the matrix (default: 2000)")
      ->check(integer_in(1, largest_order));
  command.add_option("--columns", options.vectors, "vectors that are transformed back (default: n)")
      ->check(integer_in(1, largest_order));
  command
      .add_option("--kernel", options.kernel,
                  "back_tridiagonal on GPUs: WY blocks on the tensor cores (default), or one reflector after "
                  "another as in ELPA2, to compare with")
      ->check(CLI::IsMember({"blocked", "elpa"}))
      ->type_name("blocked|elpa");
  add_type_option(command, options.type, "scalar type (default: d)");
  add_size_options(command, options);
  command
      .add_option(
          "--peer", options.peer,
          "run the routine of LAPACK (and BLAS), or of cuSOLVER and cuBLAS, for the same job where there "
          "is one, alternating run by run")
      ->check(CLI::IsMember({"none", "lapack", "cusolver"}))
      ->type_name("none|lapack|cusolver");
  add_grid_option(command, options.grid);
  add_common_options(command, options.common);
  warm_up_with_gpu_peer(command, options.peer, options.common);
}

void validate(const DenseBenchOptions& options) {
  naming_options([&] { check_generator(options.generate); });
  if (options.kernel != "blocked" && options.stage != "back_tridiagonal")
    throw InvalidArgument("--kernel", options.kernel, "blocked for " + options.stage);
  if (options.vectors > options.n)
    throw InvalidArgument("--columns", fmt::to_string(options.vectors),
                          fmt::format("at most n = {}", options.n));
}

}  // namespace tessera::program
