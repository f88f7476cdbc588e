// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "common_options.hpp"
#include "option_table.hpp"

/// `bench_products`: complete products of block-sparse matrices, for each combination of a block
/// size and an occupation.
namespace tessera::program {

struct ProductsBenchOptions {
  CommonOptions common;
  std::string generate = "random";
  Index n = 2300;
  std::vector<Index> blocks{5, 13, 23};
  std::vector<double> occupations{0.1};
  double filter = 0;
  char type = 'd';
  std::string peer = "none";
  GridOption grid;
};

OptionTable option_table(ProductsBenchOptions& options);
/// Checks that involve more than one option. @throws UsageError
void validate(const ProductsBenchOptions& options);
/// @return the exit code
int run_products_bench(ProductsBenchOptions& options);

}  // namespace tessera::program
