// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "common_options.hpp"
#include "option_table.hpp"

/// `bench_stack`: stacks of small products, computed by the codelet multiply_stack.
namespace tessera::program {

struct StackBenchOptions {
  CommonOptions common;
  std::string generate = "random";
  Index m = 23, n = -1, k = -1;  ///< A is m x k, B k x n; -1: m
  Index products = -1;           ///< of blocks; -1: 16005, or 400000 for water
  double occupation = 0.1;       ///< for water
  char type = 'd';
  std::string peer = "none";
};

OptionTable option_table(StackBenchOptions& options);
/// @return the exit code
int run_stack_bench(StackBenchOptions& options);

}  // namespace tessera::program
