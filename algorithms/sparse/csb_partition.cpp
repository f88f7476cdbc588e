// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>

#include <tessera/algorithms/sparse/csb_partition.hpp>
#include <tessera/algorithms/sparse/row_survey.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/host_memory.hpp>

namespace tessera {
namespace {

/// So that there are so many for every worker.
Index max_rows(Index order, Index workers, Index of_worker) {
  return std::max<Index>(order / (of_worker * workers), 64);
}

/// Rows of a tile when nothing else says: larger where blocks would hold hardly any entries otherwise,
/// smaller where there are few rows.
Index usual_rows(const RowSurvey& survey, Index order, Index workers) {
  constexpr double least = 1024, entries_of_block = 64;
  const double wanted = std::sqrt(entries_of_block * static_cast<double>(order) * static_cast<double>(order) /
                                  std::max(survey.entries(), 1.0));
  const double rows = std::clamp(wanted, least, static_cast<double>(csb_block_rows));
  return std::min(static_cast<Index>(rows), max_rows(order, workers, 8));
}

/// A CPU goes through a block by rows, so wide blocks have long runs of entries to each time that a row of X
/// and Y is fetched; those of a block's columns should stay in a core's second cache. A megabyte holds them
/// for up to 16 vectors. Each worker has two bands to build at least: with eight, products of 28Si cut for 15
/// workers take 8 to 15 % longer on a core (8 vectors). GPUs go through rows in an order of their own.
Index band_rows(Index usual, Index order, Index workers, bool on_gpus) {
  constexpr Index least = 4096;
  return std::max(usual, std::min(least, max_rows(order, workers, on_gpus ? 8 : 2)));
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

/// So many pieces that each of them is worth a task.
Index max_segments(double bytes) {
  constexpr double least_bytes = 1 << 18;
  return static_cast<Index>(std::sqrt(2 * bytes / least_bytes));
}

/// What a row costs its home in an iteration beside the product, in bytes: about forty passes over blocks of
/// a dozen vectors.
constexpr double bytes_of_row = 40. * 12 * sizeof(double);
/// The same in entries that a GPU multiplies, each for its row and for its column (12 bytes each time).
constexpr double row_in_entries = bytes_of_row / 12;

/// Of a single rank without GPUs: three for two workers, so that products of different pairs can be in flight
/// together, and where those are fewer than eight equally many for each worker; fewer where that is not worth
/// a task. More would cost more than they gain, as every product reads two segments of X and Y, and the more
/// tasks there are the later do those of the next step begin: the lowest 8 of 28Si took 15 workers 291 to 415
/// ms in 22 segments, in the same runs 298 to 434 in 30 (in the mean 4 % more), and 510 to 560 in 45. With
/// one segment a worker they waited for 26 to 28 % of the time, with 22 for 18 to 21 %.
Index segments_of_workers(Index workers, double bytes, Index order) {
  constexpr Index least = 8;
  constexpr double least_bytes = 1 << 20;
  if (workers == 1) return 1;
  const auto of_vectors = static_cast<Index>(bytes_of_row * static_cast<double>(order) / least_bytes);
  const Index three_for_two = 3 * workers / 2,
              most = three_for_two >= least ? three_for_two : ceil_div(least, workers) * workers,
              wanted = std::clamp<Index>(max_segments(bytes), std::min(of_vectors, workers), most);
  if (wanted == most) return most;
  return wanted < workers ? std::max<Index>(wanted, 1) : wanted / workers * workers;
}

/// One for each GPU of a single rank; without GPUs each segment is one. Between ranks, where the vectors'
/// messages cost more than the product, one sub-matrix for each GPU or rank if that is possible, or for an
/// odd number of them a whole column of the balanced arrangement for each, whose sub-matrices are equally
/// many. So for three, too: of two groups one rank would have half of the vectors, and another get three
/// quarters of them in messages. Else some columns for each, and so many sub-matrices that their sums of
/// entries can be balanced.
Index usual_groups(const CsbDomains& domains, double bytes, Index order) {
  constexpr Index sub_matrices_of_domain = 8;
  if (domains.workers_alone()) return segments_of_workers(domains.workers, bytes, order);
  const Index number = domains.places();
  const auto count = [](Index n) { return n * (n + 1) / 2; };
  if (domains.ranks == 1 || number == 1) return number;
  for (Index n = 3; count(n) <= number; ++n)
    if (count(n) == number) return n;
  if (number % 2 == 1) return number;
  Index n = number;
  while (count(n) < sub_matrices_of_domain * number) n += number;
  return n;
}

/// In a group: on GPUs one for each; on CPUs two a worker, so that products of different pairs can be in
/// flight together, if they are not too small to be worth a task.
Index usual_segments(const CsbDomains& domains, double bytes, Index order, Index groups) {
  if (domains.workers_alone())
    return std::max<Index>(segments_of_workers(domains.workers, bytes, order) / groups, 1);
  const Index for_places = ceil_div(domains.places(), groups);
  if (domains.on_gpus) return for_places;
  const Index of_rank = 2 * domains.workers,
              for_workers = std::min(of_rank, ceil_div(of_rank * domains.ranks, groups));
  return std::max(for_places, std::min(max_segments(bytes) / groups, for_workers));
}

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
}

/// Tells the segments where their homes are.
void settle(CsbPartition& partition) {
  std::vector<Index> begins{0};
  std::vector<int> owners, gpus;
  for (Index s = 0; s < partition.segments->count(); ++s) {
    const int home = partition.home[static_cast<std::size_t>(s)];
    begins.push_back(partition.segments->end(s));
    owners.push_back(partition.rank_of(home));
    gpus.push_back(partition.gpu_of(home));
  }
  partition.segments =
      std::make_shared<const RowSegments>(std::move(begins), std::move(owners), std::move(gpus));
}

int& domain_at(CsbPartition& partition, const CsbSubMatrix& at) {
  return partition.sub_matrix[static_cast<std::size_t>(at.row * (at.row + 1) / 2 + at.column)];
}

/// Where the workers of a single rank add up: for each domain and group a sum, if anything is dealt to it.
class Sums {
 public:
  Sums(const std::vector<Index>& group_begins, Index domains)
      : begins_(group_begins),
        domains_(domains),
        added_(static_cast<std::size_t>(domains) * (group_begins.size() - 1)) {}

