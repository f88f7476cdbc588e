// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/types.hpp>

/// Which blocks of a density matrix belong together: groups of near blocks, and the environments of groups.
namespace tessera::detail {

/// The blocks of a matrix as nodes, their couplings as edges, both ways.
struct BlockGraph {
  struct Edge {
    std::int32_t block;
    float coupling;
  };
  std::vector<Index> sizes;  ///< elements of each block
  std::vector<Index> begin;  ///< for each block its first edge, and the end
  std::vector<Edge> edges;   ///< of a block by falling coupling

  Index blocks() const noexcept { return static_cast<Index>(sizes.size()); }
  std::span<const Edge> edges_of(Index block) const noexcept {
    const auto b = static_cast<std::size_t>(block);
    return std::span(edges).subspan(static_cast<std::size_t>(begin[b]),
                                    static_cast<std::size_t>(begin[b + 1] - begin[b]));
  }
};

/// Searches from groups of blocks; the memory is used again.
class GraphSearch {
 public:
  explicit GraphSearch(const BlockGraph& graph);

  /// A group of about `order` elements that begins with `seed`: each next block is the free one with the largest sum of
  /// couplings to the group. `free`: for each block whether it may be taken.
  std::vector<Index> grow(Index seed, Index order, const std::vector<char>& free);
  /// The group, then by falling estimate all blocks whose estimate is at least `least`, as long as there are no more
  /// than `most_order` elements. The estimate is the largest product of couplings times `scale` along a path from the
  /// group: as P decays, if a coupling is ||H - mu S|| over the gap.
  std::vector<Index> environment(std::span<const Index> group, double scale, double least, Index most_order);

 private:
  void reset();
  const BlockGraph& graph_;
  std::vector<double> value_;  ///< of each block; 0: not reached
  std::vector<char> taken_;
  std::vector<Index> reached_;  ///< blocks whose value, or mark, is not that of a new search
};

/// All blocks in groups of about `order` elements, near ones together.
std::vector<std::vector<Index>> groups_of_blocks(const BlockGraph& graph, Index order);

}  // namespace tessera::detail
