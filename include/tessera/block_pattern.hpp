// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include <tessera/block_layout.hpp>

namespace tessera {

/// Block numbers of one block.
struct BlockCoordinate {
  Index row;  ///< block row, from 0
  Index col;  ///< block column, from 0
  /// By rows, then columns.
  auto operator<=>(const BlockCoordinate&) const = default;
};

/// The blocks of one panel in compressed rows, by positions within the panel's rows and columns. The panel's
/// data holds the blocks one after the other in this order, each column-major without gaps.
struct PanelIndex {
  std::vector<std::int32_t> row_begin;  ///< for each row of the panel, and the end
  std::vector<std::int32_t> column;     ///< ascending within a row
  std::vector<Index> offset;            ///< element at which a block begins; then the number of elements

  /// Stored blocks.
  Index blocks() const noexcept { return static_cast<Index>(column.size()); }
  /// Of these.
  Index elements() const noexcept { return offset.empty() ? 0 : offset.back(); }
  /// Number of the block at a position, or -1.
  Index find(Index row, Index col) const noexcept;
  /// The same blocks at the same positions.
  bool same_blocks(const PanelIndex& other) const noexcept {
    return column == other.column && (column.empty() || row_begin == other.row_begin);
  }
};

/// What is known of a panel without its index.
struct PanelCounts {
  Index blocks = 0;             ///< stored blocks
  Index elements = 0;           ///< their elements
  Index diagonal_blocks = 0;    ///< of these blocks those whose row and column have the same number
  Index diagonal_elements = 0;  ///< elements of these
};

/// Which blocks a matrix stores, and where. Immutable; shared by the matrices that have the same blocks. It
/// must go before its Runtime.
///
/// With several ranks each knows the index (8 to 16 bytes a block) of its own panels, and of all panels how
/// many blocks and elements they have. Who needs more for a while asks the other ranks for it (gathered). In
/// one process all is known.
///
/// A pattern that tasks have found on a GPU stays there: its index comes to the host when it is first asked
/// for.
class BlockPattern : public std::enable_shared_from_this<BlockPattern> {
 public:
  /// Where a block is stored.
  struct Location {
    Index panel;  ///< number of the panel
    Index block;  ///< number of the block within it
  };

  /// What the stored blocks are known by: the sums of two numbers for each; of the mirror images that GPUs make of a
  /// half-stored or transposed pattern, numbers that follow from that pattern's. Patterns of one layout and one
  /// identity have the same blocks, but for an accident of probability 2^-128 times the number of pairs.
  struct Identity {
    std::uint64_t first;   ///< one sum
    std::uint64_t second;  ///< the other
    /// The same blocks.
    bool operator==(const Identity&) const = default;
  };

  /// The blocks that the ranks name, each rank any; named twice counts once. Collective.
  /// @throws InvalidArgument, on every rank, for coordinates outside, or without a place in a symmetric
  /// layout, that any of them names.
  static std::shared_ptr<const BlockPattern> make(Runtime& runtime, const BlockLayout& layout,
                                                  std::span<const BlockCoordinate> local_blocks);
  /// The same where every rank names every block: nothing is communicated. Meanwhile every rank has an index
  /// of all of them.
  static std::shared_ptr<const BlockPattern> make_replicated(Runtime& runtime, const BlockLayout& layout,
                                                             std::span<const BlockCoordinate> all_blocks);
  /// The same from the finished index of every panel that this rank owns; offsets, other panels' indices and
  /// those of panels without blocks may be empty. Collective.
  /// @throws InvalidArgument for another number of panels than the layout has.
  static std::shared_ptr<const BlockPattern> from_panels(Runtime& runtime, const BlockLayout& layout,
                                                         std::vector<PanelIndex> panels);
  /// The same from a packed pattern that a task writes (packed()), whose panels have so many blocks. It is the
  /// whole pattern: with several ranks one that this rank has for itself, of its panels, whose index is asked for
  /// and then given to from_panels.
  static std::shared_ptr<const BlockPattern> from_packed(Runtime& runtime, const BlockLayout& layout,
                                                         Data packed, std::vector<PanelCounts> panels,
                                                         Identity identity);

  /// @throws InvalidArgument for coordinates outside, or without a place in a symmetric layout
  static void require_places(const BlockLayout& layout, std::span<const BlockCoordinate> blocks);

  /// Where the matrices live.
  Runtime& runtime() const noexcept { return *runtime_; }
  /// Shape and distribution.
  const BlockLayout& layout() const noexcept { return layout_; }
  /// The blocks along the rows.
  const BlockDimension& rows() const noexcept { return *layout_.rows; }
  /// The blocks along the columns.
  const BlockDimension& cols() const noexcept { return *layout_.cols; }

