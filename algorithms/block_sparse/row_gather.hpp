// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/algorithms/block_sparse/local_elements.hpp>
#include <tessera/algorithms/block_sparse/root_stream.hpp>

namespace tessera::detail {

/// A stored block on rank 0.
template <class T>
struct GatheredBlock {
  BlockCoordinate at;
  BlockPattern::Location place;
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
    constexpr Index enough = Index(1) << 18;  // elements
    Index elements = 0;
    for (Index row = 0; row < pattern_.rows().blocks(); ++row) {
      elements += list_row(row);
      if (elements < enough && row + 1 < pattern_.rows().blocks()) continue;
      send(visit);
      elements = 0;
    }
  }

 private:
  /// Appends the blocks of one block row in the order of their columns; returns their elements.
  Index list_row(Index row) {
    const auto first = static_cast<std::ptrdiff_t>(blocks_.size());
    const Index p = pattern_.rows().panel_of(row);
    const auto position = static_cast<std::size_t>(pattern_.rows().position(row));
    Index elements = 0;
    for (Index q = 0; q < pattern_.col_panels(); ++q) {
      const Index panel = pattern_.panel(p, q);
      const PanelIndex& index = pattern_.index(panel);
      for (Index b = index.row_begin[position]; b < index.row_begin[position + 1]; ++b) {
        const auto block = static_cast<std::size_t>(b);
        const Index col = pattern_.cols().panel(q)[static_cast<std::size_t>(index.column[block])];
        blocks_.push_back({{row, col}, {panel, b}, index.offset[block + 1] - index.offset[block], nullptr});
        elements += blocks_.back().elements;
      }
    }
    std::sort(blocks_.begin() + first, blocks_.end(),
              [](const auto& x, const auto& y) { return x.at.col < y.at.col; });
    return elements;
  }

  template <class Visit>
  void send(const Visit& visit) {
    if (blocks_.empty()) return;
    const Runtime& runtime = pattern_.runtime();
    std::vector<T> mine;
    for (const GatheredBlock<T>& block : blocks_) {
      if (!pattern_.panel_local(block.place.panel)) continue;
      const T* const values = local_.values(block.place);
      mine.insert(mine.end(), values, values + block.elements);
    }
    const auto pieces = runtime.gather(std::as_bytes(std::span<const T>(mine)), 0);
    on_root(runtime, [&] {
      std::vector<Index> taken(pieces.size(), 0);
      for (GatheredBlock<T>& block : blocks_) {
        const auto owner = static_cast<std::size_t>(pattern_.panel_owner(block.place.panel));
        block.values = reinterpret_cast<const T*>(pieces[owner].data()) + taken[owner];
        taken[owner] += block.elements;
      }
      visit(std::span<const GatheredBlock<T>>(blocks_));
    });
    blocks_.clear();
  }

  const BlockPattern& pattern_;
  LocalElements<T> local_;
  std::vector<GatheredBlock<T>> blocks_;
};

}  // namespace tessera::detail
