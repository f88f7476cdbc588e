// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/matgen.hpp>
#include <tessera/runtime/io/input_file.hpp>

#include "eigen_output.hpp"
#include "option_parts.hpp"

namespace tessera::program {

namespace {

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// The two texts behind `NAME:`.
bool split_pair(std::string_view text, std::string_view prefix, char separator, std::string_view& a,
                std::string_view& b) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  const auto middle = text.find(separator);
  if (middle == std::string_view::npos) return false;
  a = text.substr(0, middle);
  b = text.substr(middle + 1);
  return true;
}

std::string generator_help() {
  std::string text = "Hermitian test matrix, with --n; KIND is one of";
  for (const GeneratorKind& kind : generator_kinds())
    text += fmt::format("\n  {}{}: {}", kind.name, kind.takes_argument ? "[:ARG]" : "", kind.help);
  return text;
}

void check_generator(const std::string& kind) {
  MatrixGenerator<double>::make(kind, 1);
}

template <class Options>
void add_size_options(CLI::App& command, Options& options) {
  command.add_option("--tile", options.tile, "order of the tiles (default: from the machine)")
      ->check(integer_in(1, 1 << 20));
  command.add_option("--band", options.band, "width of the intermediate band (default: chosen)")
      ->check(integer_in(1, 4096));
  command
      .add_option("--update-width", options.update_width,
                  "columns per update of the trailing matrix (default: chosen)")
      ->check(integer_in(1, 1 << 20));
  command
      .add_option(
          "--column-groups", options.column_groups,
          "groups of columns, one for a GPU, in which the matrix is reduced to a band; 1: tile by tile "
          "(default: chosen)")
      ->check(integer_in(1, 32));
}

template <class Wanted>
CLI::Validator finite_number(Wanted wanted, const std::string& expected, const std::string& shown) {
  return CLI::Validator(
      [wanted, expected](const std::string& text) {
        double value = 0;
        const std::string_view digits = std::string_view(text).substr(text.starts_with('+') ? 1 : 0);
        const bool right = parse_number(digits, value) && std::isfinite(value) && wanted(value);
        return right ? std::string() : fmt::format("{}: expected a {}", text, expected);
      },
      shown);
}

}  // namespace

void add_type_option(CLI::App& command, char& type, const std::string& help) {
  command
      .add_option_function<std::string>(
          "--type", [&type](const std::string& text) { type = text.at(0); }, help)
      ->check(CLI::IsMember({"s", "d", "c", "z"}))
      ->type_name("s|d|c|z");
}

void add_yes_no_option(CLI::App& command, const std::string& name, bool& value, const std::string& help) {
  command
      .add_option_function<std::string>(
          name, [&value](const std::string& text) { value = text == "yes"; }, help)
      ->check(CLI::IsMember({"yes", "no"}))
      ->type_name("yes|no");
}

CLI::Validator any_number() {
  return finite_number([](double) { return true; }, "finite number", "FINITE");
}

CLI::Validator number_from_0() {
  return finite_number([](double x) { return x >= 0; }, "number >= 0", "NONNEGATIVE");
}

CLI::Validator number_above_0() {
  return finite_number([](double x) { return x > 0; }, "number > 0", "POSITIVE");
}

CLI::Validator number_in(double least, double most) {
  return finite_number([=](double x) { return x >= least && x <= most; },
                       fmt::format("number from {} to {}", least, most),
                       fmt::format("FLOAT in [{} - {}]", least, most));
}

CLI::Validator integer_in(Index least, Index most) {
  return CLI::Validator(
      [=](const std::string& text) {
        Index value = 0;
        const bool right = parse_number(text, value) && value >= least && value <= most;
        const bool octal = text.size() > 1 && text[0] == '0';
        return right && !octal ? std::string()
                               : fmt::format("{}: expected an integer from {} to {}", text, least, most);
      },
      fmt::format("INT in [{} - {}]", least, most));
}

void add_shell_model_options(CLI::App& command, std::string& interaction, std::string& orbits,
                             const std::string& stage) {
  command
      .add_option("--interaction", interaction,
                  stage +
                      "of the shell model: random (with --seed; the default), pairing, pairing-quadrupole, "
                      "or a file .int")
      ->type_name("NAME|FILE");
  command
      .add_option("--orbits", orbits,
                  stage + "the file .sps that belongs to --interaction FILE and to shell:file:...")
      ->type_name("FILE");
}

