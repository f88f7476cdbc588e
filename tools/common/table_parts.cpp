// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "table_parts.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/matgen.hpp>

namespace tessera::program {

namespace {

template <class Kinds>
std::vector<std::string> names_of(const Kinds& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.emplace_back(kind.name);
  return names;
}

std::string parse_dense_generator(const std::string& kind) {
  require_known_kind(kind, names_of(generator_kinds()));
  try {
    MatrixGenerator<double>::make(kind, 1);
  } catch (const InvalidArgument& error) {
    throw UsageError("--generate", kind, "is not possible", error.expected());
  }
  return kind;
}

/// Checks only the name. The library checks the arguments when it creates the matrix, together with
/// the interaction.
std::string parse_sparse_generator(const std::string& kind) {
  require_known_kind(kind, names_of(sparse_generator_kinds()));
  return kind;
}

/// The names, with a colon where an argument may follow.
template <class Kinds, class Takes>
std::vector<std::string> kinds_to_type(const Kinds& kinds, Takes takes_argument) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.push_back(std::string(kind.name) + (takes_argument(kind) ? ":" : ""));
  return names;
}

Json show_kind(const std::string& kind) {
  return kind.empty() ? Json() : Json(kind);
}

}  // namespace

OptionEntry& add_dense_generator(OptionTable& table, std::string& generate) {
  std::string help = "Hermitian test matrix of this kind";
  for (const GeneratorKind& kind : generator_kinds())
    help += fmt::format("\n  {}{}: {}", kind.name, kind.takes_argument ? "[:ARG]" : "", kind.help);
  return table.form("--generate", generate, "KIND", parse_dense_generator, show_kind, std::move(help))
      .suggests(
          kinds_to_type(generator_kinds(), [](const GeneratorKind& kind) { return kind.takes_argument; }));
}

OptionEntry& add_sparse_generator(OptionTable& table, std::string& generate) {
  std::string help = "sparse symmetric matrix; KIND is one of";
  for (const SparseGeneratorKind& kind : sparse_generator_kinds())
    help +=
        fmt::format("\n  {}{}{}: {}", kind.name, kind.argument.empty() ? "" : ":", kind.argument, kind.help);
  return table.form("--generate", generate, "KIND[:ARG]", parse_sparse_generator, show_kind, std::move(help))
      .suggests(kinds_to_type(sparse_generator_kinds(),
                              [](const SparseGeneratorKind& kind) { return !kind.argument.empty(); }));
}

OptionEntry& add_precision(OptionTable& table, std::string name, char& precision, std::string help) {
  return table.choice(std::move(name), precision, {{"f", 'f'}, {"d", 'd'}}, std::move(help));
}

void add_sizes(OptionTable& table, Index& tile, Index& band, Index& update_width, Index& column_groups,
               bool& split_products) {
  table.integer("--tile", tile, 1, 1 << 20, "order of the tiles").chosen("from the machine", 0);
  table.integer("--band", band, 1, 4096, "width of the intermediate band")
      .chosen("from the order and the machine", 0);
  table.integer("--update-width", update_width, 1, 1 << 20, "columns per update of the trailing matrix")
      .chosen("from the order and the machine", 0);
  table
      .integer("--column-groups", column_groups, 1, 32,
               "groups of columns, one for a GPU, in which the matrix is reduced to a band; 1: tile by tile")
      .chosen("from the GPUs and the order", 0);
  table.yes_no("--split-products", split_products,
               "on GPUs, large products in faster ways: for the types s and c on the tensor cores of half "
               "precision, from operands split into two parts, for z by three real products instead of four");
}

void warm_up_with_gpu_peer(OptionTable& table, const std::string& peer, CommonOptions& common) {
  table.entry("--warmup").by_default("0; with a --peer of cuSOLVER 1, as the first use of a GPU is slow");
  table.then([&peer, &common](const OptionTable& parsed) {
    if (peer.starts_with("cusolver") && !parsed.given("--warmup")) common.warmup = 1;
  });
}

OptionEntry& add_type(OptionTable& table, char& type) {
  return table.choice("--type", type, {{"s", 's'}, {"d", 'd'}, {"c", 'c'}, {"z", 'z'}},
                      "scalar type: single or double, real (s, d) or complex (c, z)");
}

