// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "common_options.hpp"
#include "option_table.hpp"

/// `bench_dense`: single stages of the dense eigensolver, and its kernels.
namespace tessera::program {

struct DenseBenchOptions {
  CommonOptions common;
  std::string stage;
  std::string generate = "random";
  Index n = 2000;
  Index vectors = -1;  ///< number of back-transformed columns; -1: n
  char type = 'd';
  Index tile = 0, band = 0, update_width = 0, column_groups = 0;
  bool split_products = true;
  std::string kernel = "blocked";  ///< of back_tridiagonal: blocked or elpa
  std::string peer = "none";
  GridOption grid;
};

/// The stages of a solve in their order, then other stages.
const std::vector<std::string>& bench_stages();

OptionTable option_table(DenseBenchOptions& options);
/// Checks that involve more than one option. @throws UsageError
void validate(const DenseBenchOptions& options);
/// @return the exit code
int run_dense_bench(DenseBenchOptions& options);

}  // namespace tessera::program
