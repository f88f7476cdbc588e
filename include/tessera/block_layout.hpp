// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <tessera/tiled_matrix.hpp>

namespace tessera {

/// The blocks along the rows, or along the columns, of a block-sparse matrix: their sizes, the row (column)
/// of the process grid that owns each, and the panels that consecutive blocks of one owner form. Immutable
/// and shared: matrices whose dimensions are equal can be multiplied without moving blocks to other panels
/// first.
class BlockDimension {
 public:
  /// `sizes`: elements of each block, 0 allowed. `owners`: for each block a number below `owner_count`;
  /// empty: blocks are dealt out in runs of one panel. `panel_elements`: of a panel, about; 0: chosen by the
  /// extent. No panel has more than 2^15 blocks.
  /// @throws InvalidArgument for a size or a number of blocks outside 0 to 2^31 - 1, or owners that do not
  /// fit.
  static std::shared_ptr<const BlockDimension> make(std::vector<Index> sizes, int owner_count = 1,
                                                    std::vector<int> owners = {}, Index panel_elements = 0);

  /// The same sizes and panels, the panels dealt out to other owners in turn: what the inner dimension of a
  /// product needs, whose panels belong to columns of the grid in A and to rows in B.
  static std::shared_ptr<const BlockDimension> with_owners(const BlockDimension& panels, int owner_count);

  /// Any panels: `panel_of` has for each block the number of its panel, `panel_owners` for each panel a number
  /// below `owner_count`.
  /// @throws InvalidArgument as make does, and for a panel without blocks or of more than 2^15.
  static std::shared_ptr<const BlockDimension> with_panels(std::vector<Index> sizes,
                                                           std::vector<Index> panel_of,
                                                           std::vector<int> panel_owners, int owner_count);

  /// Number of blocks.
  Index blocks() const noexcept { return static_cast<Index>(sizes_.size()); }
  /// Number of elements, of all blocks.
  Index elements() const noexcept { return first_.back(); }
  /// Elements of a block.
  Index size(Index block) const noexcept { return sizes_[static_cast<std::size_t>(block)]; }
  /// Element at which a block begins; first(blocks()) == elements().
  Index first(Index block) const noexcept { return first_[static_cast<std::size_t>(block)]; }
  /// The block that holds an element.
  Index block_of(Index element) const noexcept;
  /// Row (column) of the process grid that owns a block.
  int owner(Index block) const noexcept { return panel_owner(panel_of(block)); }
  /// Rows (columns) of the process grid.
  int owner_count() const noexcept { return owner_count_; }

  /// Number of panels.
  Index panels() const noexcept { return static_cast<Index>(panels_.size()); }
  /// Block numbers of a panel, ascending.
  std::span<const Index> panel(Index p) const noexcept { return panels_[static_cast<std::size_t>(p)]; }
  /// Number of elements of a panel, of all its blocks.
  Index extent(Index p) const noexcept { return extents_[static_cast<std::size_t>(p)]; }
  /// Row (column) of the process grid that owns a panel.
  int panel_owner(Index p) const noexcept { return panel_owner_[static_cast<std::size_t>(p)]; }
  /// The panel that holds a block.
  Index panel_of(Index block) const noexcept { return panel_of_[static_cast<std::size_t>(block)]; }
  /// Number of a block within its panel.
  Index position(Index block) const noexcept { return position_[static_cast<std::size_t>(block)]; }

  /// Elements of each block.
  std::span<const Index> sizes() const noexcept { return sizes_; }
  /// The owner of each block.
  std::vector<int> owners() const;
  /// What a panel was to have of elements, about; 0: it was chosen.
  Index panel_elements() const noexcept { return panel_elements_; }

  /// The same sizes; owners and panels may differ.
  bool same_sizes(const BlockDimension& other) const noexcept { return sizes_ == other.sizes_; }
  /// The same sizes and panels; owners may differ.
  bool same_panels(const BlockDimension& other) const noexcept {
    return this == &other || (sizes_ == other.sizes_ && panel_of_ == other.panel_of_);
  }
  /// The same sizes, owners and panels.
  bool operator==(const BlockDimension& other) const noexcept;

 private:
  BlockDimension() = default;
  /// Without panels.
  BlockDimension(std::vector<Index> sizes, int owner_count);
  std::vector<Index> sizes_, first_, panel_of_, position_;
  std::vector<std::vector<Index>> panels_;
  std::vector<Index> extents_;  // of the panels
  std::vector<int> panel_owner_;
  int owner_count_ = 1;
  Index panel_elements_ = 0;
};

/// How dimensions are shared.
using BlockDimensionPointer = std::shared_ptr<const BlockDimension>;

/// Shape and distribution of a block-sparse matrix: block (i, j) belongs to rank grid.rank(owner of i, owner
/// of j).
struct BlockLayout {
  BlockDimensionPointer rows;  ///< the blocks along the rows
  BlockDimensionPointer cols;  ///< the blocks along the columns
  /// Of the ranks.
  ProcessGrid grid{};
  /// What is stored.
  Symmetry symmetry = Symmetry::none;

  /// The rank of a block.
  int owner(Index block_row, Index block_col) const noexcept {
    return grid.rank(rows->owner(block_row), cols->owner(block_col));
  }
  /// Whether the storage scheme has a place for block (i, j).
  bool stores(Index block_row, Index block_col) const noexcept {
    return symmetry == Symmetry::none || block_row >= block_col;
  }
  /// Both dimensions, the grid and the symmetry are equal.
  bool operator==(const BlockLayout& other) const noexcept;
  /// The same dimensions and grid, and both store everything or both the lower half: block (i, j) of one has
  /// the panel and the place that it has in the other.
  bool same_places(const BlockLayout& other) const noexcept;
  /// @throws InvalidArgument, naming the argument, if the dimensions' owners do not fit the grid, the grid
  /// not the ranks, or a symmetric layout is not square.
  void require_valid(const Runtime& runtime) const;
  /// Of all that must be the same on all ranks; 0 where there is one.
  std::uint64_t hash(const Runtime& runtime) const;
};

/// Elements of a panel that suit a dimension dealt out to so many owners. The tasks of a product are the
/// triples of panels. GPUs want few and large ones: five panels for every owner, so that a tenth of all blocks
/// of 23 in 11500 rows makes 10^4 products a task; three of at least 3000 elements for the one GPU of one
/// process, which shares no work. Without, four times the square root of the workers of a rank, and at least
/// eight: sixteen panels of a product for every worker, so that few wait for the last ones. Beyond 8192
/// elements, 16384 for one GPU, a panel is large enough for any worker. The order in which a product adds up
/// depends on the panels.
Index suitable_panel_elements(const Runtime& runtime, Index elements, int owner_count);

/// The number of owners for suitable_panel_elements along both dimensions of a grid: panels of equal size, so
/// that a product of matrices of one layout needs no images. A grid of twice as many columns as rows has four
/// panels for every column: fewer messages.
int owners_for_panels(const ProcessGrid& grid) noexcept;

/// The layout on the most square grid of all ranks that block sizes alone give: owners in runs of one panel.
/// Collective.
/// @throws InvalidArgument, on all ranks, for bad sizes, and where they differ between ranks
BlockLayout make_block_layout(const Runtime& runtime, std::vector<Index> row_sizes,
                              std::vector<Index> col_sizes, Symmetry symmetry = Symmetry::none);

}  // namespace tessera
