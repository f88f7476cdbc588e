// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <queue>
#include <utility>

#include <tessera/algorithms/density_matrix/submatrix_graph.hpp>

namespace tessera::detail {

namespace {

/// A block with its value; of equal values the lower block is first.
struct Candidate {
  double value;
  Index block;
  bool operator<(const Candidate& other) const noexcept {
    return value != other.value ? value < other.value : block > other.block;
  }
};
using Candidates = std::priority_queue<Candidate>;

}  // namespace

GraphSearch::GraphSearch(const BlockGraph& graph)
    : graph_(graph),
      value_(static_cast<std::size_t>(graph.blocks()), 0),
      taken_(static_cast<std::size_t>(graph.blocks()), 0) {}

void GraphSearch::reset() {
  for (const Index block : reached_) {
    value_[static_cast<std::size_t>(block)] = 0;
    taken_[static_cast<std::size_t>(block)] = 0;
  }
  reached_.clear();
}

std::vector<Index> GraphSearch::grow(Index seed, Index order, const std::vector<char>& free) {
  std::vector<Index> group;
  Candidates next;
  Index elements = 0;
  const auto take = [&](Index block) {
    group.push_back(block);
    elements += graph_.sizes[static_cast<std::size_t>(block)];
    taken_[static_cast<std::size_t>(block)] = 1;
    reached_.push_back(block);
    for (const BlockGraph::Edge& edge : graph_.edges_of(block)) {
      const auto b = static_cast<std::size_t>(edge.block);
      if (!free[b] || taken_[b]) continue;
      if (value_[b] == 0) reached_.push_back(edge.block);
      value_[b] += static_cast<double>(edge.coupling);
      next.push({value_[b], edge.block});
    }
  };
  take(seed);
  while (!next.empty()) {
    const auto [value, block] = next.top();
    const auto b = static_cast<std::size_t>(block);
    // The nearest one is taken unless the group is nearer to the wanted order without it.
    const bool is_old = taken_[b] || value < value_[b];
    if (!is_old && elements + graph_.sizes[b] / 2 >= order) break;
    next.pop();
    if (!is_old) take(block);
  }
  reset();
  return group;
}

std::vector<Index> GraphSearch::environment(std::span<const Index> group, double scale, double least,
                                            Index most_order) {
  constexpr double below_one = 0.999;  // no path is longer than its parts
  std::vector<Index> found(group.begin(), group.end());
  Candidates next;
  Index elements = 0;
  const auto spread = [&](Index from, double value) {
    for (const BlockGraph::Edge& edge : graph_.edges_of(from)) {
      const double reached = value * std::min(scale * static_cast<double>(edge.coupling), below_one);
      if (reached < least || reached <= 0) break;  // the others are less
      const auto b = static_cast<std::size_t>(edge.block);
      if (taken_[b] || reached <= value_[b]) continue;
      if (value_[b] == 0) reached_.push_back(edge.block);
      value_[b] = reached;
      next.push({reached, edge.block});
    }
  };
  for (const Index block : group) {
    taken_[static_cast<std::size_t>(block)] = 1;
    reached_.push_back(block);
    elements += graph_.sizes[static_cast<std::size_t>(block)];
  }
  for (const Index block : group) spread(block, 1);
  for (; !next.empty();) {
    const auto [value, block] = next.top();
    next.pop();
    const auto b = static_cast<std::size_t>(block);
    if (taken_[b] || value < value_[b]) continue;
    if (elements + graph_.sizes[b] > most_order) break;
    taken_[b] = 1;
    elements += graph_.sizes[b];
    found.push_back(block);
    spread(block, value);
  }
  reset();
  return found;
}

std::vector<std::vector<Index>> groups_of_blocks(const BlockGraph& graph, Index order) {
  GraphSearch search(graph);
  std::vector<char> free(static_cast<std::size_t>(graph.blocks()), 1);
  std::vector<std::vector<Index>> groups;
  std::vector<double> beside(free.size(), 0);  // couplings to the groups that there are
  Candidates seeds;
  Index first = 0;
  for (;;) {
    // Next to the groups that there are, so that few blocks are left alone between them.
    Index seed = -1;
    while (seed < 0 && !seeds.empty()) {
      const Candidate top = seeds.top();
      seeds.pop();
      const auto b = static_cast<std::size_t>(top.block);
      if (free[b] && top.value == beside[b]) seed = top.block;
    }
    while (seed < 0 && first < graph.blocks()) {
      if (free[static_cast<std::size_t>(first)]) seed = first;
      ++first;
    }
    if (seed < 0) break;
    auto group = search.grow(seed, order, free);
    for (const Index block : group) free[static_cast<std::size_t>(block)] = 0;
    for (const Index block : group)
      for (const BlockGraph::Edge& edge : graph.edges_of(block)) {
        const auto b = static_cast<std::size_t>(edge.block);
        if (!free[b] || edge.coupling <= 0) continue;
        beside[b] += static_cast<double>(edge.coupling);
        seeds.push({beside[b], edge.block});
      }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace tessera::detail
