// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "common_options.hpp"
#include "density_problem.hpp"
#include "option_table.hpp"

/// `bench_density`: density matrices of several systems, for each combination of a method and a filter.
namespace tessera::program {

struct DensityBenchOptions {
  CommonOptions common;
  std::vector<std::string> generate;  ///< kinds of systems; empty: files
  std::vector<Index> molecules, n;    ///< sizes of each kind; one of them is given
  std::string hamiltonian, overlap, block_sizes;
  std::vector<Index> blocks;
  double electrons = -1;  ///< of files; negative: not given
  double temperature = 0;
  std::vector<DensityMethod> methods{DensityMethod::automatic};
  std::vector<double> filters{1e-6};
  bool known_gap = false;
  char type = 'd';
  std::string keep_on = "host";  ///< location of H and S before: host, gpu
  std::string peer = "none";
  GridOption grid;
};

OptionTable option_table(DensityBenchOptions& options);
/// Checks that involve more than one option. @throws UsageError
void validate(const DensityBenchOptions& options);
/// The systems, in the order in which they are benchmarked.
std::vector<DensitySource> sources_of(const DensityBenchOptions& options);
/// @return the exit code
int run_density_bench(DensityBenchOptions& options);

}  // namespace tessera::program
