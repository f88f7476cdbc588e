// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "density_bench_options.hpp"

#include <fmt/format.h>

#include "density_check.hpp"
#include "table_parts.hpp"
#include "usage_error.hpp"

namespace tessera::program {

namespace {

/// A list of words, each of which stands for a value; in the record the words.
template <class T>
OptionEntry& add_words(OptionTable& table, const std::string& name, std::vector<T>& values,
                       const std::vector<std::pair<std::string, T>>& named, const std::string& shown,
                       std::string help) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : named) words.push_back(word);
  const auto parse = [name, named, words](const std::string& text) {
    std::vector<T> parsed;
    for (const std::string& part : split_list(text))
      parsed.push_back(named[find_word(name, part, words)].second);
    return parsed;
  };
  const auto show = [named](const std::vector<T>& of) {
    Json list = Json::array();
    for (const T& value : of)
      for (const auto& [word, meaning] : named)
        if (meaning == value) list.push_back(word);
    return list;
  };
  return table.form(name, values, shown, parse, show, std::move(help));
}

std::vector<std::pair<std::string, std::string>> named_kinds() {
  std::vector<std::pair<std::string, std::string>> named;
  for (const std::string& name : density_system_names()) named.emplace_back(name, name);
  return named;
}

void add_systems(OptionTable& table, DensityBenchOptions& options) {
  const auto generated = [&options] { return !options.generate.empty(); };
  const auto reads = [&options] { return options.generate.empty(); };
  const auto cuts_blocks = [&options] {
    return !options.generate.empty() || !options.hamiltonian.ends_with(".h5");
  };
  table.group("Problem");
  add_words(table, "--generate", options.generate, named_kinds(), "KIND[,KIND...]",
            "systems with a gap, in hartree, with --molecules or --n" + density_system_help());
  table.integers("--molecules", options.molecules, 1, largest_order, "their molecules, each a system")
      .chosen("none", Json::array())
      .needs(generated, "--generate");
  table
      .integers("--n", options.n, 1, largest_order,
                "their basis functions, rounded to whole molecules, each a system")
      .chosen("none", Json::array())
      .needs(generated, "--generate");
  table
      .text("--hamiltonian", options.hamiltonian, "FILE",
            "H of a file in place of generated systems, as of `tessera density`")
      .at_place("H")
      .reads(FileFormat::matrix_market_or_hdf5);
  table.text("--overlap", options.overlap, "FILE", "S")
      .at_place("S")
      .by_default("the identity")
      .reads(FileFormat::matrix_market_or_hdf5)
      .needs(reads, "--hamiltonian, as generated systems have their own");
  table.text("--block-sizes", options.block_sizes, "FILE", "block sizes of Matrix Market files")
      .by_default("--blocks")
      .reads(FileFormat::text)
      .needs([reads, cuts_blocks] { return reads() && cuts_blocks(); },
             "--hamiltonian and Matrix Market files, as HDF5 files have their own");
  table
      .integers("--blocks", options.blocks, 1, 4096,
                "block sizes of a molecule, as in 13,5,5 or 4,1,1; those of files are repeated")
      .by_default("those of the kind; of files 23")
      .needs([&options, cuts_blocks] { return cuts_blocks() && options.block_sizes.empty(); },
             "--generate or Matrix Market files, as HDF5 files have their own, and without --block-sizes");
  table.real("--electrons", options.electrons, real_from_0(), "electrons, two in an occupied state")
      .shown_as("N")
      .chosen("the generator's; a file needs it", -1.0)
      .needs(reads, "--hamiltonian, as generated systems have their own");
  table
      .real("--temperature", options.temperature, real_from_0(),
            "kT, in the unit of H, as of `tessera density`")
      .shown_as("KT");
  add_type(table, options.type);
}

}  // namespace

