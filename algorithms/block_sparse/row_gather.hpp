// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include <tessera/algorithms/block_sparse/local_elements.hpp>
#include <tessera/algorithms/block_sparse/root_stream.hpp>

namespace tessera::detail {

/// A stored block on rank 0.
template <class T>
struct GatheredBlock {
  BlockCoordinate at;
  Index elements;
  const T* values;
};

/// Brings the stored blocks to rank 0, some block rows at a time, and runs visit(blocks) there, sorted by
/// rows and columns; no block row is cut. What it throws is thrown on every rank. Collective; waits for the
/// matrix's tasks.
template <class T>
class RowGather {
 public:
  explicit RowGather(const BlockSparseMatrix<T>& a)
      : pattern_(a.pattern()), local_(a, HostAccess::Mode::read) {}

  template <class Visit>
  void run(const Visit& visit) {
    constexpr double enough = Index(1) << 18;  // elements
    const std::vector<double> of_row = elements_of_rows();
    const Index rows = pattern_.rows().blocks();
    double elements = 0;
    for (Index row = 0, first = 0; row < rows; ++row) {
      elements += of_row[static_cast<std::size_t>(row)];
      if (elements < enough && row + 1 < rows) continue;
      send(first, row + 1, visit);
      first = row + 1;
      elements = 0;
    }
  }

 private:
  /// Calls visit(column, place, elements) for the blocks of a block row that this rank has.
  template <class Visit>
  void for_each_own(Index row, const Visit& visit) const {
    const Index p = pattern_.rows().panel_of(row);
    const auto position = static_cast<std::size_t>(pattern_.rows().position(row));
    for (Index q = 0; q < pattern_.col_panels(); ++q) {
      const Index panel = pattern_.panel(p, q);
      if (!pattern_.panel_local(panel) || pattern_.panel_blocks(panel) == 0) continue;
      const PanelIndex& index = pattern_.index(panel);
      for (Index b = index.row_begin[position]; b < index.row_begin[position + 1]; ++b) {
        const auto block = static_cast<std::size_t>(b);
        visit(pattern_.cols().panel(q)[static_cast<std::size_t>(index.column[block])],
              BlockPattern::Location{panel, b}, index.offset[block + 1] - index.offset[block]);
      }
    }
  }

  /// Of each block row on all ranks: all decide alike how much goes at a time.
  std::vector<double> elements_of_rows() const {
    std::vector<double> sums(static_cast<std::size_t>(pattern_.rows().blocks()), 0);
    for (Index row = 0; row < pattern_.rows().blocks(); ++row)
      for_each_own(row, [&](Index, BlockPattern::Location, Index elements) {
        sums[static_cast<std::size_t>(row)] += static_cast<double>(elements);
      });
    pattern_.runtime().all_reduce_sum(sums.data(), static_cast<Index>(sums.size()));
    return sums;
  }

  /// The block rows [first, end): coordinates, then values of each rank's blocks.
  template <class Visit>
  void send(Index first, Index end, const Visit& visit) {
    const Runtime& runtime = pattern_.runtime();
    std::vector<BlockCoordinate> places;
    std::vector<T> values;
    for (Index row = first; row < end; ++row)
      for_each_own(row, [&](Index col, BlockPattern::Location at, Index elements) {
        places.push_back({row, col});
        const T* const block = local_.values(at);
        values.insert(values.end(), block, block + elements);
      });
    const auto all_places = runtime.gather(std::as_bytes(std::span<const BlockCoordinate>(places)), 0);
    const auto all_values = runtime.gather(std::as_bytes(std::span<const T>(values)), 0);
    on_root(runtime, [&] {
      const std::vector<GatheredBlock<T>> blocks = sorted(all_places, all_values);
      if (!blocks.empty()) visit(std::span<const GatheredBlock<T>>(blocks));
    });
  }

  std::vector<GatheredBlock<T>> sorted(std::span<const std::vector<std::byte>> places,
                                       std::span<const std::vector<std::byte>> values) const {
    std::vector<GatheredBlock<T>> blocks;
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
      const T* next = reinterpret_cast<const T*>(values[rank].data());
      for (std::size_t at = 0; at < places[rank].size(); at += sizeof(BlockCoordinate)) {
        BlockCoordinate block;
        std::memcpy(&block, places[rank].data() + at, sizeof block);
        const Index elements = pattern_.rows().size(block.row) * pattern_.cols().size(block.col);
        blocks.push_back({block, elements, next});
        next += elements;
      }
    }
    std::sort(blocks.begin(), blocks.end(), [](const auto& x, const auto& y) { return x.at < y.at; });
    return blocks;
  }

  const BlockPattern& pattern_;
  LocalElements<T> local_;
};

}  // namespace tessera::detail