void add_grid_option(CLI::App& command, GridOption& grid) {
  command
      .add_option_function<std::string>(
          "--grid", [&grid](const std::string& text) { grid = parse_grid(text); },
          "process grid under mpirun (default: as square as possible)")
      ->check(parsed_by(parse_grid, "PxQ"))
      ->type_name("PxQ");
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  command
      .add_option(
          "--cores", options.cores,
          "CPU workers (default: every core; of more than 8, or with GPUs, one less for submitting, one "
          "for each GPU and one for messages between ranks; with GPUs, and without --hybrid, at most "
          "14, or 4 with several ranks)")
      ->check(integer_in(0, 4096));
  command.add_option("--gpus", options.gpus, "GPUs (default: all that can be used)")
      ->check(integer_in(0, 64));
  command.add_flag("--hybrid", options.hybrid,
                   "let CPUs take part in what GPUs can do (default: GPUs do it alone)");
  // StarPU itself would take any name, and its default for one that it does not know.
  command
      .add_option("--scheduler", options.scheduler,
                  "StarPU's scheduling policy (default: lws, with GPUs dmdas)")
      ->check(CLI::IsMember({"lws", "ws", "eager", "prio", "random", "dm", "dmda", "dmdar", "dmdas", "dmdasd",
                             "pheft", "heteroprio", "modular-eager", "modular-ws", "modular-heft",
                             "modular-heft2"}))
      ->type_name("POLICY");
  command.add_option("--seed", options.seed, "of everything that is random")
      ->check(integer_in(0, std::numeric_limits<Index>::max()));
  command.add_option("--repeat", options.repeat, "timed runs, of which the median counts")
      ->check(integer_in(1, 100000));
  command
      .add_option("--warmup", options.warmup,
                  "runs before, not counted (default: 0, with --peer cusolver or cusolvermg 1: the first use "
                  "of a GPU is slow)")
      ->check(integer_in(0, 100000));
  command
      .add_option_function<std::string>(
          "--check",
          [&options](const std::string& text) {
            options.check = text == "none"  ? CheckPolicy::none
                            : text == "all" ? CheckPolicy::all
                                            : CheckPolicy::last;
          },
          "which runs are checked (default: last); a failed check is exit code 1")
      ->check(CLI::IsMember({"none", "last", "all"}))
      ->type_name("none|last|all");
  command
      .add_option("--json", options.json,
                  "write the record of the run there (- for stdout, then nothing else is)")
      ->type_name("FILE|-");
  command.add_option("--trace", options.trace, "record StarPU's trace there and summarise it")
      ->type_name("DIR");
  command.add_flag("--quiet", options.quiet, "no report and no progress");
}

namespace {

/// Both sides of a comparison on a GPU are warm unless the user says how.
void warm_up_with_gpu_peer(CLI::App& command, const std::string& peer, CommonOptions& common) {
  command.parse_complete_callback([&] {
    if (peer.starts_with("cusolver") && command.count("--warmup") == 0) common.warmup = 1;
  });
}

}  // namespace

RangeOption parse_range(const std::string& text) {
  RangeOption range;
  std::string_view a, b;
  if (text == "all") return range;
  if (split_pair(text, "index:", ':', a, b) && parse_number(a, range.index_low) &&
      parse_number(b, range.index_high) && range.index_low >= 0 && range.index_low <= range.index_high) {
    range.kind = RangeOption::Kind::index;
    return range;
  }
  if (split_pair(text, "value:", ':', a, b) && parse_number(a, range.value_low) &&
      parse_number(b, range.value_high) && !std::isnan(range.value_low) && !std::isnan(range.value_high) &&
      range.value_low < range.value_high) {
    range.kind = RangeOption::Kind::value;
    return range;
  }
  throw InvalidArgument(
      "--range", text,
      "all, index:LO:HI with 0 <= LO <= HI (eigenvalues LO to HI-1, from 0), or value:LO:HI with LO < HI");
}

std::string to_string(const RangeOption& range) {
  switch (range.kind) {
    case RangeOption::Kind::all:
      return "all";
    case RangeOption::Kind::index:
      return fmt::format("index:{}:{}", range.index_low, range.index_high);
    case RangeOption::Kind::value:
      break;
  }
  return fmt::format("value:{}:{}", range.value_low, range.value_high);
}

