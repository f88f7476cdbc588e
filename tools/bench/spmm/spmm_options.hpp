// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "common_options.hpp"
#include "option_table.hpp"
#include "shell_model_arguments.hpp"

/// `bench_spmm`: products of a half-stored sparse symmetric matrix with blocks of vectors.
namespace tessera::program {

struct SpmmBenchOptions {
  CommonOptions common;
  std::string matrix, generate;  ///< a file, or a kind of test matrix
  ShellModelArguments shell_model;
  Index columns = 8;
  char storage = 'd', type = 'd';  ///< of the matrix's values (f, d), and of the vectors (s, d)
  Index nd = 0, segments = 0;      ///< groups of rows, and segments of each group
  std::string peer = "none";
  std::string histogram;              ///< SVG file of the tiles' sizes; empty: none
  std::vector<std::string> speedups;  ///< records of other runs, which are compared: no product then
  std::string plot;                   ///< SVG file of the speedups
};

OptionTable option_table(SpmmBenchOptions& options);
struct SparseSource;
SparseSource source_of(const SpmmBenchOptions& options);
/// Checks that involve more than one option. @throws UsageError
void validate(const SpmmBenchOptions& options);
/// @return the exit code
int run_spmm_bench(SpmmBenchOptions& options);

}  // namespace tessera::program
