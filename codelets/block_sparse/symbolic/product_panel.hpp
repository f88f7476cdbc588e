// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/codelets/block_sparse/symbolic/dense_choice.hpp>
#include <tessera/runtime/task.hpp>

/// One panel of a product C = A B: host metadata, which must live until the tasks that read it have ended,
/// and the task that counts its products on CPUs.
namespace tessera::detail {

/// The blocks of a panel in compressed rows, by positions within the panel.
struct PanelRows {
  const std::int32_t* row_begin = nullptr;  ///< rows + 1
  const std::int32_t* column = nullptr;     ///< ascending within a row
  const Index* offset = nullptr;            ///< element at which a block begins
  const double* norm = nullptr;  ///< Frobenius norm of each block; only with a filter, in the bodies
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
  std::span<const Index> row_numbers;  ///< of the blocks in the matrix
  std::span<const Index> col_numbers;
  const double* row_limit = nullptr;  ///< for each row of the panel; null: no filter
  DenseRule dense{};                  ///< when products of blocks become one of dense panels
  bool dense_despite_filter = false;  ///< also where the filter leaves products out, which are then computed

  /// A and B both have blocks in an inner panel.
  bool meets(const InnerPanel& with) const noexcept {
    return with.a.row_begin[rows.blocks] > 0 && with.b.row_begin[with.inner.blocks] > 0;
  }
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

/// The norms of the blocks of panels, from their squares.
std::vector<std::vector<double>> square_roots(const ReadAll<Array<double>>& squares);

/// Seconds that the task below is expected to take.
double count_seconds(const ProductPanel& panel) noexcept;

/// The blocks of one panel of C = A B after the product, and for each inner panel the number of products of
/// each shape. Row-wise with a dense accumulator over the panel's columns; without masks and filter, and if
/// the rows of B are full enough, a row of B at a time, as one bit for each block. For each inner panel it also
/// says whether its products, if none is left out by the filter, become one dense product (dense_choice.hpp),
/// which needs no list.
///
/// | operand | mode | shape            | what                                        |
/// |---------|------|------------------|---------------------------------------------|
/// | norms   | read | arrays of double | with a filter: squares of the blocks' norms |
/// Norms come in pairs, of A and of B, one for each inner panel in which both have blocks.
/// Panel and result are metadata of the caller, alive until the task has ended; on ranks that do not own C they
/// are not used. No flops; the number of products predicts the time. Runs on CPUs, on the rank that the
/// insertion names; with GPUs find_products and write_product_pattern (find_products.hpp) stand in for it.
/// Source: F. G. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted
/// transposition (1978).
struct CountProducts {
  static constexpr const char* name = "count_products";
  ReadAll<Array<double>> norms;
  const ProductPanel* panel;  ///< of C
  ProductCounts* counts;      ///< the result
  double expected = count_seconds(*panel);
  double seconds(WorkerKind, double) const noexcept { return expected; }
};

namespace kernels {

void count_products(const ProductPanel& panel, ProductCounts& counts);

}  // namespace kernels

}  // namespace tessera::detail
