// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>

#include <tessera/block_pattern.hpp>
#include <tessera/codelets/block_sparse/symbolic/list_products.hpp>
#include <tessera/codelets/block_sparse/symbolic/product_panel.hpp>
#include <tessera/data.hpp>
#include <tessera/sequence.hpp>

namespace tessera::detail {
/// Products are computed by stacks, whose lists tasks make where GPUs are; else straight from the indices.
inline bool uses_stacks(const Runtime& runtime) noexcept {
  return runtime.gpus() > 0;
}
}  // namespace tessera::detail

/// What is known of a block-sparse product C = A B before its values are computed (its symbolic phase).
namespace tessera::detail {

/// For products on CPUs: squares of the norms of the blocks, a piece for each panel that has blocks, where the
/// panel is, and for each row of blocks the smallest ||A_ik|| ||B_kj|| that is multiplied.
struct ProductFilter {
  std::vector<Data> norms_a, norms_b;
  std::vector<double> row_limit;
};

/// What is multiplied: A and B as ProductOperands makes them, and C's blocks before.
struct ProductPatterns {
  BlockPatternPointer a, b, c;
  bool retain_sparsity = false;
  const ProductFilter* filter = nullptr;  ///< on CPUs
  DenseRule dense{};
  bool dense_despite_filter = false;
};

/// With GPUs: the products of some inner panels for one panel of C, which are computed together.
struct StackSet {
  std::vector<std::int32_t>
      inner;  ///< panels that are not computed as dense ones, in the order of their sums
  std::vector<StackClass> classes;  ///< on C's owner
  std::int32_t first_class = 0;     ///< of the panel's set in ProductPlan::begins
  std::int32_t first_inner = 0;     ///< of `inner` among those of all sets
  bool all_runs = true;             ///< `classes` has the runs of these inner panels and no more
  bool complete = false;            ///< every block of C has one run
  Data stack;                       ///< the list, if it is kept
};

/// Tasks count in 32 bits; stacks hold places in panels in stack_offset_bits. All ranks know `count`.
void require_small(const Runtime& runtime, const char* what, Index count, bool in_stacks);

/// The blocks of C after the product, the number of products, panel by panel, and, with GPUs, their lists.
/// With several ranks each has the panels of A and B that it multiplies, those of some block rows of A and block
/// columns of B, as long as the plan lives. Made from patterns alone, it serves every product of matrices with
/// these patterns; with a filter on CPUs, which norms decide about, it serves one. Holds what the tasks read: it
/// must outlive them.
class ProductPlan {
 public:
  /// Counts by tasks; waits once, for the size of C. Collective.
  explicit ProductPlan(const ProductPatterns& patterns);
  ProductPlan(const ProductPlan&) = delete;
  ProductPlan& operator=(const ProductPlan&) = delete;

  /// It was made of the same patterns in the same way; not with a filter on CPUs.
  bool serves(const ProductPatterns& patterns) const;
  /// C's blocks.
  const BlockPatternPointer& pattern() const noexcept { return pattern_; }
  /// A's and B's, in which this rank knows the panels that are multiplied for its panels of C.
  const BlockPattern& a() const noexcept { return *a_; }
  const BlockPattern& b() const noexcept { return *b_; }
  /// C has blocks that it did not have before.
  bool grown() const noexcept { return grown_; }
  Index inner_panels() const noexcept { return inner_panels_; }
  /// The sizes of blocks that occur, along the rows and columns of C and the inner dimension.
  std::span<const Index> row_sizes() const noexcept { return rows_.sizes; }
  std::span<const Index> col_sizes() const noexcept { return cols_.sizes; }
  std::span<const Index> inner_sizes() const noexcept { return inner_.sizes; }
  /// Products that an inner panel has for a panel of C, of any rank.
  Index products(Index panel, Index inner) const noexcept {
    return products_[static_cast<std::size_t>(panel * inner_panels_ + inner)];
  }
  /// They are computed as one product of dense panels.
  bool dense(Index panel, Index inner) const noexcept {
    return dense_[static_cast<std::size_t>(panel * inner_panels_ + inner)] != 0;
  }
  /// Some would be after this rule: with GPUs. Collective.
  bool any_dense(const DenseRule& rule) const;
  /// Of all ranks, on CPUs.
  Index filtered_products() const noexcept { return filtered_; }
  /// Of a panel of this rank, on CPUs.
  const ProductPanel& panel(Index panel) const noexcept { return panels_[static_cast<std::size_t>(panel)]; }
  const ProductCounts& counts(Index panel) const noexcept { return counts_[static_cast<std::size_t>(panel)]; }

