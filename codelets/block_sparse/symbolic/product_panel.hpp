// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/codelets/block_sparse/symbolic/dense_choice.hpp>
#include <tessera/runtime/task.hpp>

/// One panel of a product C = A B: host metadata, which must live until the tasks that read it have ended,
/// and the tasks that count and list its products.
namespace tessera::detail {

/// The blocks of a panel in compressed rows, by positions within the panel.
struct PanelRows {
  const std::int32_t* row_begin = nullptr;  ///< rows + 1
  const std::int32_t* column = nullptr;     ///< ascending within a row
  const Index* offset = nullptr;            ///< element at which a block begins
  const double* norm = nullptr;             ///< Frobenius norm of each block; only with a filter
};

/// The blocks of one side of a panel by their size class: blocks of one size have one class number, the same
/// in all panels of the dimension.
struct PanelSizes {
  std::int32_t blocks = 0;
  const std::int32_t* of_block = nullptr;  ///< class of each position
  std::span<const Index> sizes;            ///< of each class
};

/// The panels of A and B that meet in one inner panel.
struct InnerPanel {
  PanelRows a, b;
  PanelSizes inner;
};

/// One panel of C and all that is multiplied for it. A product is computed if the three blocks have elements,
/// the block of C is allowed (`only_old`, `lower`), and, with a filter, ||A_ik|| ||B_kj|| >= row_limit[i].
struct ProductPanel {
  PanelSizes rows, cols;
  std::vector<InnerPanel> inner;
  PanelRows old;                       ///< the blocks that C has already
  PanelRows result;                    ///< those that it will have; not for counting
  bool only_old = false;               ///< no others
  bool lower = false;                  ///< no blocks above the diagonal
  bool listed = true;                  ///< lists will be made: their runs are counted, too
  std::span<const Index> row_numbers;  ///< of the blocks in the matrix
  std::span<const Index> col_numbers;
  const double* row_limit = nullptr;  ///< for each row of the panel; null: no filter
  DenseRule dense{};                  ///< when products of blocks become one of dense panels

  /// Some products of blocks are left out, whatever their norms.
  bool masked() const noexcept;
  /// Whether block (row, col) of C is computed if there are products for it.
  bool allows(std::int32_t row, std::int32_t col) const noexcept {
    return cols.sizes[static_cast<std::size_t>(cols.of_block[col])] > 0 &&
           (!lower ||
            row_numbers[static_cast<std::size_t>(row)] >= col_numbers[static_cast<std::size_t>(col)]);
  }
};

/// Calls visit.operator()<masked, filter>(): the loops over the products of a panel are compiled for each.
template <class Visit>
void visit_specialized(const ProductPanel& panel, const Visit& visit) {
  if (panel.masked())
    panel.row_limit ? visit.template operator()<true, true>() : visit.template operator()<true, false>();
  else
    panel.row_limit ? visit.template operator()<false, true>() : visit.template operator()<false, false>();
}

/// What count_products finds for a panel of C.
struct ProductCounts {
  std::vector<std::int32_t> row_begin, column;   ///< C's blocks after the product, in compressed rows
  std::vector<Index> offset;                     ///< where they begin in the panel, and its elements
  std::vector<std::vector<StackClass>> classes;  ///< for each inner panel
  std::vector<Index> products;                   ///< for each inner panel, whatever their number
  std::vector<char> dense;                       ///< for each inner panel: one dense product; no runs then
  Index filtered = 0;                            ///< products left out because of their norms
  bool grown = false;                            ///< C has more blocks than before
};

/// Seconds that the task below is expected to take.
double count_seconds(const ProductPanel& panel) noexcept;

/// The blocks of one panel of C = A B after the product, and for each inner panel the number of products of
/// each shape and, if they will be listed, of the blocks of C they belong to. Row-wise with a dense
/// accumulator over the panel's columns; without lists, masks and filter a row of B at a time, as one bit for
/// each block. For each inner panel it also says whether its products, if none is left out by the filter,
/// become one dense product (dense_choice.hpp), which needs no list.
///
/// No operands: panel and result are metadata of the caller, alive until the task has ended. No flops; the
/// number of products predicts the time. Runs on CPUs, on the rank that the insertion names.
/// Source: F. G. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted
/// transposition (1978).
struct CountProducts {
  static constexpr const char* name = "count_products";
  const ProductPanel* panel;  ///< of C
  ProductCounts* counts;      ///< the result
  double expected = count_seconds(*panel);
  double seconds(WorkerKind, double) const noexcept { return expected; }
};

/// The stack of the products that one inner panel contributes to a panel of C: row by row of C the products
/// of each block are counted, then put into their places. Runs are in the order in which C stores its blocks,
/// so that C streams through the caches while a row of A stays in them.
/// | operand | mode  | shape                                             | what     |
/// |---------|-------|---------------------------------------------------|----------|
/// | stack   | write | array of StackEntry, then of StackRun (stack.hpp) | the list |
/// Panel and classes are metadata of the caller, alive until the task has ended. No flops; the number of
/// products predicts the time. Runs on CPUs, on the rank that the insertion names.
struct ListProducts {
  static constexpr const char* name = "list_products";
  Write<Array<StackEntry>> stack;
  const ProductPanel* panel;            ///< of C, with its blocks after the product
  Index inner_panel;                    ///< its number
  std::span<const StackClass> classes;  ///< that count_products found there
  /// To write the entries takes time by their bytes, and to find them takes about the same again.
  static double seconds(WorkerKind, double bytes) noexcept { return 2e-6 + bytes / 8e8; }
};

namespace kernels {

void count_products(const ProductPanel& panel, ProductCounts& counts);

/// `entries` and `runs`: as long as the classes say.
void list_products(const ProductPanel& panel, const InnerPanel& inner, std::span<const StackClass> classes,
                   StackEntry* entries, StackRun* runs);

}  // namespace kernels

}  // namespace tessera::detail
