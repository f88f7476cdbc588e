// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <tessera/codelets/block_sparse/dense_choice.hpp>
#include <tessera/runtime/types.hpp>

#include "option_table.hpp"

/// What the user can ask for on the command line. Every add_*_options registers the options of one command on
/// its subcommand; bad values are errors of the parser, so nothing has been started yet.
namespace tessera::program {

enum class CheckPolicy { none, last, all };

struct CommonOptions {
  int cores = -1;
  int gpus = -1;
  bool hybrid = false;
  std::uint64_t seed = 1;
  int repeat = 1;
  int warmup = 0;
  CheckPolicy check = CheckPolicy::last;
  std::string json;   ///< file, "-" for stdout, empty for none
  std::string trace;  ///< directory, empty for none
  std::string scheduler;
  bool quiet = false;

  /// The JSON goes to stdout, so nothing else may.
  bool json_alone() const { return json == "-"; }
  bool wants_check(int run) const {
    return check == CheckPolicy::all || (check == CheckPolicy::last && run == repeat - 1);
  }
};

/// `all`, `index:LO:HI` for [LO, HI) from 0, or `value:LO:HI` for (LO, HI].
struct RangeOption {
  enum class Kind { all, index, value };
  Kind kind = Kind::all;
  Index index_low = 0, index_high = 0;
  double value_low = 0, value_high = 0;
};
/// @throws InvalidArgument
RangeOption parse_range(const std::string& text);
std::string to_string(const RangeOption& range);

/// `PxQ`; 0x0: as square as possible.
struct GridOption {
  int rows = 0, cols = 0;
};
/// @throws InvalidArgument
GridOption parse_grid(const std::string& text);

struct EigenProgramOptions {
  CommonOptions common;
  std::string matrix, overlap, generate;
  Index n = -1;
  double scale = 1;
  char type = 0;  ///< s, d, c, z; 0: as the file, d for a generated matrix
  std::string solver = "auto";
  RangeOption range;
  bool vectors = true;
  Index tile = 0, band = 0, update_width = 0, column_groups = 0;
  std::string peer = "none";
  std::string tuning;  ///< file of `tessera tune`
  std::string output;
  Index electrons = -1;
  GridOption grid;
};

struct BenchProgramOptions {
  CommonOptions common;
  std::string stage;
  std::string generate;     ///< empty: random, but for spmm
  Index n = -1;             ///< -1: 2000, for stack: m
  Index m = 23, k = -1;     ///< stack: A is m x k, B k x n; -1: m
  Index products = -1;      ///< stack: of blocks; -1: 16005, of water 400000
  double occupation = 0.1;  ///< stack of water
  Index vectors = -1;       ///< columns that are back-transformed; -1: n
  char type = 'd';
  Index tile = 0, band = 0, update_width = 0, column_groups = 0;
  std::string kernel = "blocked";   ///< back_tridiagonal: or elpa
  std::string matrix;               ///< spmm: file, instead of a kind
  std::string interaction, orbits;  ///< spmm: of the shell model; empty: not given
  char storage = 'd';               ///< spmm: of the matrix's values; type: of the vectors
  Index nd = 0, segments = 0;       ///< spmm: groups of rows, and parts of each
  std::string peer = "none";
  GridOption grid;
};

struct MultiplyProgramOptions {
  CommonOptions common;
  std::string matrix_a, matrix_b, matrix_c, block_sizes, generate;
  std::vector<Index> blocks;  ///< empty: 23
  Index n = -1;
  double occupation = -1;  ///< -1: 0.1
  double filter = 0;
  char type = 0;      ///< s, d, c, z; 0: as the file, d for a generated matrix
  char symmetry = 0;  ///< N, S, A, H: storage of generated A and B; 0: N
  Op op_a = Op::none, op_b = Op::none;
  double alpha = 1, beta = 0;
  bool retain_sparsity = false;
  Index panel = 0;  ///< elements; 0: chosen
  UseDense dense = UseDense::automatic;
  std::string keep_on = "host";  ///< where operands are before and C is after: host, gpu
  std::string peer = "none";
  std::string output;
  GridOption grid;
};

struct LobpcgProgramOptions {
  CommonOptions common;
  std::string matrix, overlap, generate;
  std::string interaction, orbits;  ///< of the shell model; empty: not given
  Index k = 5, block = 0;
  double tolerance = 0;
  std::string norm = "backward", variant = "orthonormal", preconditioner = "fom";
  int steps = 0, degree = 0;    ///< of FOM; of the Chebyshev polynomial; 0: not given
  std::optional<double> shift;  ///< none: chosen
  char storage = 'd', vectors_type = 'd';
  Index nd = 0;
  bool largest = false;
  Index iterations = 500;
  std::string peer = "none";
  std::string output, plot;
};

struct InfoProgramOptions {
  CommonOptions common;
  bool codelets = false;
};

struct TraceProgramOptions {
  std::string directory;
  std::string json, svg, chrome;
};

struct TuneProgramOptions {
  CommonOptions common;
  std::string output = "tuning.json";
  std::vector<Index> orders{1000};
  char type = 'd';
  bool vectors = true;
};

struct CalibrateProgramOptions {
  /// StarPU leaves the first run of each kind out, and trusts three.
  CommonOptions common = [] {
    CommonOptions usual;
    usual.repeat = 4;
    return usual;
  }();
  std::string family = "dense";
  std::vector<Index> orders;  ///< empty: those that the solver meets on this machine
  std::string types = "sdcz";
  std::string output;   ///< directory; empty: perfmodels/ and the machine's name
  double seconds = -1;  ///< no solve begins later; negative: no limit
};

/// The options of a command, bound to these variables; the record has them when what was chosen is there.
OptionTable option_table(EigenProgramOptions& options);
OptionTable option_table(MultiplyProgramOptions& options);
OptionTable option_table(LobpcgProgramOptions& options);
OptionTable option_table(InfoProgramOptions& options);
OptionTable option_table(TraceProgramOptions& options);
OptionTable option_table(TuneProgramOptions& options);
OptionTable option_table(CalibrateProgramOptions& options);

void add_eigen_options(CLI::App& command, EigenProgramOptions& options);
void add_multiply_options(CLI::App& command, MultiplyProgramOptions& options);
void add_bench_options(CLI::App& command, BenchProgramOptions& options);
void add_lobpcg_options(CLI::App& command, LobpcgProgramOptions& options);
void add_info_options(CLI::App& command, InfoProgramOptions& options);
void add_trace_options(CLI::App& command, TraceProgramOptions& options);
void add_tune_options(CLI::App& command, TuneProgramOptions& options);
void add_calibrate_options(CLI::App& command, CalibrateProgramOptions& options);

/// Refuses what no option means, before anything is done: a value that is empty, or that the record of the
/// run cannot hold. `words` are those of the command line, with the program's name. @throws InvalidArgument
void require_plain_words(const std::vector<std::string>& words);

/// Checks that concern more than one option. @throws UsageError, or InvalidArgument for files that cannot be
/// written
void validate(const EigenProgramOptions& options);
void validate(const MultiplyProgramOptions& options);
void validate(const LobpcgProgramOptions& options);

/// Those that all commands with a solve have.
Json to_json(CommonOptions options);

/// What `tessera bench` knows: the stages of a solve in their order, and others.
const std::vector<std::string>& bench_stages();

}  // namespace tessera::program
