// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "saved_problem.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include <tessera/runtime/io/input_file.hpp>
#include <tessera/saved_rows.hpp>
#include <tessera/shell_model.hpp>

#include "output_files.hpp"
#include "usage_error.hpp"

namespace tessera::program {
using namespace detail;

SparseGeneratorOptions generator_options(const SparseSource& source) {
  const ShellModelArguments& arguments = source.shell_model_arguments;
  return {.seed = source.seed,
          .interaction = source.used_interaction(),
          .orbits = arguments.orbits,
          .excitation =
              arguments.excitation < 0 ? std::nullopt : std::optional(static_cast<int>(arguments.excitation)),
          .oscillator = arguments.oscillator,
          .lawson = arguments.lawson,
          .coulomb = arguments.coulomb};
}

namespace {

bool names_file(const std::string& interaction) {
  return interaction.ends_with(".int") || interaction.ends_with(".snt") ||
         interaction.find_first_of("./") != std::string::npos;
}

/// JSON has UTF-8 only.
std::string utf8_of_file(const std::string& path) {
  const std::string text = InputFile(path).read();
  try {
    return Json(text).dump().empty() ? "" : text;
  } catch (const Json::exception&) {
    throw InputError(path, 0, "is no UTF-8 text, and cannot be saved with the matrix");
  }
}

/// Whether the row has the same entries in both matrices, but for rounding to float.
bool same_row(const SymmetricRows& a, const SymmetricRows& b, Index row) {
  const auto list = [&](const SymmetricRows& of) {
    std::vector<SparseEntry> entries;
    of.entries(row, row + 1, 0, row + 1, entries);
    std::map<std::uint32_t, double> by_column;
    for (const SparseEntry& entry : entries) by_column[entry.column] = entry.value;
    return by_column;
  };
  const auto of_a = list(a), of_b = list(b);
  const auto same = [](const auto& x, const auto& y) {
    return x.first == y.first && std::abs(x.second - y.second) <= 1e-6 * std::abs(y.second) + 1e-12;
  };
  return of_a.size() == of_b.size() && std::equal(of_a.begin(), of_a.end(), of_b.begin(), same);
}

void require_fitting(const std::string& path, const SymmetricRows& saved, const SymmetricRows& made) {
  const auto tiles = [](const SymmetricRows& rows) {
    return std::vector<Index>(rows.tiles().begin(), rows.tiles().end());
  };
  bool fits = !saved.hermitian() && saved.order() == made.order() && tiles(saved) == tiles(made);
  constexpr Index samples = 8;
  for (Index k = 0; fits && k < samples; ++k)
    fits = same_row(saved, made, (made.order() - 1) * k / (samples - 1));
  if (!fits) throw InputError(path, 0, "is not the matrix of the shell model that it describes");
}

}  // namespace

std::string description_of(const SparseSource& source, const SparseProblem& problem) {
  if (source.saved()) return dynamic_cast<const SavedRows&>(*problem.a).description();
  Json json = Json::object();
  if (!source.of_shell_model()) {
    json[source.matrix.empty() ? "kind" : "matrix"] = source.name();
    return json.dump();
  }
  const SparseGeneratorOptions options = generator_options(source);
  json["kind"] = source.generate;
  json["seed"] = options.seed;
  if (options.excitation) json["excitation"] = *options.excitation;
  if (source.generate.starts_with("shell:nocore:")) {
    json["oscillator"] = options.oscillator;
    json["lawson"] = options.lawson;
    json["coulomb"] = options.coulomb;
  }
  json["interaction"] = options.interaction;
  if (names_file(options.interaction)) json["interaction_text"] = utf8_of_file(options.interaction);
  if (options.orbits.empty()) return json.dump();
  json["orbits"] = options.orbits;
  json["orbits_text"] = utf8_of_file(options.orbits);
  return json.dump();
}

void restore_shell_model(const std::string& path, SparseProblem& problem) {
  const std::string& description = dynamic_cast<const SavedRows&>(*problem.a).description();
  const Json json = Json::parse(description, nullptr, false);
  if (!json.is_object() || !json.contains("kind") || !json["kind"].is_string()) return;
  const auto kind = json["kind"].get<std::string>();
  if (!kind.starts_with("shell:")) return;
  const auto optional_text = [&](const char* name) -> std::optional<std::string> {
    if (!json.contains(name)) return std::nullopt;
    return json.at(name).get<std::string>();
  };
  try {
    SparseGeneratorOptions options;
    options.seed = json.value("seed", std::uint64_t(1));
    if (json.contains("excitation")) options.excitation = json.at("excitation").get<int>();
    options.oscillator = json.value("oscillator", options.oscillator);
    options.lawson = json.value("lawson", options.lawson);
    options.coulomb = json.value("coulomb", options.coulomb);
    options.interaction = optional_text("interaction").value_or("random");
    options.orbits = optional_text("orbits").value_or("");
    const ShellModelTexts texts{optional_text("interaction_text"), optional_text("orbits_text")};
    // No file of this machine takes the place of one that the matrix was made from.
    if ((names_file(options.interaction) && !texts.interaction) || (!options.orbits.empty() && !texts.orbits))
      throw InputError(path, 0, "names files of a shell model whose texts it does not have");
    problem.shell_model = make_shell_model(kind, options, texts);
    problem.kind = kind;
    problem.interaction = options.interaction;
  } catch (const Json::exception&) {
    throw InputError(path, 0, "has a damaged description of a shell model");
  } catch (const InvalidArgument& error) {
    throw InputError(path, 0,
                     fmt::format("has a description of a shell model that cannot be: {}", error.what()));
  }
  require_fitting(path, *problem.a, *problem.shell_model.a);
  problem.spectrum = problem.shell_model.spectrum;
}

void require_matrix_writable(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  if (!path.ends_with(".h5"))
    throw UsageError(option, path, "is not possible", "a file whose name ends in .h5");
  require_writable(option, path);
}

namespace {

std::pair<std::string, Json> rate_of(double bytes, double seconds) {
  return {fmt::format("{} in {}, {:.3g} GB/s", format_bytes(bytes), format_seconds(seconds),
                      bytes / seconds * 1e-9),
          {{"bytes", bytes}, {"seconds", seconds}, {"bytes_per_second", bytes / seconds}}};
}

}  // namespace

void describe_files(Report& report, const SparseSource& source, const SymmetricRows& rows,
                    double build_seconds, const std::vector<SavedFile>& saved) {
  if (const auto* const from = dynamic_cast<const SavedRows*>(&rows); from && source.saved()) {
    const double entry = from->value_bytes() + 2 * sizeof(std::uint16_t);
    auto [line, json] = rate_of(entry * static_cast<double>(from->stored_entries()), build_seconds);
    report.lines.emplace_back("read", std::move(line));
    report.options["read"] = std::move(json);
  }
  for (const SavedFile& file : saved) {
    auto [line, json] = rate_of(file.bytes, file.seconds);
    report.lines.emplace_back("saved", fmt::format("{}, {}", file.path, line));
    json["file"] = file.path;
    report.options["saved"].push_back(std::move(json));
  }
}

}  // namespace tessera::program