  /// What is done one after the other, when `work` is dealt to a domain: what is added to the larger sum of
  /// its two groups, and new sums that have to be added up in the end.
  double time_with(double work, const CsbSubMatrix& at, Index domain) const {
    const double of_row = with(work, domain, at.row), of_column = with(work, domain, at.column);
    return std::max(of_row, of_column) + to_add_up(domain, at.row) +
           (at.row == at.column ? 0 : to_add_up(domain, at.column));
  }
  void add(double work, const CsbSubMatrix& at, Index domain) {
    const double of_row = with(work, domain, at.row), of_column = with(work, domain, at.column);
    added_[place(domain, at.row)] = of_row;
    added_[place(domain, at.column)] = of_column;
  }
  /// The domain with most for a group.
  Index largest(Index group) const {
    Index largest = 0;
    for (Index domain = 1; domain < domains_; ++domain)
      if (added_[place(domain, group)] > added_[place(largest, group)]) largest = domain;
    return largest;
  }

 private:
  std::size_t place(Index domain, Index group) const {
    return static_cast<std::size_t>(group * domains_ + domain);
  }
  /// What it takes to clear a group's sum, or to add it to another one, in entries. With 3.5 sums of all
  /// rows, 28Si's products take 9 ns of a core more for each row of them, and 1.9 ns for an entry (8
  /// vectors).
  double pass(Index group) const {
    const auto g = static_cast<std::size_t>(group);
    return 2.5 * static_cast<double>(begins_[g + 1] - begins_[g]);
  }
  double with(double work, Index domain, Index group) const {
    const double before = added_[place(domain, group)];
    return work + (before > 0 ? before : pass(group));
  }
  double to_add_up(Index domain, Index group) const {
    const bool is_there = added_[place(domain, group)] > 0,
               is_first = added_[place(largest(group), group)] == 0;
    return is_there || is_first ? 0 : pass(group);
  }

