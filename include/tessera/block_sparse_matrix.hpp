// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <tessera/block_pattern.hpp>
#include <tessera/sequence.hpp>

namespace tessera {

/// A matrix of which only some blocks are stored. The blocks of a panel (a few rows of blocks by a few
/// columns of blocks, all of one rank) lie in one piece of data. What it is made of can be copied cheaply
/// (pattern); the values are moved. A panel without blocks has no data.
///
/// The functions that compute with it (block_operations.hpp, multiply.hpp, ...) return when they have
/// submitted their tasks to the caller's Sequence, unless they say that they wait. Whoever lets tasks read a
/// panel on another rank than its owner's flushes the remote copies (Data::flush_remote_copies) after the
/// last such task: the owner may change the values from the host, of which other ranks hear nothing.
template <class T>
class BlockSparseMatrix {
 public:
  BlockSparseMatrix() = default;
  /// Blocks without values; the first access of a panel must be a write.
  explicit BlockSparseMatrix(BlockPatternPointer pattern);
  /// Blocks whose values are pieces that other matrices may have, too: for each panel with blocks one of its
  /// size and owner, null for the others. Whoever changes one changes it in all these matrices.
  BlockSparseMatrix(BlockPatternPointer pattern, std::vector<std::shared_ptr<const Data>> panels) noexcept;

  /// It was made.
  bool valid() const noexcept { return pattern_ != nullptr; }
  /// Where it lives.
  Runtime& runtime() const noexcept { return pattern_->runtime(); }
  /// Which blocks it stores.
  const BlockPattern& pattern() const noexcept { return *pattern_; }
  /// The same, to share it.
  const BlockPatternPointer& pattern_pointer() const noexcept { return pattern_; }
  /// Shape and distribution.
  const BlockLayout& layout() const noexcept { return pattern_->layout(); }
  /// What is stored.
  Symmetry symmetry() const noexcept { return layout().symmetry; }
  /// Elements.
  Index rows() const noexcept { return pattern_->rows().elements(); }
  /// Elements along the columns.
  Index cols() const noexcept { return pattern_->cols().elements(); }
  /// Blocks along the rows.
  Index block_rows() const noexcept { return pattern_->rows().blocks(); }
  /// Blocks along the columns.
  Index block_cols() const noexcept { return pattern_->cols().blocks(); }
  /// The values of a panel: an array of T. Valid where pattern().panel_blocks(panel) > 0.
  const Data& panel(Index panel) const noexcept {
    const auto& values = panels_[static_cast<std::size_t>(panel)];
    return values ? *values : nothing_;
  }
  /// The same, to share it with another matrix; null for a panel without blocks.
  const std::shared_ptr<const Data>& shared_panel(Index panel) const noexcept {
    return panels_[static_cast<std::size_t>(panel)];
  }
  /// Frees the values, but for those that another matrix shares, once the submitted tasks have used them.
  void release() { panels_.clear(); }

  /// Replaces the values of one stored block of this rank; in a half-stored matrix a block above the diagonal
  /// replaces its mirror image. The matrix has values. Waits for the tasks that use its panel.
  /// @throws InvalidArgument if the block is not stored, of another rank, or of another size.
  void put_block(Index block_row, Index block_col, MatrixView<const T> values);
  /// Copies one stored block of this rank out (column-major), or returns nothing if it is not stored. In a
  /// half-stored matrix also the blocks that are there by symmetry. Waits for the tasks that use its panel.
  /// @throws InvalidArgument if the block is of another rank.
  std::optional<std::vector<T>> get_block(Index block_row, Index block_col) const;
  /// Calls `visit(block row, block column, values)` for each stored block of this rank, in the order of
  /// storage. Waits for the tasks that use the panels.
  void for_each_block(const std::function<void(Index, Index, MatrixView<const T>)>& visit) const;
  /// The same; `visit` may change the values.
  void for_each_block_mutable(const std::function<void(Index, Index, MatrixView<T>)>& visit);

 private:
  BlockPatternPointer pattern_;
  std::vector<std::shared_ptr<const Data>> panels_;
  static inline const Data nothing_{};
};

/// Collects blocks, then makes a matrix of them: each rank names and fills blocks that it owns. If an
/// exception that it does not catch ends this on one rank, finalize throws the same on the others.
template <class T>
class BlockSparseBuilder {
 public:
  /// @throws InvalidArgument for a layout that does not fit.
  BlockSparseBuilder(Runtime& runtime, const BlockLayout& layout);
  ~BlockSparseBuilder();
  /// Takes over what another one has collected.
  BlockSparseBuilder(BlockSparseBuilder&& other) noexcept;

  /// A block without values yet: zero unless they are put.
  /// @throws InvalidArgument for a coordinate outside, or a block of another rank.
  void reserve(Index block_row, Index block_col);
  /// Reserves every block of this rank.
  void reserve_all();
  /// Reserves the diagonal blocks of this rank.
  void reserve_diagonal();
  /// A block with its values, copied at once. In a half-stored layout a block above the diagonal is put into
  /// its mirror image.
  /// @throws InvalidArgument as above, for a wrong shape, or if it was put before.
  void put(Index block_row, Index block_col, MatrixView<const T> values);
  /// The same, added to what was put before.
  void add(Index block_row, Index block_col, MatrixView<const T> values);
  /// The rank that must put block (i, j).
  int owner(Index block_row, Index block_col) const noexcept;

  /// The matrix of all ranks' blocks; the builder is empty after. Collective; waits.
  BlockSparseMatrix<T> finalize();

 private:
  struct Detail;
  std::unique_ptr<Detail> detail_;
};

/// A matrix of the given blocks, all zero.
template <class T>
BlockSparseMatrix<T> zero_matrix(Sequence& sequence, BlockPatternPointer pattern);

}  // namespace tessera
