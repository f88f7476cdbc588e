// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "batch_options.hpp"
#include "dense_options.hpp"
#include "density_bench_options.hpp"
#include "options.hpp"
#include "process.hpp"
#include "products_options.hpp"
#include "spmm_options.hpp"
#include "stack_options.hpp"

/// The tables of options of all commands and benchmarks.
namespace tessera::test {

using namespace tessera::program;

template <class Options>
OptionTable table_of_defaults() {
  static Options options;
  return option_table(options);
}

template <class Options>
void parse(const std::vector<std::string>& words) {
  CLI::App app;
  Options options;
  parse_by_table(app, option_table(options));
  app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  if constexpr (requires { validate(options); }) validate(options);
}

/// A command of `tessera` or a benchmark.
struct Command {
  OptionTable table;  ///< bound to variables that outlive it
  std::function<void(const std::vector<std::string>&)>
      parser;  ///< takes the name of the command and its arguments
};

template <class Options>
Command command_of() {
  return {table_of_defaults<Options>(), parse<Options>};
}

/// All commands and benchmarks, by the first word that a test writes.
inline const std::map<std::string, Command>& commands() {
  static const std::map<std::string, Command> all{{"eigen", command_of<EigenProgramOptions>()},
                                                  {"batch", command_of<BatchProgramOptions>()},
                                                  {"multiply", command_of<MultiplyProgramOptions>()},
                                                  {"density", command_of<DensityProgramOptions>()},
                                                  {"lobpcg", command_of<LobpcgProgramOptions>()},
                                                  {"info", command_of<InfoProgramOptions>()},
                                                  {"trace", command_of<TraceProgramOptions>()},
                                                  {"tune", command_of<TuneProgramOptions>()},
                                                  {"calibrate", command_of<CalibrateProgramOptions>()},
                                                  {"bench_dense", command_of<DenseBenchOptions>()},
                                                  {"bench_stack", command_of<StackBenchOptions>()},
                                                  {"bench_spmm", command_of<SpmmBenchOptions>()},
                                                  {"bench_products", command_of<ProductsBenchOptions>()},
                                                  {"bench_density", command_of<DensityBenchOptions>()},
                                                  {"bench_batch", command_of<BatchBenchOptions>()}};
  return all;
}

}  // namespace tessera::test
