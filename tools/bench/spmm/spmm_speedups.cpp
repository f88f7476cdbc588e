// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "spmm_speedups.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/runtime/io/input_file.hpp>

#include "report.hpp"

namespace tessera::program {
using namespace detail;

namespace {

struct Speedup {
  std::string peer, matrix, types;
  Index columns = 0;
  double ratio = 0;
};

double median_of(const Json& numbers) {
  std::vector<double> seconds;
  for (const Json& number : numbers) seconds.push_back(number.get<double>());
  return median(seconds);
}

Speedup read_speedup(const std::string& file) {
  const auto refuse = [&](const char* reason) { throw InputError(file, 0, reason); };
  const Json json = Json::parse(InputFile(file).read(), nullptr, false);
  if (!json.is_object() || json.value("command", Json()) != "bench_spmm")
    refuse("is no record of bench_spmm (--json)");
  if (!json.contains("peer") || !json["peer"].is_object()) refuse("has no baseline (--peer)");
  try {
    const Json& options = json.at("options");
    std::vector<double> ours;
    for (const Json& run : json.at("runs")) ours.push_back(run.at("result").at("seconds").get<double>());
    if (ours.empty()) refuse("has no runs");
    Speedup speedup{.peer = json["peer"].at("name").get<std::string>(),
                    .matrix = options.at("matrix").get<std::string>(),
                    .types = options.at("storage").get<std::string>() + options.at("type").get<std::string>(),
                    .columns = options.at("columns").get<Index>(),
                    .ratio = median_of(json["peer"].at("seconds")) / median(ours)};
    if (!std::isfinite(speedup.ratio) || speedup.ratio <= 0) refuse("has times that are not positive");
    return speedup;
  } catch (const Json::exception&) {
    refuse("is a damaged record");
  }
  return {};
}

}  // namespace

std::vector<HeatMap> speedups_of(const std::vector<std::string>& files) {
  std::map<std::string, std::map<std::pair<std::string, Index>, double>> of_peer;
  std::vector<std::string> matrices;
  for (const std::string& file : files) {
    const Speedup speedup = read_speedup(file);
    const std::string row = fmt::format("{} ({})", speedup.matrix, speedup.types);
    if (std::find(matrices.begin(), matrices.end(), row) == matrices.end()) matrices.push_back(row);
    of_peer[speedup.peer][{row, speedup.columns}] = speedup.ratio;
  }
  std::vector<HeatMap> maps;
  for (const auto& [peer, ratios] : of_peer) {
    HeatMap map{.title = "time of " + peer + " over ours",
                .row_axis = "matrix (values, vectors)",
                .column_axis = "vectors",
                .rows = matrices,
                .columns = {},
                .values = {}};
    std::vector<Index> columns;
    for (const auto& [place, ratio] : ratios) columns.push_back(place.second);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (const Index count : columns) map.columns.push_back(fmt::to_string(count));
    for (const std::string& matrix : matrices) {
      auto& row = map.values.emplace_back();
      for (const Index count : columns) {
        const auto found = ratios.find({matrix, count});
        row.push_back(found == ratios.end() ? std::nullopt : std::optional(found->second));
      }
    }
    maps.push_back(std::move(map));
  }
  return maps;
}

}  // namespace tessera::program
