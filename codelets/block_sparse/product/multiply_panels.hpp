// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/codelets/block_sparse/symbolic/product_panel.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera::detail {

/// Inner panels that one task can take.
inline constexpr std::size_t max_inner_panels = 32;

/// C_ij += A_ik B_kj for all products of one panel of C with a few inner panels, straight from the indices,
/// without a list.                                                          [2 m n k a product, complex: x 4]
/// | operand | mode         | shape  | what                                                  |
/// |---------|--------------|--------|-------------------------------------------------------|
/// | c       | write or add | array  | C's values                                            |
/// | factors | read         | arrays | of each inner panel: values of A's panel, then of B's |
/// | norms   | read         | arrays | with a filter: squares of their blocks' norms, in double |
/// On ranks that do not own C, the members after the operands are not used. The flops predict the time. Runs
/// on CPUs, where C lives. On a GPU ListProducts and MultiplyStack take its place: a thread block there has no
/// cache for a row of C, and walks the list of each block of C instead.
///
/// The products of a row of blocks of C go along the rows of B: blocks of B follow each other in memory, the
/// row of C stays in the cache. The products for a block of C are added in ascending order of the inner index
/// within an inner panel, and these in the given order. Small real blocks are multiplied row by row for all
/// inner panels together (multiply_rows.hpp), if C has not many more blocks than there are products, by lists
/// if they are square and there are few products for each block of C (multiply_by_lists); others one inner
/// panel after the other, by a kernel for each product.
///
/// Source: F. G. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted
///         transposition (1978).
template <class T>
struct MultiplyPanels {
  static constexpr const char* name = "multiply_panels";
  static constexpr PerformanceModel model = PerformanceModel::regression;
  WriteOrAdd<Array<T>> c;
  ReadAll<Array<T>> factors;
  ReadAll<Array<double>> norms{};
  const ProductPanel* panel;  ///< metadata of the caller, alive until the task has ended
  std::array<std::int32_t, max_inner_panels> inner{};  ///< the numbers of the inner panels that take part
  Index products = 0;                                  ///< all together
  double counted_flops = 0;
  ProductWorker* ran_on;  ///< for each inner panel: the task stores the kind of its worker here

  double flops() const noexcept { return counted_flops; }
};

namespace kernels {
/// One inner panel, product by product.
template <class T>
void multiply_panels(const ProductPanel& panel, const InnerPanel& inner, const T* a, const T* b, T* c);
}  // namespace kernels

}  // namespace tessera::detail
