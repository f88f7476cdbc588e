// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/csb_partition.hpp>
#include <tessera/algorithms/lobpcg/row_survey.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/error.hpp>

namespace tessera {
namespace {

/// So that there are some for every worker.
Index most_rows(Index order, Index workers) {
  return std::max<Index>(order / (8 * workers), 64);
}

/// Rows of a tile when nothing else says: larger where blocks would hold hardly any
/// entries otherwise, smaller where there are few rows.
Index usual_rows(const RowSurvey& survey, Index order, Index workers) {
  constexpr double least = 1024, entries_of_block = 64;
  const double wanted = std::sqrt(entries_of_block * static_cast<double>(order) * static_cast<double>(order) /
                                  std::max(survey.entries(), 1.0));
  const double rows = std::clamp(wanted, least, static_cast<double>(csb_block_rows));
  return std::min(static_cast<Index>(rows), most_rows(order, workers));
}

/// A CPU goes through a block by rows, so wide blocks have long runs of entries to each time that a row of X
/// and Y is fetched; those of a block's columns should stay in a core's second cache. A megabyte holds them
/// for up to 16 vectors.
Index band_rows(Index usual, Index order, Index workers) {
  constexpr Index least = 4096;
  return std::max(usual, std::min(least, most_rows(order, workers)));
}

/// Appends the beginnings of about equal parts of [begin, end) with at most so many rows.
void append_parts(Index begin, Index end, Index most, std::vector<Index>& begins) {
  const Index parts = ceil_div(end - begin, most);
  for (Index part = 0; part < parts; ++part) begins.push_back(begin + (end - begin) * part / parts);
}

std::vector<Index> cut_tiles(const SymmetricRows& rows, Index tile_rows) {
  std::vector<Index> tiles;
  const std::span<const Index> given = rows.tiles();
  if (given.empty())
    for (Index begin = 0; begin < rows.order(); begin += tile_rows) tiles.push_back(begin);
  for (std::size_t t = 0; t + 1 < given.size(); ++t)
    append_parts(given[t], given[t + 1], csb_block_rows, tiles);
  tiles.push_back(rows.order());
  return tiles;
}

/// Bands lie in one segment each; small tiles are joined up to `usual` rows.
std::vector<Index> cut_bands(const std::vector<Index>& tiles, const RowSegments& segments, Index usual) {
  const Index most = std::min(2 * usual, csb_block_rows);
  std::vector<Index> bands;
  for (std::size_t t = 0; t + 1 < tiles.size();) {
    const Index begin = tiles[t], limit = segments.end(segments.segment_of(begin));
    Index end = tiles[++t];
    while (t + 1 < tiles.size() && tiles[t + 1] <= limit && tiles[t + 1] - begin <= usual) end = tiles[++t];
    append_parts(begin, end, most, bands);
  }
  bands.push_back(tiles.back());
  return bands;
}

/// One sub-matrix for each domain if that is possible, and else many, so that their sums of entries can be
/// balanced.
Index usual_groups(Index domains) {
  constexpr Index sub_matrices_of_domain = 8;
  const auto count = [](Index n) { return n * (n + 1) / 2; };
  for (Index n = 1; count(n) <= domains; ++n)
    if (count(n) == domains) return n;
  Index n = 1;
  while (count(n) < sub_matrices_of_domain * domains) ++n;
  return n;
}

/// In a group: on GPUs one for each; on CPUs two a worker, so that products of different pairs can be in
/// flight together, if they are not too small to be worth a task.
Index usual_segments(const Runtime& runtime, double bytes, Index groups, Index domains) {
  constexpr double least_bytes = 1 << 18;
  const Index for_domains = ceil_div(domains, groups);
  if (runtime.any_gpus()) return for_domains;
  const Index of_rank = 2 * Index(runtime.common_workers()),
              for_workers = std::min(of_rank, ceil_div(of_rank * runtime.size(), groups));
  const auto of_work = static_cast<Index>(std::sqrt(2 * bytes / least_bytes) / static_cast<double>(groups));
  return std::max(for_domains, std::min(of_work, for_workers));
}

/// Deals the sub-matrices to the domains: one each, or runs of them with about equal numbers of entries.
void deal(const RowSurvey& survey, const std::vector<Index>& group_begins, Index domains,
          CsbPartition& partition) {
  const std::vector<CsbSubMatrix> all = balanced_sub_matrices(partition.group_count());
  const auto count = static_cast<Index>(all.size());
  std::vector<double> work;
  double total = 0;
  for (const auto& [row, column, holder] : all) {
    const auto begin = [&](Index group) { return group_begins[static_cast<std::size_t>(group)]; };
    work.push_back(1 + survey.entries(begin(row), begin(row + 1), begin(column), begin(column + 1)));
    total += work.back();
  }
  partition.sub_matrix.resize(all.size());
  std::vector<std::vector<int>> holders(static_cast<std::size_t>(partition.group_count()));
  double before = 0;
  for (Index i = 0; i < count; ++i) {
    const auto& [row, column, holder] = all[static_cast<std::size_t>(i)];
    const double here = work[static_cast<std::size_t>(i)];
    const Index domain =
        count <= domains
            ? i
            : std::min(static_cast<Index>((before + here / 2) / total * static_cast<double>(domains)),
                       domains - 1);
    before += here;
    partition.sub_matrix[static_cast<std::size_t>(row * (row + 1) / 2 + column)] = static_cast<int>(domain);
    std::vector<int>& of_column = holders[static_cast<std::size_t>(holder)];
    if (of_column.empty() || of_column.back() != domain) of_column.push_back(static_cast<int>(domain));
  }
  // A group's segments belong to those that hold its column, so that all have about equally many rows.
  std::vector<Index> owned(static_cast<std::size_t>(domains));
  std::vector<Index> begins{0};
  std::vector<int> owners;
  for (Index group = 0; group < partition.group_count(); ++group) {
    const std::vector<int>& of_column = holders[static_cast<std::size_t>(group)];
    for (Index s = partition.groups[static_cast<std::size_t>(group)];
         s < partition.groups[static_cast<std::size_t>(group) + 1]; ++s) {
      const int home = *std::min_element(of_column.begin(), of_column.end(), [&](int a, int b) {
        return owned[static_cast<std::size_t>(a)] < owned[static_cast<std::size_t>(b)];
      });
      owned[static_cast<std::size_t>(home)] += partition.segments->size(s);
      partition.home.push_back(home);
      owners.push_back(partition.rank_of(home));
      begins.push_back(partition.segments->end(s));
    }
  }
  partition.segments = std::make_shared<const RowSegments>(std::move(begins), std::move(owners));
}

void check_tiles(const SymmetricRows& rows) {
  const std::span<const Index> tiles = rows.tiles();
  if (tiles.empty()) return;
  if (tiles.front() != 0 || tiles.back() != rows.order() ||
      std::adjacent_find(tiles.begin(), tiles.end(), std::greater_equal<>()) != tiles.end())
    throw InvalidArgument("tiles", fmt::format("from {} to {}", tiles.front(), tiles.back()),
                          fmt::format("rows in ascending order, from 0 to {}", rows.order()));
}

void check_arguments(const SymmetricRows& rows, const CsbOptions& options) {
  const auto at_least_0 = [](const char* name, Index value) {
    if (value < 0) throw InvalidArgument(name, fmt::format("{}", value), "at least 0");
  };
  if (rows.order() < 1)
    throw InvalidArgument("rows", fmt::format("order {}", rows.order()), "at least one row");
  at_least_0("groups", options.groups);
  at_least_0("segments", options.segments);
  at_least_0("tile_rows", options.tile_rows);
  at_least_0("piece_bytes", options.piece_bytes);
  if (options.tile_rows > csb_block_rows)
    throw InvalidArgument("tile_rows", fmt::format("{}", options.tile_rows), "at most 65536");
  check_tiles(rows);
  if (!options.like) return;
  if (options.like->order() != rows.order())
    throw InvalidArgument("like", fmt::format("order {}", options.like->order()),
                          fmt::format("order {}", rows.order()));
  check_tiles(*options.like);
}

/// What must be equal on all ranks.
std::uint64_t hash_of_arguments(const SymmetricRows& rows, const CsbOptions& options) {
  const auto of_rows = [](const SymmetricRows& these) {
    const std::span<const Index> tiles = these.tiles();
    return argument_hash(these.order(), tiles.size(),
                         hash_of({reinterpret_cast<const char*>(tiles.data()), tiles.size_bytes()}));
  };
  return argument_hash(of_rows(rows), options.like != nullptr, of_rows(options.like ? *options.like : rows),
                       options.groups, options.segments, options.tile_rows, options.piece_bytes);
}

}  // namespace

std::vector<CsbSubMatrix> balanced_sub_matrices(Index groups) {
  std::vector<CsbSubMatrix> all;
  for (Index c = 0; c < groups; ++c)
    for (Index distance = 0; 2 * distance < groups || (2 * distance == groups && c < distance); ++distance) {
      const Index other = (c + distance) % groups;
      all.push_back({std::max(c, other), std::min(c, other), c});
    }
  return all;
}

Index CsbPartition::group_of(Index segment) const noexcept {
  return std::upper_bound(groups.begin(), groups.end(), segment) - groups.begin() - 1;
}

CsbPartition csb_partition(const Runtime& runtime, const SymmetricRows& given, const CsbOptions& options) {
  agree(runtime, hash_of_arguments(given, options), [&] { check_arguments(given, options); });
  const SymmetricRows& rows = options.like ? *options.like : given;
  const RowSurvey survey(runtime, rows);
  CsbPartition partition;
  partition.domains_per_rank = std::max(runtime.gpus(), 1);
  const Index domains = Index(runtime.size()) * partition.domains_per_rank;
  const Index workers = domains * runtime.common_workers(), usual = usual_rows(survey, rows.order(), workers);
  partition.tiles = cut_tiles(rows, options.tile_rows > 0 ? options.tile_rows : usual);

  const Index groups = options.groups > 0 ? options.groups : usual_groups(domains);
  // Those of double values, whatever these are: A and B are cut alike when only one of them is float.
  constexpr double bytes_of_entry = 12;
  const double bytes = bytes_of_entry * survey.entries();
  const Index in_group =
      options.segments > 0 ? options.segments : usual_segments(runtime, bytes, groups, domains);
  const std::vector<Index> group_begins = survey.cut(0, rows.order(), groups, partition.tiles);
  std::vector<Index> begins;
  for (std::size_t g = 0; g + 1 < group_begins.size(); ++g) {
    partition.groups.push_back(static_cast<Index>(begins.size()));
    const std::vector<Index> cuts =
        survey.cut(group_begins[g], group_begins[g + 1], in_group, partition.tiles);
    begins.insert(begins.end(), cuts.begin(), cuts.end() - 1);
  }
  partition.groups.push_back(static_cast<Index>(begins.size()));
  begins.push_back(rows.order());
  const std::vector<int> nobody(begins.size() - 1);
  partition.segments = std::make_shared<const RowSegments>(std::move(begins), nobody);
  deal(survey, group_begins, domains, partition);
  partition.bands = cut_bands(partition.tiles, *partition.segments, band_rows(usual, rows.order(), workers));
  return partition;
}

}  // namespace tessera
