// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/csb_partition.hpp>
#include <tessera/algorithms/lobpcg/row_survey.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/error.hpp>
#include <tessera/runtime/host_memory.hpp>

namespace tessera {
namespace {

/// So that there are so many for every worker.
Index most_rows(Index order, Index workers, Index of_worker) {
  return std::max<Index>(order / (of_worker * workers), 64);
}

/// Rows of a tile when nothing else says: larger where blocks would hold hardly any entries otherwise,
/// smaller where there are few rows.
Index usual_rows(const RowSurvey& survey, Index order, Index workers) {
  constexpr double least = 1024, entries_of_block = 64;
  const double wanted = std::sqrt(entries_of_block * static_cast<double>(order) * static_cast<double>(order) /
                                  std::max(survey.entries(), 1.0));
  const double rows = std::clamp(wanted, least, static_cast<double>(csb_block_rows));
  return std::min(static_cast<Index>(rows), most_rows(order, workers, 8));
}

/// A CPU goes through a block by rows, so wide blocks have long runs of entries to each time that a row of X
/// and Y is fetched; those of a block's columns should stay in a core's second cache. A megabyte holds them
/// for up to 16 vectors. Each worker has two bands to build at least: with eight, products of 28Si cut for 15
/// workers take 8 to 15 % longer on a core (8 vectors). GPUs go through rows in an order of their own.
Index band_rows(Index usual, Index order, Index workers, bool on_gpus) {
  constexpr Index least = 4096;
  return std::max(usual, std::min(least, most_rows(order, workers, on_gpus ? 8 : 2)));
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

/// One for each GPU of a single rank. Between ranks, where the vectors' messages cost more than the product,
/// one sub-matrix for each domain if that is possible, or for an odd number of domains a whole column of the
/// balanced arrangement for each, whose sub-matrices are equally many. So for three, too: of two groups one
/// rank would have half of the vectors, and another get three quarters of them in messages. Else some columns
/// for each domain, and so many sub-matrices that their sums of entries can be balanced.
Index usual_groups(const CsbDomains& domains) {
  constexpr Index sub_matrices_of_domain = 8;
  const Index number = domains.count();
  const auto count = [](Index n) { return n * (n + 1) / 2; };
  if (domains.ranks == 1 && domains.on_gpus) return number;
  if (number == 1) return 1;
  if (domains.ranks > 1) {
    for (Index n = 3; count(n) <= number; ++n)
      if (count(n) == number) return n;
    if (number % 2 == 1) return number;
  }
  Index n = number;
  while (count(n) < sub_matrices_of_domain * number) n += number;
  return n;
}

/// In a group: on GPUs one for each; on CPUs two a worker, and four where workers share a domain's sums of
/// all rows, so that products of different pairs can be in flight together, if they are not too small to be
/// worth a task. (With two a worker, two workers waited for each other a tenth of a product of 28Si, with
/// four 2 %.)
Index usual_segments(const CsbDomains& domains, double bytes, Index groups) {
  constexpr double least_bytes = 1 << 18;
  const Index for_domains = ceil_div(domains.count(), groups);
  if (domains.on_gpus) return for_domains;
  const Index of_worker = domains.count() == 1 && domains.workers > 1 ? 4 : 2,
              of_rank = of_worker * domains.workers,
              for_workers = std::min(of_rank, ceil_div(of_rank * domains.ranks, groups));
  const auto of_work = static_cast<Index>(std::sqrt(2 * bytes / least_bytes) / static_cast<double>(groups));
  return std::max(for_domains, std::min(of_work, for_workers));
}

/// What a row costs its home in an iteration beside the product, in bytes: about forty passes over blocks of
/// a dozen vectors.
constexpr double bytes_of_row = 40. * 12 * sizeof(double);
/// The same in entries that a GPU multiplies, each for its row and for its column (12 bytes each time).
constexpr double row_in_entries = bytes_of_row / 12;

/// What a segment costs its home: its rows and some steps with the entries of its diagonal tiles (of the
/// preconditioner, FomPreconditioner), in bytes; where GPUs multiply rows these and the product, in entries.
double cost_of_home(const RowSurvey& survey, const CsbPartition& partition, Index segment) {
  constexpr double bytes_of_entry = 4 * 12;
  const Index end = partition.segments->end(segment);
  if (partition.gpus_multiply_rows())
    return survey.work(partition.segments->begin(segment), end, row_in_entries);
  double entries = 0;
  for (auto tile = std::lower_bound(partition.tiles.begin(), partition.tiles.end(),
                                    partition.segments->begin(segment));
       *tile < end; ++tile)
    entries += survey.entries(tile[0], tile[1], tile[0], tile[1]);
  return bytes_of_row * static_cast<double>(partition.segments->size(segment)) + bytes_of_entry * entries;
}

/// Cuts the segments into at most so many runs that cost about the same, none of them empty; first segment of
/// each and, last, the segments' number.
std::vector<Index> runs_of_segments(const RowSurvey& survey, const CsbPartition& partition, Index most) {
  const Index count = partition.segments->count(), runs = std::min(most, count);
  std::vector<double> before{0};
  for (Index s = 0; s < count; ++s) before.push_back(before.back() + cost_of_home(survey, partition, s));
  std::vector<Index> begins{0};
  for (Index run = 1; run < runs; ++run) {
    const double wanted = before.back() * static_cast<double>(run) / static_cast<double>(runs);
    const auto distance = [&](Index s) { return std::abs(before[static_cast<std::size_t>(s)] - wanted); };
    Index at = begins.back() + 1;
    while (at < count - (runs - run) && distance(at + 1) <= distance(at)) ++at;
    begins.push_back(at);
  }
  begins.push_back(count);
  return begins;
}

/// A run of segments for each domain in the order of the sub-matrices, whose columns are dealt in runs, too.
/// But unless GPUs multiply rows a home holds some sub-matrix of the group: the domain nearest to the run's
/// that does.
void deal_homes(const RowSurvey& survey, Index domains, CsbPartition& partition) {
  const Index count = partition.segments->count();
  const std::vector<Index> runs = runs_of_segments(survey, partition, domains);
  for (Index s = 0; s < count; ++s) {
    const Index group = partition.group_of(s);
    const auto wanted = static_cast<int>(std::upper_bound(runs.begin(), runs.end(), s) - runs.begin() - 1);
    if (partition.gpus_multiply_rows()) {
      partition.home.push_back(wanted);
      continue;
    }
    int home = -1;
    for (Index other = 0; other < partition.group_count(); ++other) {
      const int domain = partition.domain_of(std::max(group, other), std::min(group, other));
      if (home < 0 || std::abs(domain - wanted) < std::abs(home - wanted)) home = domain;
    }
    partition.home.push_back(home);
  }
  std::vector<Index> begins{0};
  std::vector<int> owners, gpus;
  for (Index s = 0; s < count; ++s) {
    const int home = partition.home[static_cast<std::size_t>(s)];
    begins.push_back(partition.segments->end(s));
    owners.push_back(partition.rank_of(home));
    gpus.push_back(partition.gpu_of(home));
  }
  partition.segments =
      std::make_shared<const RowSegments>(std::move(begins), std::move(owners), std::move(gpus));
}

/// Deals the sub-matrices to the domains: one each, or an odd number of groups' columns one each, or runs of
/// them with about equal numbers of entries. Where GPUs multiply rows the sub-matrices are the rank's.
void deal(const RowSurvey& survey, const std::vector<Index>& group_begins, Index domains,
          CsbPartition& partition) {
  const std::vector<CsbSubMatrix> all = balanced_sub_matrices(partition.group_count());
  const auto count = static_cast<Index>(all.size());
  partition.sub_matrix.assign(all.size(), 0);
  if (partition.gpus_multiply_rows()) {
    deal_homes(survey, domains, partition);
    return;
  }
  std::vector<double> work;
  double total = 0;
  for (const auto& [row, column, holder] : all) {
    const auto begin = [&](Index group) { return group_begins[static_cast<std::size_t>(group)]; };
    work.push_back(1 + survey.entries(begin(row), begin(row + 1), begin(column), begin(column + 1)));
    total += work.back();
  }
  const bool whole_columns = partition.group_count() == domains && domains % 2 == 1;
  double before = 0;
  for (Index i = 0; i < count; ++i) {
    const auto& [row, column, holder] = all[static_cast<std::size_t>(i)];
    const double here = work[static_cast<std::size_t>(i)];
    const Index domain =
        count <= domains ? i
        : whole_columns
            ? holder
            : std::min(static_cast<Index>((before + here / 2) / total * static_cast<double>(domains)),
                       domains - 1);
    before += here;
    partition.sub_matrix[static_cast<std::size_t>(row * (row + 1) / 2 + column)] = static_cast<int>(domain);
  }
  deal_homes(survey, domains, partition);
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

CsbDomains::CsbDomains(const Runtime& runtime)
    : ranks(runtime.size()),
      gpus(runtime.gpus()),
      on_gpus(runtime.any_gpus()),
      workers(runtime.common_workers()) {}

CsbPartition csb_partition(const Runtime& runtime, const SymmetricRows& given, const CsbOptions& options,
                           const CsbDomains& on) {
  agree(runtime, hash_of_arguments(given, options), [&] { check_arguments(given, options); });
  const SymmetricRows& rows = options.like ? *options.like : given;
  const RowSurvey survey(runtime, rows);
  // What is hopeless is refused before all of its entries are counted, which may take hours. In float, and
  // half of that: the survey has seen some rows only.
  constexpr double least_bytes_of_entry = 8;
  agree(runtime, 0, [&] {
    require_host_memory("half of the matrix", survey.entries() / on.ranks * least_bytes_of_entry / 2);
  });
  CsbPartition partition;
  partition.ranks = on.ranks;
  partition.domains_per_rank = on.per_rank();
  partition.gpus_per_rank = on.gpus;
  const Index domains = on.count();
  const Index workers = Index(on.ranks) * std::max(on.gpus, 1) * on.workers,
              usual = usual_rows(survey, rows.order(), workers);
  partition.tiles = cut_tiles(rows, options.tile_rows > 0 ? options.tile_rows : usual);

  const Index groups = options.groups > 0 ? options.groups : usual_groups(on);
  // Those of double values, whatever these are: A and B are cut alike when only one of them is float.
  constexpr double bytes_of_entry = 12;
  const double bytes = bytes_of_entry * survey.entries();
  const Index in_group = options.segments > 0 ? options.segments : usual_segments(on, bytes, groups);
  const double more_of_row = partition.gpus_multiply_rows() ? row_in_entries : 0;
  const std::vector<Index> group_begins = survey.cut(0, rows.order(), groups, partition.tiles, more_of_row);
  std::vector<Index> begins;
  for (std::size_t g = 0; g + 1 < group_begins.size(); ++g) {
    partition.groups.push_back(static_cast<Index>(begins.size()));
    const std::vector<Index> cuts =
        survey.cut(group_begins[g], group_begins[g + 1], in_group, partition.tiles, more_of_row);
    begins.insert(begins.end(), cuts.begin(), cuts.end() - 1);
  }
  partition.groups.push_back(static_cast<Index>(begins.size()));
  begins.push_back(rows.order());
  const std::vector<int> nobody(begins.size() - 1);
  partition.segments = std::make_shared<const RowSegments>(std::move(begins), nobody);
  deal(survey, group_begins, domains, partition);
  partition.bands =
      cut_bands(partition.tiles, *partition.segments, band_rows(usual, rows.order(), workers, on.on_gpus));
  return partition;
}

}  // namespace tessera
