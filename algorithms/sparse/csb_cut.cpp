// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/sparse/csb_cut.hpp>

namespace tessera::detail {

namespace {

/// The most rows of a part, so that every worker gets `of_worker` parts.
Index max_rows(Index order, Index workers, Index of_worker) {
  return std::max<Index>(order / (of_worker * workers), 64);
}

/// Larger where cells would hold hardly any entries otherwise, smaller where there are few rows.
Index tile_rows(const RowSurvey& survey, Index order, Index workers) {
  constexpr double least = 1024, entries_of_cell = 64;
  const double wanted = std::sqrt(entries_of_cell * static_cast<double>(order) * static_cast<double>(order) /
                                  std::max(survey.entries(), 1.0));
  const double rows = std::clamp(wanted, least, static_cast<double>(csb_cell_rows));
  return std::min(static_cast<Index>(rows), max_rows(order, workers, 8));
}

/// A CPU goes through a cell by rows, so wide cells have long runs of entries to each time that a row of X
/// and Y is fetched; those of a cell's columns should stay in a core's second cache. A megabyte holds them
/// for up to 16 vectors. Each worker has two bands to build at least: more of them would be so narrow that
/// products take longer. GPUs compute rows in another order.
Index band_rows(Index usual, Index order, Index workers, bool on_gpus) {
  constexpr Index least = 4096;
  return std::max(usual, std::min(least, max_rows(order, workers, on_gpus ? 8 : 2)));
}

/// Appends the beginnings of about equal parts of [begin, end) with at most max_part rows.
void append_parts(Index begin, Index end, Index max_part, std::vector<Index>& begins) {
  const Index parts = ceil_div(end - begin, max_part);
  for (Index part = 0; part < parts; ++part) begins.push_back(begin + (end - begin) * part / parts);
}

std::vector<Index> cut_tiles(const SymmetricRows& rows, Index tile_rows) {
  std::vector<Index> tiles;
  const std::span<const Index> given = rows.tiles();
  if (given.empty())
    for (Index begin = 0; begin < rows.order(); begin += tile_rows) tiles.push_back(begin);
  for (std::size_t t = 0; t + 1 < given.size(); ++t)
    append_parts(given[t], given[t + 1], csb_cell_rows, tiles);
  tiles.push_back(rows.order());
  return tiles;
}

}  // namespace

CsbUsualRows csb_usual_rows(const RowSurvey& survey, Index order, const CsbDomains& on) {
  const Index workers = on.places() * on.workers, tile = tile_rows(survey, order, workers);
  return {.of_tile = tile, .of_band = band_rows(tile, order, workers, on.on_gpus)};
}

CsbCut cut_csb_rows(const SymmetricRows& rows, const CsbOptions& options, const RowSurvey& survey,
                    const CsbSharing& sharing, Index usual_tile_rows) {
  // Those of double values, whatever these are: A and B are cut alike when only one of them is float.
  constexpr double bytes_of_entry = 12;
  const CsbSize size{.order = rows.order(), .bytes = bytes_of_entry * survey.entries()};
  const Index groups = options.groups > 0 ? options.groups : sharing.usual_groups(size);
  const Index segments_of_group =
      options.segments > 0 ? options.segments : sharing.usual_segments(size, groups);
  CsbCut cut;
  cut.tiles = cut_tiles(rows, options.tile_rows > 0 ? options.tile_rows : usual_tile_rows);
  cut.group_begins = survey.cut(0, size.order, groups, cut.tiles, sharing.more_of_row());
  for (std::size_t g = 0; g + 1 < cut.group_begins.size(); ++g) {
    cut.groups.push_back(static_cast<Index>(cut.segment_begins.size()));
    const std::vector<Index> begins = survey.cut(cut.group_begins[g], cut.group_begins[g + 1],
                                                 segments_of_group, cut.tiles, sharing.more_of_row());
    cut.segment_begins.insert(cut.segment_begins.end(), begins.begin(), begins.end() - 1);
  }
  cut.groups.push_back(static_cast<Index>(cut.segment_begins.size()));
  cut.segment_begins.push_back(size.order);
  return cut;
}

std::vector<Index> cut_csb_bands(const std::vector<Index>& tiles, const RowSegments& segments, Index usual) {
  const Index max_band = std::min(2 * usual, csb_cell_rows);
  std::vector<Index> bands;
  for (std::size_t t = 0; t + 1 < tiles.size();) {
    const Index begin = tiles[t], limit = segments.end(segments.segment_of(begin));
    Index end = tiles[++t];
    while (t + 1 < tiles.size() && tiles[t + 1] <= limit && tiles[t + 1] - begin <= usual) end = tiles[++t];
    append_parts(begin, end, max_band, bands);
  }
  bands.push_back(tiles.back());
  return bands;
}

}  // namespace tessera::detail
