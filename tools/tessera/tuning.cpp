// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tuning.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <tessera/error.hpp>
#include <tessera/runtime/io/input_file.hpp>
#include <tessera/runtime/output_file.hpp>

namespace tessera::program {
using namespace detail;

Json to_json(const TuningEntry& entry) {
  return {{"n", entry.n},
          {"type", std::string(1, entry.type)},
          {"vectors", entry.vectors},
          {"workers", entry.workers},
          {"solver", std::string(to_string(entry.solver))},
          {"tile", entry.tile},
          {"band", entry.band},
          {"update_width", entry.update_width},
          {"seconds", entry.seconds}};
}

namespace {

/// Reads an integer, and rejects other numbers, which the JSON library would convert to integers.
Index integer(const Json& json, const char* name, Index least, Index most) {
  const Json& value = json.at(name);
  if (!value.is_number_integer() || value < least || value > most) throw Error(name);
  return value.get<Index>();
}

TuningEntry entry_from(const Json& json) {
  constexpr Index largest_order = Index{1} << 40, largest_size = Index{1} << 20;
  TuningEntry entry;
  entry.n = integer(json, "n", 1, largest_order);
  const std::string type = json.at("type").get<std::string>();
  if (type != "s" && type != "d" && type != "c" && type != "z") throw Error("type");
  entry.type = type.front();
  entry.vectors = json.at("vectors").get<bool>();
  entry.workers = static_cast<int>(integer(json, "workers", 0, largest_size));
  entry.solver = solver_from_string(json.at("solver").get<std::string>());
  entry.tile = integer(json, "tile", 0, largest_size);
  entry.band = integer(json, "band", 0, largest_size);
  entry.update_width = integer(json, "update_width", 0, largest_size);
  entry.seconds = json.at("seconds").get<double>();
  if (!std::isfinite(entry.seconds) || entry.seconds < 0) throw Error("seconds");
  return entry;
}

}  // namespace

std::vector<TuningEntry> read_tuning(const std::string& file) {
  const std::string text = InputFile(file).read();
  std::vector<TuningEntry> entries;
  try {
    const Json document = Json::parse(text);
    const Json& list = document.at("tuning");
    if (!list.is_array()) throw Error("tuning");
    for (const Json& json : list) entries.push_back(entry_from(json));
  } catch (const std::exception&) {
    throw InputError(file, 0, "is not a file that `tessera tune` has written");
  }
  return entries;
}

void write_tuning(const std::string& file, const std::vector<TuningEntry>& added) {
  std::vector<TuningEntry> entries;
  if (std::filesystem::exists(file)) entries = read_tuning(file);
  for (const TuningEntry& entry : added) {
    std::erase_if(entries, [&](const TuningEntry& old) {
      return old.n == entry.n && old.type == entry.type && old.vectors == entry.vectors &&
             old.workers == entry.workers;
    });
    entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const TuningEntry& a, const TuningEntry& b) { return a.n < b.n; });
  Json list = Json::array();
  for (const TuningEntry& entry : entries) list.push_back(to_json(entry));
  Json document;
  document["tuning"] = list;
  write_file(file, document.dump(2) + '\n');
}

void apply_tuning(const std::vector<TuningEntry>& entries, char type, Index n, bool vectors, int workers,
                  EigensolveOptions& options) {
  const TuningEntry* best = nullptr;
  double nearest = std::log(2.0) + 1e-9;
  for (const TuningEntry& entry : entries) {
    if (entry.type != type || entry.vectors != vectors || entry.workers != workers || n < 1) continue;
    const double distance = std::abs(std::log(static_cast<double>(entry.n) / static_cast<double>(n)));
    if (distance < nearest) {
      nearest = distance;
      best = &entry;
    }
  }
  if (!best) return;
  if (options.solver == Solver::automatic) options.solver = best->solver;
  // Take all sizes from the entry or none: the tile is a multiple of the update width, and that is
  // a multiple of the band.
  if (options.tile == 0 && options.band == 0 && options.update_width == 0 && best->tile <= n &&
      best->band < n) {
    options.tile = best->tile;
    options.band = best->band;
    options.update_width = best->update_width;
  }
}

}  // namespace tessera::program