  /// Panels by number, column by column: panel(p, q) = p + q * row_panels().
  Index row_panels() const noexcept { return rows().panels(); }
  /// Panels along the columns.
  Index col_panels() const noexcept { return cols().panels(); }
  /// Number of panels.
  Index panels() const noexcept { return row_panels() * col_panels(); }
  /// Number of a panel.
  Index panel(Index row_panel, Index col_panel) const noexcept {
    return row_panel + col_panel * row_panels();
  }
  /// Its place along the rows.
  Index row_panel(Index panel) const noexcept { return panel % row_panels(); }
  /// Its place along the columns.
  Index col_panel(Index panel) const noexcept { return panel / row_panels(); }
  /// The rank that holds it.
  int panel_owner(Index panel) const noexcept {
    return layout_.grid.rank(rows().panel_owner(row_panel(panel)), cols().panel_owner(col_panel(panel)));
  }
  /// This rank holds it.
  bool panel_local(Index panel) const noexcept { return panel_owner(panel) == runtime_->rank(); }
  /// This rank has the index of a panel: of its own ones always, of others where they were gathered.
  bool knows(Index panel) const noexcept {
    return packed_first_ || index_[static_cast<std::size_t>(panel)] != nullptr;
  }
  /// A task has found the blocks, in one process: the index is on the host only if it was asked for.
  bool found_by_task() const noexcept { return packed_first_; }
  /// The same pattern, in which this rank knows these panels, too, as long as that object lives. Each rank
  /// names the panels that it needs; their owners send them. In one process the pattern itself. Collective.
  /// @throws InvalidArgument, on every rank, for a panel that there is not
  std::shared_ptr<const BlockPattern> gathered(std::span<const Index> panels) const;
  /// The same with all panels: for small matrices, and for tests. Collective.
  std::shared_ptr<const BlockPattern> gathered() const;
  /// Bytes of what this rank keeps: the index of the panels that it knows, in all its forms, and the numbers of
  /// all panels.
  std::size_t index_bytes() const noexcept;

  /// The blocks of a panel. Waits if a task finds them.
  /// @throws InvalidArgument for a panel that this rank does not know
  const PanelIndex& index(Index panel) const {
    if (packed_first_) unpack();
    const auto& known = index_[static_cast<std::size_t>(panel)];
    if (!known) refuse(panel);
    return *known;
  }
  /// Stored blocks of a panel.
  Index panel_blocks(Index panel) const noexcept { return panel_blocks_[static_cast<std::size_t>(panel)]; }
  /// Stored blocks of those panels of lower numbers that this rank knows.
  Index blocks_before(Index panel) const noexcept { return blocks_before_[static_cast<std::size_t>(panel)]; }
  /// Elements of the blocks of a panel.
  Index panel_elements(Index panel) const noexcept {
    return panel_elements_[static_cast<std::size_t>(panel)];
  }
  /// The pattern as tasks read it, on this rank: an array of 32-bit words, as runtime/matrix/packed_pattern.hpp
  /// describes; panels that this rank does not know have no blocks in it. Made when it is asked for first.
  /// @throws InvalidArgument for a pattern of 2^31 words or more
  const Data& packed() const;
  /// The blocks of a panel as a task sees them: an array of PanelBlock, on the panel's owner; valid where
  /// panel_blocks(panel) > 0. Made when it is asked for first: most patterns never need it.
  const Data& blocks_of(Index panel) const;

  /// Where a block is stored, if it is.
  /// @throws InvalidArgument if its panel has blocks, but this rank does not know them
  std::optional<Location> find(Index block_row, Index block_col) const;
  /// Stored blocks.
  Index blocks() const noexcept { return blocks_; }
  /// Elements of stored blocks.
  Index elements() const noexcept { return elements_; }
  /// Stored blocks in a block row, whatever panel they are in.
  /// @throws InvalidArgument if one of these panels has blocks, but this rank does not know them
  Index blocks_in_row(Index block_row) const;
  /// Of a panel that this rank knows.
  PanelCounts counts_of(Index panel) const;
  /// Elements of the stored blocks whose row and column have the same number.
  Index diagonal_elements() const;
  /// Equal on all ranks. Found with the blocks, or in one process when it is first asked for.
  Identity identity() const;
  /// The same layout and the same blocks: values lie at the same places.
  bool operator==(const BlockPattern& other) const;
  /// The coordinates of the blocks of a panel, in order.
  /// @throws InvalidArgument if the panel has blocks, but this rank does not know them
  std::vector<BlockCoordinate> coordinates(Index panel) const;

 private:
  BlockPattern(Runtime& runtime, const BlockLayout& layout) : runtime_(&runtime), layout_(layout) {}
  template <class Visit>
  void compress(const Visit& for_each_block, bool all);
  void take(std::vector<PanelIndex> panels, bool all);
  void share_numbers();
  void forget_others();
  void complete();
  Identity identity_of_known() const;
  Index diagonal_of_known() const;
  std::shared_ptr<const BlockPattern> exchanged(std::span<const Index> wanted) const;
  std::vector<std::byte> indices_of(std::span<const std::byte> panels) const;
  PanelIndex received(Index panel, const std::byte*& from) const;
  [[noreturn]] void refuse(Index panel) const;
  Data describe(Index panel) const;
  void unpack() const;
  PanelIndex unpack_panel(std::span<const std::int32_t> words, Index panel) const;
  Index packed_words() const noexcept;
  Data pack() const;
  Runtime* runtime_;
  BlockLayout layout_;
  mutable std::vector<std::shared_ptr<const PanelIndex>> index_;  // null: not known on this rank
  mutable std::vector<Data> entries_;
  mutable Data packed_;
  std::vector<Index> panel_blocks_, blocks_before_, panel_elements_;
  Index blocks_ = 0, elements_ = 0;
  Index diagonal_elements_ = 0;                  // with several ranks, or of a packed pattern
  std::vector<PanelCounts> counts_;              // of a packed pattern
  bool packed_first_ = false;                    // the index is made from packed_
  std::unique_ptr<std::once_flag[]> described_;  // for each panel: its entry is made
  mutable std::once_flag packing_;               // of packed_, or of the index
  mutable std::once_flag identifying_;
  mutable Identity identity_{};
};

/// How patterns are shared.
using BlockPatternPointer = std::shared_ptr<const BlockPattern>;

}  // namespace tessera
