// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <tessera/runtime/error.hpp>

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

}  // namespace

void add_type_option(CLI::App& command, char& type, const std::string& help) {
  command
      .add_option_function<std::string>(
          "--type", [&type](const std::string& text) { type = text.at(0); }, help)
      ->check(CLI::IsMember({"s", "d", "c", "z"}))
      ->type_name("s|d|c|z");
}

CLI::Validator number_in(double least, double most) {
  return CLI::Validator(
      [range = real_within(least, most)](const std::string& text) {
        double value = 0;
        return problem_of_real(text, range, value);
      },
      fmt::format("FLOAT in [{} - {}]", least, most));
}

CLI::Validator integer_in(Index least, Index most) {
  return CLI::Validator(
      [=](const std::string& text) {
        Index value = 0;
        return problem_of_integer(text, least, most, value);
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

}  // namespace tessera::program
