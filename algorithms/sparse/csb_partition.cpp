// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include <tessera/algorithms/sparse/csb_cut.hpp>
#include <tessera/algorithms/sparse/csb_partition.hpp>
#include <tessera/algorithms/sparse/saved_matrix.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/host_memory.hpp>

namespace tessera::detail {

namespace {

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
  if (options.tile_rows > csb_cell_rows)
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
    const auto* const saved = dynamic_cast<const SavedRows*>(&these);
    return argument_hash(these.order(), tiles.size(), saved ? saved->file().checksum() : 0,
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

int CsbDomains::per_rank(Index segments) const {
  return csb_sharing(*this)->domains_per_rank(segments);
}

std::uint64_t options_hash(const CsbOptions& options) {
  return argument_hash(options.like != nullptr, options.groups, options.segments, options.tile_rows,
                       options.piece_bytes);
}

namespace {

/// The segments at their homes.
std::shared_ptr<const RowSegments> segments_at_home(const CsbPartition& partition,
                                                    std::vector<Index> segment_begins) {
  std::vector<int> owners, gpus;
  for (const int home : partition.home) {
    owners.push_back(partition.rank_of(home));
    gpus.push_back(partition.gpu_of(home));
  }
  return std::make_shared<const RowSegments>(std::move(segment_begins), std::move(owners), std::move(gpus));
}

CsbPartition partition_of(const Runtime& runtime, const SymmetricRows& given, const CsbOptions& options,
                          const CsbDomains& on) {
  // Rows come from functions of the caller, which may throw on one rank.
  std::uint64_t hash = 0;
  agree(runtime, 0, [&] { hash = hash_of_rows(given, options); });
  agree(runtime, hash, [] {});
  const SymmetricRows& rows = options.like ? *options.like : given;
  const auto* const saved = dynamic_cast<const SavedRows*>(&rows);
  const std::shared_ptr<const RowSurvey> known =
      saved ? saved->file().survey() : std::make_shared<const RowSurvey>(runtime, rows);
  const RowSurvey& survey = *known;
  // Refuses a matrix that cannot fit before all of its entries are counted, which may take long: one of which
  // half, with float values, does not fit. Half, since the survey has seen some rows only.
  constexpr double least_bytes_of_entry = 8;
  agree(runtime, 0, [&] {
    require_host_memory("half of the matrix", survey.entries() / on.ranks * least_bytes_of_entry / 2);
  });
  const std::unique_ptr<const CsbSharing> sharing = csb_sharing(on);
  const CsbUsualRows usual = csb_usual_rows(survey, rows.order(), on);
  CsbCut cut = cut_csb_rows(rows, options, survey, *sharing, usual.of_tile);
  CsbDeal deal = sharing->deal(survey, cut);
  CsbPartition partition;
  partition.survey = known;
  partition.ranks = on.ranks;
  partition.domains_per_rank = sharing->domains_per_rank(cut.segment_count());
  partition.gpus_per_rank = on.gpus;
  partition.tiles = std::move(cut.tiles);
  partition.groups = std::move(cut.groups);
  partition.sub_matrix = std::move(deal.sub_matrix);
  partition.home = std::move(deal.home);
  partition.segments = segments_at_home(partition, std::move(cut.segment_begins));
  partition.bands = cut_csb_bands(partition.tiles, *partition.segments, usual.of_band);
  return partition;
}

}  // namespace

CsbPartition csb_partition(const Runtime& runtime, const SymmetricRows& rows, const CsbOptions& options,
                           const CsbDomains& on) {
  return collectively(
      runtime, "csb_partition", options_hash(options), [&] { check_arguments(rows, options); },
      [&] { return partition_of(runtime, rows, options, on); });
}

}  // namespace tessera::detail