  const std::vector<Index>& begins_;
  Index domains_;
  std::vector<double> added_;  ///< in entries; 0: nothing
};

/// The largest first, each to the domain that is then done first. Matrices with few entries a row thus get
/// few sums.
void deal_by_sums(const std::vector<CsbSubMatrix>& all, const std::vector<double>& work,
                  const std::vector<Index>& group_begins, Index domains, CsbPartition& partition) {
  std::vector<std::size_t> largest_first(all.size());
  std::iota(largest_first.begin(), largest_first.end(), std::size_t(0));
  std::stable_sort(largest_first.begin(), largest_first.end(),
                   [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
  Sums sums(group_begins, domains);
  for (const std::size_t i : largest_first) {
    Index best = 0;
    for (Index domain = 1; domain < domains; ++domain)
      if (sums.time_with(work[i], all[i], domain) < sums.time_with(work[i], all[i], best)) best = domain;
    sums.add(work[i], all[i], best);
    domain_at(partition, all[i]) = static_cast<int>(best);
  }
  for (Index s = 0; s < partition.segments->count(); ++s)
    partition.home.push_back(static_cast<int>(sums.largest(partition.group_of(s))));
}

/// One each, or an odd number of groups' columns one each, or runs of them with about equal numbers of
/// entries.
void deal_in_runs(const std::vector<CsbSubMatrix>& all, const std::vector<double>& work, Index domains,
                  CsbPartition& partition) {
  const auto count = static_cast<Index>(all.size());
  const double total = std::accumulate(work.begin(), work.end(), 0.0);
  const bool whole_columns = partition.group_count() == domains && domains % 2 == 1;
  double before = 0;
  for (Index i = 0; i < count; ++i) {
    const double here = work[static_cast<std::size_t>(i)];
    const Index domain =
        count <= domains ? i
        : whole_columns
            ? all[static_cast<std::size_t>(i)].holder
            : std::min(static_cast<Index>((before + here / 2) / total * static_cast<double>(domains)),
                       domains - 1);
    before += here;
    domain_at(partition, all[static_cast<std::size_t>(i)]) = static_cast<int>(domain);
  }
}

/// Deals the sub-matrices to the domains. Where GPUs multiply rows they are the rank's.
void deal(const RowSurvey& survey, const std::vector<Index>& group_begins, const CsbDomains& on,
          CsbPartition& partition) {
  const Index domains = Index(on.ranks) * partition.domains_per_rank;
  const std::vector<CsbSubMatrix> all = balanced_sub_matrices(partition.group_count());
  partition.sub_matrix.assign(all.size(), 0);
  if (partition.gpus_multiply_rows()) return deal_homes(survey, domains, partition);
  std::vector<double> work;
  for (const auto& [row, column, holder] : all) {
    const auto begin = [&](Index group) { return group_begins[static_cast<std::size_t>(group)]; };
    work.push_back(1 + survey.entries(begin(row), begin(row + 1), begin(column), begin(column + 1)));
  }
  if (on.workers_alone()) return deal_by_sums(all, work, group_begins, domains, partition);
  deal_in_runs(all, work, domains, partition);
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

}  // namespace

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

namespace {

/// Of orders and tiles, which must be equal on all ranks.
std::uint64_t hash_of_rows(const SymmetricRows& rows, const CsbOptions& options) {
  const auto of_rows = [](const SymmetricRows& these) {
    const std::span<const Index> tiles = these.tiles();
    return argument_hash(these.order(), tiles.size(),
                         hash_of({reinterpret_cast<const char*>(tiles.data()), tiles.size_bytes()}));
  };
  return argument_hash(of_rows(rows), of_rows(options.like ? *options.like : rows));
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

int CsbDomains::per_rank(Index segments) const noexcept {
  if (gpus > 0) return gpus;
  if (!workers_alone() || workers == 1) return 1;
  // A domain has at most half as many products in flight as segments; in all there may be about twice as many
  // as workers. 15 workers with 15 segments of 28Si waited 34 to 37 % of the time with two domains, 17 to 29
  // % with three, and with 22 and three 17 to 23 %. But sums of more domains must be added up.
  constexpr Index most = 8;
  return static_cast<int>(std::clamp<Index>((4 * workers + segments / 2) / segments, 1, most));
}

std::uint64_t options_hash(const CsbOptions& options) {
  return argument_hash(options.like != nullptr, options.groups, options.segments, options.tile_rows,
                       options.piece_bytes);
}

namespace {

CsbPartition partition_of(const Runtime& runtime, const SymmetricRows& given, const CsbOptions& options,
                          const CsbDomains& on) {
  // Rows are functions of the user's, which may throw on one rank.
  std::uint64_t hash = 0;
  agree(runtime, 0, [&] { hash = hash_of_rows(given, options); });
  agree(runtime, hash, [] {});
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
  partition.gpus_per_rank = on.gpus;
  const Index workers = Index(on.ranks) * std::max(on.gpus, 1) * on.workers,
              usual = usual_rows(survey, rows.order(), workers);
  partition.tiles = cut_tiles(rows, options.tile_rows > 0 ? options.tile_rows : usual);

  // Those of double values, whatever these are: A and B are cut alike when only one of them is float.
  constexpr double bytes_of_entry = 12;
  const double bytes = bytes_of_entry * survey.entries();
  const Index groups = options.groups > 0 ? options.groups : usual_groups(on, bytes, rows.order());
  const Index in_group =
      options.segments > 0 ? options.segments : usual_segments(on, bytes, rows.order(), groups);
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
  partition.domains_per_rank = on.per_rank(partition.segments->count());
  deal(survey, group_begins, on, partition);
  settle(partition);
  partition.bands =
      cut_bands(partition.tiles, *partition.segments, band_rows(usual, rows.order(), workers, on.on_gpus));
  return partition;
}

}  // namespace

CsbPartition csb_partition(const Runtime& runtime, const SymmetricRows& rows, const CsbOptions& options,
                           const CsbDomains& on) {
  return collectively(
      runtime, "csb_partition", options_hash(options), [&] { check_arguments(rows, options); },
      [&] { return partition_of(runtime, rows, options, on); });
}

}  // namespace tessera
