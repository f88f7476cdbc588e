// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>

#include <tessera/algorithms/block_sparse/block_moves.hpp>
#include <tessera/algorithms/block_sparse/exchanged_lists.hpp>

namespace tessera::detail {

namespace {

/// A block of A that may move: where it begins in its panel's data, and its numbers in op(A).
struct MovingBlock {
  Index offset;
  std::int32_t row, col;
};
using MovingBlocks = KeyedList<PanelPair, MovingBlock>;
using PanelMoves = KeyedList<PanelPair, BlockMove>;

/// The part of a block that lies in the window, or nothing.
std::optional<BlockMove> move_of(const MovingBlock& block, const BlockPattern& to, Index destination,
                                 bool transposed, const ElementWindow& window) {
  const Index block_row = to.rows().first(block.row), block_col = to.cols().first(block.col);
  const Index ld = to.rows().size(block.row), cols = to.cols().size(block.col);
  const Index i = std::max<Index>(window.first_row - block_row, 0),
              end_i = std::min(window.end_row - block_row, ld);
  const Index j = std::max<Index>(window.first_col - block_col, 0),
              end_j = std::min(window.end_col - block_col, cols);
  if (i >= end_i || j >= end_j) return std::nullopt;
  const Index source_ld = transposed ? cols : ld;
  return BlockMove{.source = block.offset + (transposed ? j + i * source_ld : i + j * source_ld),
                   .destination = destination + i + j * ld,
                   .rows = static_cast<std::int32_t>(end_i - i),
                   .cols = static_cast<std::int32_t>(end_j - j),
                   .source_ld = static_cast<std::int32_t>(source_ld),
                   .destination_ld = static_cast<std::int32_t>(ld)};
}

/// The same for a block that this rank's panel of B may store.
std::optional<BlockMove> move_into(const BlockPattern& to, Index panel, const MovingBlock& block,
                                   bool transposed, const ElementWindow& window) {
  const PanelIndex& index = to.index(panel);
  const Index at = index.find(to.rows().position(block.row), to.cols().position(block.col));
  if (at < 0) return std::nullopt;
  return move_of(block, to, index.offset[static_cast<std::size_t>(at)], transposed, window);
}

/// The blocks that go a way from one panel of A after the other, by panels of B, in the order in which these
/// are met.
class ImagesOfPanels {
 public:
  ImagesOfPanels(const BlockPattern& from, const BlockPattern& to, const Renumbering& renumbering)
      : from_(from), to_(to), renumbering_(renumbering), slot_(static_cast<std::size_t>(to.panels()), -1) {}

  /// Appends a list for each panel of B to `lists`; entry(pair, block) is what it gets, if anything.
  template <class Entry, class Make>
  void append(Index source, Index number, const BlockWay& way,
              std::vector<KeyedList<PanelPair, Entry>>& lists, const Make& make) {
    const std::size_t first = lists.size();
    for_each_image(from_, source, way, renumbering_, [&](Index row, Index col, Index block) {
      if (!to_.layout().stores(row, col)) return;
      const Index panel = to_.panel(to_.rows().panel_of(row), to_.cols().panel_of(col));
      if (to_.panel_blocks(panel) == 0) return;
      const Index offset = from_.index(source).offset[static_cast<std::size_t>(block)];
      const std::optional<Entry> entry =
          make(panel, MovingBlock{offset, static_cast<std::int32_t>(row), static_cast<std::int32_t>(col)});
      if (!entry) return;
      Index& slot = slot_[static_cast<std::size_t>(panel)];
      if (slot < 0) {
        slot = static_cast<Index>(lists.size());
        lists.push_back({{source, number, panel}, {}});
      }
      lists[static_cast<std::size_t>(slot)].entries.push_back(*entry);
    });
    for (std::size_t list = first; list < lists.size(); ++list)
      slot_[static_cast<std::size_t>(lists[list].key.destination)] = -1;
  }

 private:
  const BlockPattern &from_, &to_;
  const Renumbering& renumbering_;
  std::vector<Index> slot_;  // of the panels of B: number of the list, or -1
};

/// With several ranks: the moves into this rank's panels of B, by pairs. Collective.
std::vector<PanelMoves> moves_of_rank(const BlockPattern& from, const BlockPattern& to,
                                      const ElementWindow& window, const Renumbering& renumbering,
                                      std::span<const BlockWay> ways) {
  ImagesOfPanels images(from, to, renumbering);
  std::vector<MovingBlocks> blocks;
  for (Index source = 0; source < from.panels(); ++source)
    for (std::size_t way = 0; from.panel_local(source) && way < ways.size(); ++way)
      images.append(source, static_cast<Index>(way), ways[way], blocks,
                    [&](Index, const MovingBlock& block) -> std::optional<MovingBlock> {
                      if (!touches(window, to.layout(), block.row, block.col)) return std::nullopt;
                      return block;
                    });
  blocks = send_lists(from.runtime(), std::move(blocks),
                      [&](const PanelPair& pair) { return to.panel_owner(pair.destination); });
  std::vector<PanelMoves> result;
  for (const auto& [pair, candidates] : blocks) {
    PanelMoves moves{pair, {}};
    for (const MovingBlock& block : candidates)
      if (const auto move = move_into(to, pair.destination, block,
                                      ways[static_cast<std::size_t>(pair.way)].transposed, window))
        moves.entries.push_back(*move);
    if (!moves.entries.empty()) result.push_back(std::move(moves));
  }
  std::sort(result.begin(), result.end(),
            [](const PanelMoves& x, const PanelMoves& y) { return x.key < y.key; });
  return result;
}

}  // namespace

bool touches(const ElementWindow& window, const BlockLayout& layout, Index row, Index col) {
  const Index first_row = layout.rows->first(row), end_row = layout.rows->first(row + 1);
  const Index first_col = layout.cols->first(col), end_col = layout.cols->first(col + 1);
  return std::max(first_row, window.first_row) < std::min(end_row, window.end_row) &&
         std::max(first_col, window.first_col) < std::min(end_col, window.end_col);
}

void for_each_move(const BlockPattern& from, const BlockPattern& to, const ElementWindow& window,
                   const Renumbering& renumbering, std::span<const BlockWay> ways,
                   const std::function<void(const PanelPair&, const std::vector<BlockMove>&)>& visit) {
  if (from.runtime().size() == 1) {
    // One panel of A after the other: no list of all moves.
    ImagesOfPanels images(from, to, renumbering);
    std::vector<PanelMoves> found;
    for (Index source = 0; source < from.panels(); ++source)
      for (std::size_t way = 0; way < ways.size(); ++way) {
        found.clear();
        images.append(source, static_cast<Index>(way), ways[way], found,
                      [&](Index panel, const MovingBlock& block) {
                        return move_into(to, panel, block, ways[way].transposed, window);
                      });
        for (const auto& [pair, moves] : found) visit(pair, moves);
      }
    return;
  }
  const std::vector<PanelMoves> mine = moves_of_rank(from, to, window, renumbering, ways);
  std::vector<PanelPair> pairs;
  for (const PanelMoves& moves : mine) pairs.push_back(moves.key);
  auto next = mine.begin();
  const std::vector<BlockMove> elsewhere;
  for (const PanelPair& pair : values_of_all(from.runtime(), std::move(pairs))) {
    const bool here = next != mine.end() && next->key == pair;
    visit(pair, here ? next->entries : elsewhere);
    if (here) ++next;
  }
}

}  // namespace tessera::detail
