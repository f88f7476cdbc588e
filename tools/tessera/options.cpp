// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <cmath>

#include <fmt/format.h>

#include <tessera/runtime/error.hpp>

#include "eigen_output.hpp"
#include "option_parts.hpp"

namespace tessera::program {

void add_eigen_options(CLI::App& command, EigenProgramOptions& options) {
  command.add_option("--matrix", options.matrix, "Hermitian matrix A, Matrix Market, may be gzipped")
      ->type_name("FILE");
  command
      .add_option("--overlap", options.overlap,
                  "positive definite B of A x = lambda B x: a file, or `generated` for a test matrix")
      ->type_name("FILE");
  command.add_option("--generate", options.generate, generator_help())
      ->check(parsed_by(check_generator, "KIND"))
      ->type_name("KIND");
  command.add_option("--n", options.n, "order of the generated matrix")->check(integer_in(0, largest_order));
  command.add_option("--scale", options.scale, "factor on the generated matrix")->check(any_number());
  add_type_option(command, options.type, "scalar type (default: z for a complex file, else d)");
  command.add_option("--solver", options.solver, "default: auto, by the order and the range")
      ->check(CLI::IsMember({"auto", "two_stage", "one_stage", "vendor"}))
      ->type_name("auto|two_stage|one_stage|vendor");
  command
      .add_option_function<std::string>(
          "--range", [&options](const std::string& text) { options.range = parse_range(text); },
          "eigenpairs LO to HI-1 in ascending order from 0, or those with values in (LO, HI] (default: all)")
      ->check(parsed_by(parse_range, "RANGE"))
      ->type_name("all|index:LO:HI|value:LO:HI");
  add_yes_no_option(command, "--vectors", options.vectors, "eigenvectors too (default: yes)");
  add_size_options(command, options);
  command
      .add_option(
          "--peer", options.peer,
          "solve with this library too, alternating run by run: LAPACK on as many threads, cuSOLVER on one "
          "GPU, or cuSOLVERMg on as many GPUs (all pairs, also for a range)")
      ->check(CLI::IsMember({"none", "lapack", "cusolver", "cusolvermg"}))
      ->type_name("none|lapack|cusolver|cusolvermg");
  command
      .add_option("--tuning", options.tuning,
                  "take the solver and the sizes from what `tessera tune` has found")
      ->type_name("FILE");
  command
      .add_option("--output", options.output,
                  "write PREFIX_values.mtx and PREFIX_vectors.mtx, or one HDF5 file if PREFIX ends in .h5")
      ->type_name("PREFIX");
  command
      .add_option("--electrons", options.electrons, "print HOMO, LUMO and gap of N electrons, two an orbital")
      ->check(integer_in(0, largest_order));
  add_grid_option(command, options.grid);
  add_common_options(command, options.common);
  warm_up_with_gpu_peer(command, options.peer, options.common);
}

void add_info_options(CLI::App& command, InfoProgramOptions& options) {
  command.add_flag("--codelets", options.codelets, "list the codelets with their implementations and models");
  add_common_options(command, options.common);
}

void add_trace_options(CLI::App& command, TraceProgramOptions& options) {
  command.add_option("directory", options.directory, "where a command with --trace DIR has left its trace")
      ->required()
      ->type_name("DIR");
  command.add_option("--json", options.json, "write the summary there (- for stdout, then nothing else is)")
      ->type_name("FILE|-");
  command.add_option("--chrome", options.chrome, "write the tasks as Chrome/Perfetto trace events")
      ->type_name("FILE");
  command.add_option("--svg", options.svg, "draw the workers' Gantt chart")->type_name("FILE");
}

void add_tune_options(CLI::App& command, TuneProgramOptions& options) {
  command.add_option("--n", options.orders, "orders to tune for (default: 1000)")
      ->delimiter(',')
      ->check(integer_in(1, largest_order));
  add_type_option(command, options.type, "scalar type (default: d)");
  add_yes_no_option(command, "--vectors", options.vectors, "tune for eigenvectors too (default: yes)");
  command.add_option("--output", options.output, "file to which the result is added (default: tuning.json)")
      ->type_name("FILE");
  add_common_options(command, options.common);
}

void add_calibrate_options(CLI::App& command, CalibrateProgramOptions& options) {
  options.common.repeat = 4;  // StarPU leaves the first run of each kind out, and trusts three
  command.add_option("--family", options.family, "codelets to measure (default: dense)")
      ->check(CLI::IsMember({"dense"}))
      ->type_name("dense");
  command
      .add_option(
          "--sizes", options.orders,
          "orders to solve (default: 1024,2048,4096,8192 on GPUs, on several also 16384, and 500,1000,2000 "
          "on CPUs; the CPUs of a machine with GPUs solve none above 2000)")
      ->delimiter(',')
      ->check(integer_in(1, 1 << 20))
      ->type_name("N,N,...");
  command.add_option("--types", options.types, "scalar types, some of sdcz (default: sdcz)")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return text.empty() || text.find_first_not_of("sdcz") != std::string::npos
                       ? std::string("expected some of the letters sdcz")
                       : std::string();
          },
          "TYPES"))
      ->type_name("TYPES");
  command
      .add_option("--output", options.output,
                  "directory for the set of models, replaced if it is one (default: perfmodels/MACHINE)")
      ->type_name("DIR");
  command
      .add_option("--seconds", options.seconds,
                  "begin no solve later than that, on all GPUs, one, or the CPUs, which come in this order "
                  "(default: no limit)")
      ->check(number_from_0());
  add_common_options(command, options.common);
}

void validate(EigenProgramOptions& options) {
  if (options.matrix.empty() == options.generate.empty())
    throw InvalidArgument("--matrix", options.matrix.empty() ? "nothing" : options.matrix,
                          "either --matrix FILE or --generate KIND --n N");
  if (!options.generate.empty() && options.n < 0)
    throw InvalidArgument("--n", "nothing", "the order of the generated matrix");
  if (!options.matrix.empty() && options.n >= 0)
    throw InvalidArgument("--n", fmt::format("{}", options.n),
                          "--n only with --generate (a file has its own order)");
  if (!std::isfinite(options.scale))
    throw InvalidArgument("--scale", fmt::format("{}", options.scale), "a finite number");
  if (!options.matrix.empty() && options.overlap == "generated")
    throw InvalidArgument("--overlap", options.overlap, "a file where --matrix is a file");
  if (options.peer == "cusolvermg" && !options.overlap.empty())
    throw InvalidArgument("--peer", options.peer,
                          "none, lapack or cusolver with --overlap (cuSOLVERMg solves for one matrix)");
  if (options.electrons >= 0 && options.electrons % 2 != 0)
    throw InvalidArgument("--electrons", fmt::format("{}", options.electrons),
                          "an even number (closed shell)");
  require_eigenpairs_writable(options.output, options.vectors);
}

}  // namespace tessera::program
