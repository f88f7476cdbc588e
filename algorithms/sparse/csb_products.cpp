// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <tessera/algorithms/sparse/csb_order.hpp>
#include <tessera/algorithms/sparse/csb_products.hpp>

namespace tessera::detail {

namespace {

/// Tasks in this order: diagonal tiles, pairs of segments that are at home in the task's domain, which need
/// nothing from others, and then the other pairs; all in the order of a tournament. Groups meet first: (I +
/// J) modulo their number is the same for pairs that have no group in common. So do the segments of two
/// groups. Tasks that are in flight together thus touch different segments of y.
auto tournament_order(const CsbPartition& partition, const CsbPieceContents& piece) {
  const auto group_sizes = [&](Index group) {
    return partition.groups[static_cast<std::size_t>(group) + 1] -
           partition.groups[static_cast<std::size_t>(group)];
  };
  const Index row_group = partition.group_of(piece.row), column_group = partition.group_of(piece.column);
  const Index row = piece.row - partition.groups[static_cast<std::size_t>(row_group)],
              column = piece.column - partition.groups[static_cast<std::size_t>(column_group)];
  const Index round = (row_group + column_group) % partition.group_count(),
              round_of_segments =
                  (row + column) % std::max(group_sizes(row_group), group_sizes(column_group));
  const auto at_home = [&](Index segment) {
    return partition.home[static_cast<std::size_t>(segment)] == piece.domain;
  };
  const bool waits = !at_home(piece.row) || !at_home(piece.column);
  return std::tuple(!piece.diagonal_tiles, waits, round, round_of_segments, piece.row, piece.column);
}

}  // namespace

CsbProducts::CsbProducts(Runtime& runtime, const CsbPartition& partition,
                         std::span<const CsbPieceContents> pieces)
    : runtime_(runtime), partition_(partition) {
  std::map<Index, std::size_t> tiles_of;  // by segment: products
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    CsbPieceContents c = pieces[p];
    const int row_home = partition.home[static_cast<std::size_t>(c.row)],
              column_home = partition.home[static_cast<std::size_t>(c.column)];
    if (partition.gpus_multiply_rows()) c.domain = row_home;
    if (c.diagonal_tiles) tiles_of[c.row] = products_.size();
    if (partition.gpus_multiply_rows() && row_home != column_home) {
      c.shape.sides = CsbSides::rows;
      products_.push_back({.contents = c, .piece = p});
      c.shape.sides = CsbSides::columns;
      c.domain = column_home;
    }
    products_.push_back({.contents = c, .piece = p});
  }
  if (partition.gpus_per_rank == 0) return;
  for (CsbProduct& product : products_) {
    const CsbPieceContents& c = product.contents;
    const auto found = tiles_of.find(c.row);
    if (c.diagonal_tiles || c.row != c.column || found == tiles_of.end()) continue;
    CsbProduct& tiles = products_[found->second];
    if (!tiles.has_task || tiles.contents.domain != c.domain) continue;
    product.contents.shape.more_entries = tiles.contents.shape.entry_count;
    product.tiles = tiles.piece;
    tiles.has_task = false;
  }
}

/// Puts the products into the order of their tasks. Between GPUs and between ranks their data travel, and the
/// order is that of a tournament. `sum(segment, domain)`: number of what a domain adds to for a segment.
template <class Sum>
void CsbProducts::order(const Sum& sum) {
  if (runtime_.any_gpus() || partition_.gpus_per_rank > 0 || runtime_.size() > 1) {
    std::stable_sort(products_.begin(), products_.end(), [&](const CsbProduct& a, const CsbProduct& b) {
      return tournament_order(partition_, a.contents) < tournament_order(partition_, b.contents);
    });
    return;
  }
  constexpr double entries_of_task = 4096;  // in the time of which a task begins and ends
  std::vector<CsbTask> tasks;
  for (const CsbProduct& product : products_) {
    const CsbPieceContents& c = product.contents;
    tasks.push_back({sum(c.row, c.domain), sum(c.column, c.domain),
                     entries_of_task + static_cast<double>(c.shape.entry_count)});
  }
  const Index sums = partition_.segments->count() + static_cast<Index>(partials_.size());
  std::vector<CsbProduct> ordered;
  for (const Index task : order_csb_tasks(tasks, sums, runtime_.common_workers()))
    ordered.push_back(std::move(products_[static_cast<std::size_t>(task)]));
  products_ = std::move(ordered);
}

void CsbProducts::plan() {
  direct_.assign(static_cast<std::size_t>(partition_.segments->count()), false);
  std::map<std::pair<Index, int>, Index> places;
  for (const CsbProduct& product : products_) {
    const CsbPieceContents& c = product.contents;
    if (c.shape.adds_to_rows() && !at_home(c.row, c.domain)) places[{c.row, c.domain}] = 0;
    if (c.shape.adds_to_columns() && !at_home(c.column, c.domain)) places[{c.column, c.domain}] = 0;
  }
  for (auto& [key, place] : places) {
    place = static_cast<Index>(partials_.size());
    partials_.push_back({key.first, key.second});
  }
  order([&](Index segment, int domain) {
    return at_home(segment, domain) ? segment : partition_.segments->count() + places.at({segment, domain});
  });
  const auto target = [&](Index segment, int domain) -> Index {
    if (!at_home(segment, domain)) return places.at({segment, domain});
    direct_[static_cast<std::size_t>(segment)] = true;
    return -1;
  };
  for (CsbProduct& product : products_) {
    if (!product.has_task) continue;
    const CsbPieceContents& c = product.contents;
    if (c.shape.adds_to_rows()) product.row_partial = target(c.row, c.domain);
    if (c.shape.adds_to_columns()) product.column_partial = target(c.column, c.domain);
  }
  note_visits();
}

void CsbProducts::note_visits() {
  std::set<std::pair<Index, int>> seen;
  for (const CsbProduct& product : products_) {
    const CsbPieceContents& c = product.contents;
    const int gpu = partition_.gpu_of(c.domain);
    if (gpu < 0 || partition_.rank_of(c.domain) != runtime_.rank()) continue;
    const auto visit = [&](Index segment) {
      if (partition_.segments->owner(segment) == runtime_.rank() &&
          partition_.segments->gpu(segment) != gpu && seen.insert({segment, gpu}).second)
        visits_.push_back({segment, gpu});
    };
    if (c.shape.adds_to_rows()) visit(c.column);
    if (c.shape.adds_to_columns()) visit(c.row);
  }
}

}  // namespace tessera::detail