  // With GPUs:
  /// The stacks of a panel of C, of any rank.
  std::vector<StackSet>& sets(Index panel) const noexcept { return sets_[static_cast<std::size_t>(panel)]; }
  /// The number of a class among all.
  std::int32_t class_number(const StackClass& shape) const noexcept;
  /// Number of classes.
  std::int32_t classes() const noexcept { return layout_.classes; }
  /// The task that lists the products of some sets, but for its pieces.
  ListProducts listing(std::span<const std::pair<Index, const StackSet*>> sets) const;
  static std::size_t stack_size(const StackSet& set) noexcept {
    return stack_bytes(stack_runs(set.classes), stack_products(set.classes));
  }
  /// Waits for the task that writes C's pattern, if that is not over.
  Status finish_pattern();
  /// Whether the lists of products without a filter stay with the plan.
  bool keeps_lists = false;
  /// Lists that products under way still read stay until these are over.
  void drop_lists() noexcept;
  /// Bytes of lists on this rank.
  double list_bytes() const noexcept;

 private:
  struct SizeClasses {
    std::vector<Index> sizes;                        // each size once
    std::vector<std::vector<std::int32_t>> classes;  // for each panel, of its blocks
    explicit SizeClasses(const BlockDimension& dimension);
    PanelSizes of_panel(Index panel) const noexcept;
    std::int32_t count() const noexcept { return static_cast<std::int32_t>(sizes.size()); }
  };
  void describe(Index panel);
  void count(const ProductFilter* filter);
  std::vector<const Data*> norms_for(Index panel, const ProductFilter& filter) const;
  void find();
  PanelsOfC panels_of_c() const;
  void take_totals(std::span<const std::int64_t> totals);
  void take_panel(Index panel, std::span<const std::int64_t> totals);
  bool wants_dense(const DenseRule& rule, Index panel, Index inner) const;
  void make_sets(std::span<const std::int64_t> totals);
  void make_classes(Index panel, StackSet& set, Index number, std::span<const std::int64_t> totals,
                    std::vector<ClassBegin>& begins);
  double expected_products() const noexcept;
  BlockPatternPointer found_pattern(const Data& totals, const Data& row_counts);
  bool gather();
  BlockPatternPointer grown_pattern();
  const ProductPatterns patterns_;
  BlockPatternPointer a_, b_;
  SizeClasses rows_, cols_, inner_;
  Index inner_panels_;
  std::vector<std::vector<double>> row_limit_;  // for each row panel
  std::vector<ProductPanel> panels_;
  std::vector<ProductCounts> counts_;
  std::vector<Index> products_;
  std::vector<char> dense_;
  Index filtered_ = 0;
  BlockPatternPointer pattern_;
  bool grown_ = false;
  // With GPUs.
  TotalsLayout layout_{};
  ProductMask mask_;
  std::vector<std::int32_t> local_panels_;
  BlockPattern::Identity identity_{};  // of C's panels of this rank
  std::vector<PanelCounts> found_;     // of the panels of this rank
  Data local_numbers_, begins_, inner_numbers_, work_;
  std::unique_ptr<Sequence> writing_;  // of the pattern
  mutable std::vector<std::vector<StackSet>> sets_;
};

}  // namespace tessera::detail
