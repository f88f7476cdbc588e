// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/block_sparse/product_operands.hpp>
#include <tessera/block_operations.hpp>

namespace tessera::detail {

namespace {

bool same_grid(const ProcessGrid& a, const ProcessGrid& b) {
  return a.rows == b.rows && a.cols == b.cols && a.column_major == b.column_major;
}

/// Whether a window leaves something of a matrix out.
bool cuts(const ElementWindow& window, Index rows, Index cols) {
  return window.first_row > 0 || window.first_col > 0 || window.end_row < rows || window.end_col < cols;
}

/// The dimension itself where its panels and the number of owners fit, else a copy with another distribution
/// of the panels.
BlockDimensionPointer inner_dimension(const BlockDimensionPointer& panels, const BlockDimensionPointer& own,
                                      int owner_count) {
  if (own && own->same_panels(*panels) && own->owner_count() <= owner_count) return own;
  return BlockDimension::with_owners(*panels, owner_count);
}

}  // namespace

template <class T>
ProductOperands<T>::ProductOperands(Sequence& sequence, Op op_a, Op op_b, T alpha,
                                    const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                                    const BlockSparseMatrix<T>& c, const MultiplyLimits& limits)
    : a_(&a), b_(&b) {
  const BlockLayout &la = a.layout(), &lb = b.layout(), &lc = c.layout();
  const ElementWindow window_a{limits.first_row, limits.end_row, limits.first_inner, limits.end_inner},
      window_b{limits.first_inner, limits.end_inner, limits.first_col, limits.end_col};
  const Index inner = op_a == Op::none ? a.cols() : a.rows();
  const bool usable_a = op_a == Op::none && la.symmetry == Symmetry::none && same_grid(la.grid, lc.grid) &&
                        *la.rows == *lc.rows && !cuts(window_a, c.rows(), inner);
  const bool usable_b = op_b == Op::none && lb.symmetry == Symmetry::none && same_grid(lb.grid, lc.grid) &&
                        *lb.cols == *lc.cols && !cuts(window_b, inner, c.cols());
  // The inner panels are those of an operand that can stay as it is, else A's.
  const BlockDimensionPointer panels = !usable_a && usable_b ? lb.rows : op_a == Op::none ? la.cols : la.rows;
  BlockLayout image_a{lc.rows, nullptr, lc.grid, Symmetry::none},
      image_b{nullptr, lc.cols, lc.grid, Symmetry::none};
  image_a.cols = inner_dimension(panels, op_a == Op::none ? la.cols : nullptr, lc.grid.cols);
  image_b.rows = inner_dimension(panels, op_b == Op::none ? lb.rows : nullptr, lc.grid.rows);
  bool make_a = !usable_a || !(*image_a.cols == *la.cols), make_b = !usable_b || !(*image_b.rows == *lb.rows);
  T factor_a(1), factor_b(1);
  if (alpha != T(1)) {
    // An image that is made anyway carries alpha at no cost; else that of the smaller operand.
    const bool to_a = make_a != make_b ? make_a : a.pattern().elements() <= b.pattern().elements();
    (to_a ? factor_a : factor_b) = alpha;
    (to_a ? make_a : make_b) = true;
  }
  if (make_a) {
    image_a_ = make_image(sequence, factor_a, a, image_a, op_a, false, window_a);
    a_ = &image_a_;
  }
  if (make_b) {
    image_b_ = make_image(sequence, factor_b, b, image_b, op_b, false, window_b);
    b_ = &image_b_;
  }
}

template <class T>
std::vector<Index> blocks_in_rows(Op op, const BlockSparseMatrix<T>& a) {
  const BlockPattern& pattern = a.pattern();
  std::vector<double> count(static_cast<std::size_t>(op == Op::none ? a.block_rows() : a.block_cols()), 0);
  for (Index panel = 0; panel < pattern.panels(); ++panel) {
    if (!pattern.panel_local(panel)) continue;
    for (auto [row, col] : pattern.coordinates(panel)) {
      if (op != Op::none) std::swap(row, col);
      ++count[static_cast<std::size_t>(row)];
      if (a.symmetry() != Symmetry::none && row != col) ++count[static_cast<std::size_t>(col)];
    }
  }
  a.runtime().all_reduce_sum(count.data(), static_cast<Index>(count.size()));
  return {count.begin(), count.end()};
}

#define TESSERA_INSTANTIATE(T)       \
  template class ProductOperands<T>; \
  template std::vector<Index> blocks_in_rows<T>(Op, const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