GridOption parse_grid(const std::string& text) {
  GridOption grid;
  std::string_view a, b;
  constexpr int most = 1 << 15;  // the product is an int
  if (split_pair(text, "", 'x', a, b) && parse_number(a, grid.rows) && parse_number(b, grid.cols) &&
      grid.rows > 0 && grid.cols > 0 && grid.rows <= most && grid.cols <= most)
    return grid;
  throw InvalidArgument("--grid", text, "PxQ, two positive numbers");
}

const std::vector<std::string>& bench_stages() {
  static const std::vector<std::string> stages{"cholesky",
                                               "to_standard",
                                               "reduce_to_band",
                                               "band_to_tridiagonal",
                                               "tridiagonalize",
                                               "tridiagonal_eigen",
                                               "back_tridiagonal",
                                               "back_band",
                                               "to_general",
                                               "gemm",
                                               "stack",
                                               "spmm"};
  return stages;
}

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

void add_bench_options(CLI::App& command, BenchProgramOptions& options) {
  command.add_option("stage", options.stage, "what to measure: " + CLI::detail::join(bench_stages(), ", "))
      ->required()
      ->check(CLI::IsMember(bench_stages()))
      ->type_name("STAGE");
  command
      .add_option(
          "--generate", options.generate,
          "kind of the matrix, as for eigen (default: random); for stack: random (10000 blocks of A and "
          "of B, drawn anew for each product, 16 for each block of C) or water (the stacks of a product "
          "of two water matrices); for spmm: as for lobpcg")
      ->type_name("KIND");
  command
      .add_option("--n", options.n,
                  "order of the matrix (default: 2000); for stack: columns of a block of B (default: m)")
      ->check(integer_in(1, largest_order));
  command.add_option("--m", options.m, "stack: rows of a block of A (default: 23)")
      ->check(integer_in(1, 256));
  command.add_option("--k", options.k, "stack: columns of a block of A (default: m)")
      ->check(integer_in(1, 256));
  command
      .add_option("--products", options.products, "stack: products of blocks (default: 16005; water: 400000)")
      ->check(integer_in(1, 100000000));
  command.add_option("--occupation", options.occupation, "stack: of the water matrices (default: 0.1)")
      ->check(number_in(1e-6, 1.0));
  command
      .add_option("--columns", options.vectors,
                  "vectors that are transformed back (default: n); spmm: that are multiplied (default: 8)")
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
          "run the routine of LAPACK, or of cuSOLVER and cuBLAS, for the same job where there is one; "
          "for stack: libxsmm or BLAS on operands that stay in the cache; for spmm: both triangles by rows "
          "(csr), "
          "or those by cuSPARSE")
      ->check(CLI::IsMember({"none", "lapack", "cusolver", "libxsmm", "blas", "csr", "cusparse"}))
      ->type_name("none|lapack|cusolver|libxsmm|blas|csr|cusparse");
  command
      .add_option("--matrix", options.matrix,
                  "spmm: a symmetric matrix, Matrix Market, instead of --generate")
      ->type_name("FILE");
  add_shell_model_options(command, options.interaction, options.orbits, "spmm: ");
  command
      .add_option_function<std::string>(
          "--storage", [&options](const std::string& text) { options.storage = text.at(0); },
          "spmm: values of the matrix in float or double (default: d)")
      ->check(CLI::IsMember({"f", "d"}))
      ->type_name("f|d");
  command.add_option("--nd", options.nd, "spmm: groups of rows (default: chosen)")
      ->check(integer_in(1, 10000));
  command.add_option("--segments", options.segments, "spmm: parts of each group (default: chosen)")
      ->check(integer_in(1, 10000));
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

Json to_json(const CommonOptions& options) {
  constexpr std::array<const char*, 3> policies{"none", "last", "all"};
  Json json;
  json["cores"] = options.cores;
  json["gpus"] = options.gpus;
  json["hybrid"] = options.hybrid;
  json["seed"] = options.seed;
  json["repeat"] = options.repeat;
  json["warmup"] = options.warmup;
  json["check"] = policies[static_cast<std::size_t>(options.check)];
  if (!options.trace.empty()) json["trace"] = options.trace;
  return json;
}

}  // namespace tessera::program