OptionTable option_table(DensityBenchOptions& options) {
  OptionTable table("bench_density", "density matrices of several systems, by several methods and filters");
  add_systems(table, options);
  table.group("Method");
  std::string names;
  for (const auto& [name, method] : density_methods()) names += (names.empty() ? "" : ", ") + name;
  add_words(table, "--methods", options.methods, density_methods(), "NAME[,NAME...]",
            "each in cases of its own: " + names);
  table
      .reals("--filter", options.filters, real_from_0(),
             "filters of all products, each in cases of its own; 0: none")
      .shown_as("EPS[,EPS...]");
  table
      .yes_no("--known-gap", options.known_gap,
              "begin with the bounds of the gap that the generator guarantees, as a later computation would "
              "with those of a former one")
      .needs([&options] { return !options.generate.empty() && options.temperature == 0; },
             "--generate, and temperature 0");
  add_machine(table, options.common);
  add_grid(table, options.grid);
  table.word("--keep-on", options.keep_on, {"host", "gpu"},
             "where H and S are when the clock starts: in host memory only, or on the GPU already");
  add_runs(table, options.common);
  warm_up_with_gpu_peer(table, options.peer, options.common);
  add_check(table, options.common);
  table.entry("--check").help += fmt::format(". {}", density_gates);
  table.word("--peer", options.peer, {"none", "dense", "lapack", "cusolver"},
             "once a round for each system: our --method dense, or all eigenpairs of the dense matrices by "
             "LAPACK or, on the first GPU, by cuSOLVER (sygvd); with the energies' difference");
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("--generate water,amorphous,tio2 --n 2300 --filter 1e-5,1e-6 --repeat 3",
                "three systems with two filters");
  table.example("--generate water --molecules 100,200,400 --methods trs4,tc2,sign --peer dense",
                "what a molecule costs, beside eigenpairs");
  table.example("H.mtx.gz S.mtx.gz --blocks 13,5,5 --electrons 256 --json density.json",
                "matrices of files, with a record");
  return table;
}

void validate(const DensityBenchOptions& options) {
  const bool generated = !options.generate.empty();
  if (generated != options.hamiltonian.empty())
    throw UsageError("--hamiltonian", options.hamiltonian, "stands beside --generate",
                     "either --hamiltonian FILE or --generate KIND with --molecules or --n");
  if (generated && options.molecules.empty() == options.n.empty())
    throw UsageError("--molecules", "", "", "the sizes of the generated systems, or --n, one of them");
  if (!generated && options.electrons < 0) throw UsageError("--electrons", "", "", "the number of electrons");
  const bool warm = options.temperature > 0;
  for (const DensityMethod method : options.methods) {
    const bool knows = method == DensityMethod::automatic || method == DensityMethod::dense ||
                       (method == DensityMethod::fermi) == warm;
    if (!knows)
      throw UsageError(
          "--methods", to_string(method), "is not possible",
          warm ? "auto, fermi or dense with --temperature" : "another one without --temperature");
  }
  if (warm && (options.peer == "lapack" || options.peer == "cusolver"))
    throw UsageError("--peer", options.peer, "is not possible", "none or dense with --temperature");
  for (const DensitySource& source : sources_of(options))
    if (!source.generate.empty()) system_options(source);
}

std::vector<DensitySource> sources_of(const DensityBenchOptions& options) {
  const bool usual = options.grid.rows == 0;
  if (options.generate.empty())
    return {{.hamiltonian = options.hamiltonian, .overlap = options.overlap, .usual_layout = usual}};
  std::vector<DensitySource> sources;
  const bool by_molecules = !options.molecules.empty();
  for (const std::string& kind : options.generate)
    for (const Index size : by_molecules ? options.molecules : options.n)
      sources.push_back({.generate = kind,
                         .blocks = options.blocks,
                         .molecules = by_molecules ? size : -1,
                         .n = by_molecules ? -1 : size,
                         .seed = options.common.seed,
                         .usual_layout = usual});
  return sources;
}

}  // namespace tessera::program
