// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <tessera/block_pattern.hpp>
#include <tessera/codelets/block_sparse/symbolic/product_panel.hpp>

/// The symbolic phase of a block-sparse product C = A B.
namespace tessera::detail {

/// Norms of the blocks, panel by panel, and for each row of blocks the smallest ||A_ik|| ||B_kj|| that is
/// multiplied.
struct ProductFilter {
  std::vector<std::vector<double>> norms_a, norms_b;
  std::vector<double> row_limit;
};

/// What is multiplied: A and B as ProductOperands makes them, and C's blocks before.
struct ProductPatterns {
  const BlockPattern *a, *b;
  BlockPatternPointer c;
  bool retain_sparsity = false;
  const ProductFilter* filter = nullptr;
  DenseRule dense{};
};

/// The blocks of C after the product, and the number of products, panel by panel. Holds what the tasks that
/// list the products read: it must outlive them, and the patterns must outlive it.
class SymbolicProduct {
 public:
  /// Counts by tasks, one for each panel of C that this rank owns; waits. Collective.
  explicit SymbolicProduct(const ProductPatterns& patterns);
  SymbolicProduct(const SymbolicProduct&) = delete;
  SymbolicProduct& operator=(const SymbolicProduct&) = delete;

  /// C's blocks; the pattern of before if there are no new ones.
  const BlockPatternPointer& pattern() const noexcept { return pattern_; }
  Index inner_panels() const noexcept { return inner_panels_; }
  /// The sizes of blocks that occur, along the rows and columns of C and the inner dimension.
  std::span<const Index> row_sizes() const noexcept { return rows_.sizes; }
  std::span<const Index> col_sizes() const noexcept { return cols_.sizes; }
  std::span<const Index> inner_sizes() const noexcept { return inner_.sizes; }
  /// Products that an inner panel has for a panel of C, of any rank.
  Index products(Index panel, Index inner) const noexcept {
    return products_[static_cast<std::size_t>(panel * inner_panels_ + inner)];
  }
  /// They are computed as one product of dense panels: the filter leaves none of them out.
  bool dense(Index panel, Index inner) const noexcept {
    return dense_[static_cast<std::size_t>(panel * inner_panels_ + inner)] != 0;
  }
  /// Of all ranks.
  Index filtered_products() const noexcept { return filtered_; }
  /// Of a panel of this rank.
  const ProductPanel& panel(Index panel) const noexcept { return panels_[static_cast<std::size_t>(panel)]; }
  const ProductCounts& counts(Index panel) const noexcept { return counts_[static_cast<std::size_t>(panel)]; }

 private:
  struct SizeClasses {
    std::vector<Index> sizes;                        // each size once
    std::vector<std::vector<std::int32_t>> classes;  // for each panel, of its blocks
    explicit SizeClasses(const BlockDimension& dimension);
    PanelSizes of_panel(Index panel) const noexcept;
  };
  void describe(const ProductPatterns& patterns, Index panel);
  void count(Runtime& runtime);
  void gather(const ProductPatterns& patterns);
  BlockPatternPointer grown_pattern(const BlockPattern& c);
  SizeClasses rows_, cols_, inner_;
  Index inner_panels_;
  std::vector<std::vector<double>> row_limit_;  // for each row panel
  std::vector<ProductPanel> panels_;
  std::vector<ProductCounts> counts_;
  std::vector<Index> products_;
  std::vector<char> dense_;
  Index filtered_ = 0;
  BlockPatternPointer pattern_;
};

}  // namespace tessera::detail
