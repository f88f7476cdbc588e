// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "common_options.hpp"
#include "program_main.hpp"

/// `bench_stack`: stacks of small products through the codelet multiply_stack.
namespace tessera::program {

struct StackBenchOptions {
  CommonOptions common;
  std::string generate = "random";
  Index m = 23, n = -1, k = -1;  ///< A is m x k, B k x n; -1: m
  Index products = -1;           ///< of blocks; -1: 16005, of water 400000
  double occupation = 0.1;       ///< of water
  char type = 'd';
  std::string peer = "none";
};

ProgramText stack_bench_text();
void add_stack_bench_options(CLI::App& command, StackBenchOptions& options);
/// @return the exit code
int run_stack_bench(const StackBenchOptions& options);

}  // namespace tessera::program
