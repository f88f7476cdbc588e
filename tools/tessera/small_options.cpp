// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
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

OptionTable option_table(TuneProgramOptions& options) {
  OptionTable table("tessera tune", "find the fastest solver and sizes of `tessera eigen`");
  table.group("Problem");
  table.integers("--n", options.orders, 1, largest_order, "orders to tune for");
  add_type(table, options.type);
  table.yes_no("--vectors", options.vectors, "tune for eigenvectors too");
  add_machine(table, options.common);
  add_runs(table, options.common);
  table.group("Output");
  table.text("--output", options.output, "FILE", "file to which the result is added");
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("--n 1000,4000 --repeat 3", "into tuning.json, which `tessera eigen --tuning` takes");
  table.example("--n 2000 --type z --vectors no --output values.json", "of complex matrices, values alone");
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
