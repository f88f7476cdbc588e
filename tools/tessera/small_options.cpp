// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_choice.hpp>

#include "options.hpp"
#include "table_parts.hpp"

/// The options of info, trace, tune and calibrate.
namespace tessera::program {

OptionTable option_table(InfoProgramOptions& options) {
  OptionTable table("tessera info", "machine, versions, codelets");
  add_machine(table, options.common);
  table.group("Output");
  table.flag("--codelets", options.codelets, "list the codelets with their implementations and models");
  add_record(table, options.common);
  table.example("--codelets", "which tasks have a body for GPUs");
  table.example("--gpus 0 --json -", "the machine without its GPUs, as a record");
  return table;
}

OptionTable option_table(TraceProgramOptions& options) {
  OptionTable table("tessera trace", "summarise a trace left by --trace");
  table.group("Input");
  table.text("directory", options.directory, "DIR", "where a command with --trace DIR has left its trace")
      .required();
  table.group("Output");
  table.text("--json", options.json, "FILE|-",
             "write the summary there (- for stdout, then nothing else is)");
  table.text("--chrome", options.chrome, "FILE", "write the tasks as Chrome/Perfetto trace events");
  table.text("--svg", options.svg, "FILE", "draw the workers' Gantt chart");
  table.example("trace", "a table of the codelets and workers of the trace in the folder trace");
  table.example("trace --svg gantt.svg --chrome events.json", "drawn, and for a browser");
  return table;
}

std::vector<std::string> stack_words(const std::vector<StackSizes>& stacks) {
  std::vector<std::string> words;
  for (const StackSizes& sizes : stacks) words.push_back(fmt::format("{}x{}x{}", sizes.m, sizes.n, sizes.k));
  return words;
}

namespace {

/// @throws UsageError
StackSizes parse_stack(const std::string& word) {
  std::array<Index, 3> sizes{};
  std::size_t begin = 0;
  for (Index& size : sizes) {
    const bool last = &size == &sizes.back();
    const std::size_t end = last ? word.size() : std::min(word.find('x', begin), word.size());
    if (begin > word.size() ||
        !problem_of_integer(word.substr(begin, end - begin), 1, device::largest_own_size, size).empty())
      throw UsageError(
          "--stack", word, "is not possible",
          fmt::format("MxNxK with sizes from 1 to {}, such as 23x23x23", device::largest_own_size));
    begin = end + 1;
  }
  return {sizes[0], sizes[1], sizes[2]};
}

std::vector<StackSizes> parse_stacks(const std::string& text) {
  std::vector<StackSizes> stacks;
  for (const std::string& word : split_list(text)) stacks.push_back(parse_stack(word));
  return stacks;
}

}  // namespace

OptionTable option_table(TuneProgramOptions& options) {
  OptionTable table("tessera tune", "find the fastest solver and sizes of `eigen`, or parameters of kernels");
  const auto of_solvers = [&options] { return options.stacks.empty(); };
  const std::string without_stack = "solvers to tune, and so not with --stack";
  table.group("Problem");
  table.integers("--n", options.orders, 1, largest_order, "orders to tune for")
      .needs(of_solvers, without_stack);
  table
      .form("--stack", options.stacks, "MxNxK,...", parse_stacks, stack_words,
            "instead of solvers: tune the GPU kernels of products of m x k by k x n blocks, on stacks of "
            "300000 and 16005 of them; what is found is kept for the model of the GPU, and all products on "
            "such a GPU use it from then on")
      .chosen("none", Json::array());
  table
      .integer("--plans", options.plans, 2, 100000,
               "sets of parameters to try for each shape, those that are most like the usual one")
      .needs([&options] { return !options.stacks.empty(); }, "--stack");
  add_type(table, options.type);
  table.yes_no("--vectors", options.vectors, "tune for eigenvectors too").needs(of_solvers, without_stack);
  add_machine(table, options.common);
  add_runs(table, options.common);
  for (const char* runs : {"--repeat", "--warmup"}) table.entry(runs).needs(of_solvers, without_stack);
  table.group("Output");
  table.text("--output", options.output, "FILE", "file to which the result is added")
      .needs(of_solvers, without_stack);
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("--n 1000,4000 --repeat 3", "into tuning.json, which `tessera eigen --tuning` takes");
  table.example("--n 2000 --type z --vectors no --output values.json", "of complex matrices, values alone");
  table.example("--stack 23x23x23,13x5x13 --type d", "kernels of two shapes, for this machine's first GPU");
  return table;
}

OptionTable option_table(CalibrateProgramOptions& options) {
  OptionTable table("tessera calibrate", "measure StarPU's performance models");
  const auto parse_types = [](const std::string& text) {
    if (text.find_first_not_of("sdcz") != std::string::npos)
      throw UsageError("--types", text, "has other letters", "some of the letters sdcz");
    return text;
  };
  table.group("Problem");
  table.word("--family", options.family, {"dense"}, "codelets to measure");
  table.integers("--sizes", options.orders, 1, 1 << 20, "orders to solve")
      .chosen(
          "1024,2048,4096,8192 on GPUs, on several also 16384, and 500,1000,2000 on CPUs; the CPUs of a "
          "machine with GPUs solve none above 2000",
          Json::array());
  table.form(
      "--types", options.types, "TYPES", parse_types, [](const std::string& types) { return types; },
      "scalar types, some of sdcz");
  add_machine(table, options.common);
  add_runs(table, options.common);
  table
      .real("--seconds", options.seconds, real_from_0(),
            "begin no solve later than that, on all GPUs, one, or the CPUs, which come in this order")
      .chosen("no limit", -1.0);
  table.group("Output");
  table.text("--output", options.output, "DIR", "directory for the set of models, replaced if it is one")
      .by_default("perfmodels/MACHINE");
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("--output perfmodels/mine", "of all codelets and types, at the orders that the solver meets");
  table.example("--sizes 500,1000 --types d --seconds 60", "in a minute or so");
  return table;
}

}  // namespace tessera::program
