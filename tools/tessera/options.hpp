// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/codelets/block_sparse/symbolic/dense_choice.hpp>
#include <tessera/density_matrix.hpp>
#include <tessera/multiply.hpp>
#include <tessera/types.hpp>

#include "batch_settings.hpp"
#include "common_options.hpp"
#include "option_table.hpp"
#include "shell_model_arguments.hpp"

/// The options of the commands. The parser rejects bad values before any work starts.
namespace tessera::program {
using namespace detail;

struct EigenProgramOptions {
  CommonOptions common;
  std::string matrix, overlap, generate;
  Index n = -1;
  double scale = 1;
  char type = 0;  ///< s, d, c, z; 0: as in the file, d for a generated matrix
  std::string solver = "auto";
  RangeOption range;
  bool vectors = true;
  Index tile = 0, band = 0, update_width = 0, column_groups = 0;
  bool split_products = true;
  std::string peer = "none";
  std::string tuning;  ///< file written by `tessera tune`
  std::string output;
  Index electrons = -1;
  GridOption grid;
};

struct BatchProgramOptions : BatchSettings {
  BatchProgramOptions() { type = 0; }  // as in the files, d for generated matrices
  std::vector<std::string> matrices;
  Index n = -1, count = -1;
  std::string output;
};

struct MultiplyProgramOptions {
  CommonOptions common;
  std::string matrix_a, matrix_b, matrix_c, block_sizes, generate;
  std::vector<Index> blocks;  ///< empty: 23
  Index n = -1;
  double occupation = -1;  ///< -1: 0.1
  double filter = 0;
  char type = 0;      ///< s, d, c, z; 0: as in the file, d for a generated matrix
  char symmetry = 0;  ///< N, S, A, H: storage of generated A and B; 0: N
  Op op_a = Op::none, op_b = Op::none;
  double alpha = 1, beta = 0;
  bool retain_sparsity = false;
  Index panel = 0;  ///< elements; 0: the program chooses
  UseDense dense = UseDense::automatic;
  ProductFilterRule filter_rule = ProductFilterRule::exact;
  bool reuse_plan = true;
  std::string permute = "none";  ///< how blocks are dealt to ranks: in runs, or at random
  std::string keep_on = "host";  ///< location of the operands before and of C after: host, gpu
  std::string peer = "none";
  std::string output;
  GridOption grid;
};

struct DensityProgramOptions {
  CommonOptions common;
  std::vector<std::string> hamiltonians;  ///< several: k-points or spin channels
  std::vector<std::string> overlaps;      ///< one for all or one for each; empty: the identity
  std::string block_sizes, generate;
  std::vector<Index> blocks;                   ///< empty: those of the kind of system; of files 23
  Index molecules = -1, n = -1;                ///< size of the generated system; one of them is given
  std::optional<double> gap, decay, coupling;  ///< none: the generator's
  char type = 0;                               ///< s, d, c, z; 0: as in the file, d for a generated system
  std::vector<double> electrons;               ///< one for all or one for each; empty: the generator's
  double occupation = 2;
  std::vector<double> weights;  ///< of several Hamiltonians; empty: 1 each
  bool common_mu = true;        ///< of several Hamiltonians at a temperature
  std::optional<double> mu;
  double temperature = 0;
  std::optional<GapBounds> gap_bounds;
  std::string restart, save;    ///< files of a DensityState
  std::optional<double> moved;  ///< of the states since the restart's; none: a quarter of its gap
  DensityMethod method = DensityMethod::automatic;
  double filter = 1e-6, tolerance = 0;  ///< tolerance 0: from the filter
  Index iterations = 100;
  int sign_order = 2, factor_order = 3;
  Index group = 0;               ///< 0: chosen
  Index panel = 0;               ///< elements; 0: the program chooses
  std::string keep_on = "host";  ///< location of H and S before: host, gpu
  std::string peer = "none";
  std::string output, plot;
  GridOption grid;
};

struct LobpcgProgramOptions {
  CommonOptions common;
  std::string matrix, overlap, generate;
  ShellModelArguments shell_model;
  bool dimension = false;  ///< count the rows, and make no matrix
  Index k = 5, block = 0, basis = 0;
  double tolerance = 0;
  std::string method = "auto", norm = "backward", variant = "orthonormal", preconditioner = "auto";
  int steps = 0, degree = 0;    ///< of FOM; of the Chebyshev polynomial; 0: not given
  std::optional<double> shift;  ///< none: the program chooses
  char storage = 'd', vectors_type = 'd';
  Index nd = 0;
  bool largest = false;
  Index iterations = 500;
  std::string peer = "none";
  std::string output, plot;
  bool quantum_numbers = true;  ///< of a shell model
  std::string levels;
  std::string product = "auto";
  std::string save_matrix, save_overlap;  ///< HDF5 files of CsbMatrix::save
  std::string checkpoint, resume;         ///< files of LobpcgCheckpoint
  Index checkpoint_iterations = 0;
  double checkpoint_seconds = 600;
};

struct InfoProgramOptions {
  CommonOptions common;
  bool codelets = false;
};

struct TraceProgramOptions {
  std::string directory;
  std::string json, svg, chrome;
};

/// Products of m x k by k x n blocks.
struct StackSizes {
  Index m, n, k;
};
/// `23x23x23`, `5x13x7`: m, n, k.
std::vector<std::string> stack_words(const std::vector<StackSizes>& stacks);

struct TuneProgramOptions {
  CommonOptions common;
  std::vector<StackSizes> stacks;  ///< not empty: kernels of these are tuned, and no solver
  Index plans = 100;               ///< sets of parameters for each
  std::string output = "tuning.json";
  std::vector<Index> orders{1000};
  char type = 'd';
  bool vectors = true;
};

struct CalibrateProgramOptions {
  /// StarPU discards the first measurement of each kind, and uses a model only after three more.
  CommonOptions common = [] {
    CommonOptions usual;
    usual.repeat = 4;
    return usual;
  }();
  std::string family = "dense";
  std::vector<Index> orders;  ///< empty: typical orders for the solver on this machine
  std::string types = "sdcz";
  std::string output;   ///< directory; empty: perfmodels/ and the machine's name
  double seconds = -1;  ///< no solve starts later; negative: no limit
};

/// The options of a command, bound to these variables. Their JSON contains the values that the
/// program chose, if these are stored in the variables first.
OptionTable option_table(EigenProgramOptions& options);
OptionTable option_table(BatchProgramOptions& options);
OptionTable option_table(MultiplyProgramOptions& options);
OptionTable option_table(DensityProgramOptions& options);
OptionTable option_table(LobpcgProgramOptions& options);
OptionTable option_table(InfoProgramOptions& options);
OptionTable option_table(TraceProgramOptions& options);
OptionTable option_table(TuneProgramOptions& options);
OptionTable option_table(CalibrateProgramOptions& options);

struct SparseSource;
SparseSource source_of(const LobpcgProgramOptions& options);
/// Neither B nor a preconditioner is asked for.
bool is_plain(const LobpcgProgramOptions& options);
struct DensitySource;
/// The matrices of k-point (or spin channel) k.
DensitySource source_of(const DensityProgramOptions& options, std::size_t k = 0);
/// The file for its density matrix.
std::string output_of(const DensityProgramOptions& options, std::size_t k);

/// Checks that involve more than one option.
/// @throws UsageError, or InvalidArgument for files that cannot be written
void validate(const EigenProgramOptions& options);
void validate(const BatchProgramOptions& options);
void validate(const MultiplyProgramOptions& options);
void validate(const DensityProgramOptions& options);
void validate(const LobpcgProgramOptions& options);

// The commands; each one returns the exit code.
int run_eigen(EigenProgramOptions& options);
int run_batch(BatchProgramOptions& options);
int run_multiply(MultiplyProgramOptions& options);
int run_density(DensityProgramOptions& options);
/// Of several Hamiltonians.
int run_density_batch(const DensityProgramOptions& options);
int run_lobpcg(LobpcgProgramOptions& options);
int run_info(const InfoProgramOptions& options);
int run_trace(const TraceProgramOptions& options);
int run_tune(const TuneProgramOptions& options);
int run_tune_stacks(const TuneProgramOptions& options);
int run_calibrate(const CalibrateProgramOptions& options);

}  // namespace tessera::program