void add_shell_model(OptionTable& table, ShellModelArguments& arguments, const std::string& generate) {
  const auto of_shell_model = [&generate] { return generate.starts_with("shell:"); };
  table
      .text(
          "--interaction", arguments.interaction, "NAME|FILE",
          "of the shell model: random (with --seed), pairing, pairing-quadrupole, without a core also "
          "minnesota "
          "(kinetic energy without the centre of mass, and the Minnesota potential), or a file .int or .snt")
      .by_default("random")
      .suggests({"random", "pairing", "pairing-quadrupole", "minnesota"})
      .needs(of_shell_model, "--generate shell:...");
  table
      .text("--orbits", arguments.orbits, "FILE",
            "the file .sps that belongs to --interaction FILE and to shell:file:...")
      .reads(FileFormat::text)
      .needs(of_shell_model, "--generate shell:...");
  table
      .integer("--excitation", arguments.excitation, 0, 1000000,
               "truncation of the shell model: by how much the sum of all nucleons' weights (w of .sps; 2 n "
               "+ l of .snt) "
               "may exceed its least")
      .chosen("all states", -1)
      .needs(of_shell_model, "--generate shell:...");
  const auto without_core = [&generate] { return generate.starts_with("shell:nocore:"); };
  table
      .real("--hw", arguments.oscillator, real_above_0(),
            "hbar omega of the basis of shell:nocore:..., in MeV")
      .shown_as("MEV")
      .needs(without_core, "--generate shell:nocore:...");
  table
      .real("--lawson", arguments.lawson, real_from_0(),
            "beta (H - 3/2 hbar omega) of the centre of mass is added to shell:nocore:..., H that of the "
            "oscillator")
      .shown_as("BETA")
      .needs(without_core, "--generate shell:nocore:...");
  table.flag("--coulomb", arguments.coulomb, "e^2 / r between protons is added to the interaction minnesota")
      .needs([&arguments] { return arguments.interaction == "minnesota"; }, "--interaction minnesota");
}

void add_grid(OptionTable& table, GridOption& grid) {
  const auto parse = [](const std::string& text) {
    try {
      return parse_grid(text);
    } catch (const InvalidArgument& error) {
      throw UsageError(error.name(), error.value(), "is not a grid", error.expected());
    }
  };
  const auto show = [](const GridOption& g) { return fmt::format("{}x{}", g.rows, g.cols); };
  table.form("--grid", grid, "PxQ", parse, show, "process grid under mpirun")
      .chosen("as square as possible", "0x0");
}

void add_machine(OptionTable& table, CommonOptions& options) {
  table.group("Machine");
  table.integer("--cores", options.cores, 0, 4096, "CPU workers")
      .chosen(
          "every core; of more than 8, or with GPUs, one less for submitting, one for each GPU and one for "
          "messages between ranks; with GPUs, and without --hybrid, at most 14, or 4 with several ranks",
          -1);
  table.integer("--gpus", options.gpus, 0, 64, "GPUs").chosen("all that can be used", -1);
  table.flag("--hybrid", options.hybrid, "let CPUs take part in what GPUs can do")
      .by_default("GPUs do it alone")
      .needs([&options] { return options.gpus != 0; }, "GPUs, and so not with --gpus 0");
  // StarPU itself accepts any name, and uses its default policy for an unknown one.
  table
      .word("--scheduler", options.scheduler,
            {"lws", "ws", "eager", "prio", "random", "dm", "dmda", "dmdar", "dmdas", "dmdasd", "pheft",
             "heteroprio", "modular-eager", "modular-ws", "modular-heft", "modular-heft2"},
            "StarPU's scheduling policy")
      .shown_as("POLICY")
      .by_default("lws, with GPUs dmdas");
}

void add_runs(OptionTable& table, CommonOptions& options) {
  table.group("Runs");
  table.integer("--seed", options.seed, 0, std::numeric_limits<Index>::max(), "of everything that is random");
  table.integer("--repeat", options.repeat, 1, 100000, "timed runs, of which the median counts");
  table.integer("--warmup", options.warmup, 0, 100000, "runs before, which are not counted");
}

void add_check(OptionTable& table, CommonOptions& options) {
  table.group("Checks and output");
  table.choice("--check", options.check,
               {{"none", CheckPolicy::none}, {"last", CheckPolicy::last}, {"all", CheckPolicy::all}},
               "which runs are checked; a failed check is exit code 1");
}

void add_record(OptionTable& table, CommonOptions& options) {
  table.text("--json", options.json, "FILE|-",
             "write the record of the run there (- for stdout, then nothing else is)");
  table.flag("--quiet", options.quiet, "no report and no progress");
}

void add_trace(OptionTable& table, CommonOptions& options) {
  table.text("--trace", options.trace, "DIR", "record StarPU's trace there and summarise it");
}

void add_common(OptionTable& table, CommonOptions& options) {
  add_machine(table, options);
  add_runs(table, options);
  add_check(table, options);
  add_trace(table, options);
  add_record(table, options);
}

Json to_json(CommonOptions options) {
  OptionTable table("", "");
  add_common(table, options);
  return table.json();
}

void require_known_kind(const std::string& kind, const std::vector<std::string>& names) {
  const std::string name = kind.substr(0, kind.find(':'));
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw UsageError("--generate", kind, "is unknown", one_of(names) + did_you_mean(name, names));
}

}  // namespace tessera::program
