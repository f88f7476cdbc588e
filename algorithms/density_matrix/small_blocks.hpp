// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/data.hpp>
#include <tessera/types.hpp>

namespace tessera::detail {

/// C := op(L) A op(R) of small blocks, where a call of BLAS takes longer than the product.
template <class T>
void multiply_block(Op op_l, MatrixView<const T> l, MatrixView<const T> a, Op op_r, MatrixView<const T> r,
                    MatrixView<T> c) {
  const auto element = [](Op op, const MatrixView<const T>& x, Index i, Index j) {
    return op == Op::none ? x(i, j) : conjugate(x(j, i));
  };
  thread_local std::vector<T> column;
  column.resize(static_cast<std::size_t>(a.rows));
  for (Index j = 0; j < c.cols; ++j) {
    std::fill(column.begin(), column.end(), T(0));
    for (Index k = 0; k < a.cols; ++k) {
      const T factor = element(op_r, r, k, j);
      if (factor == T(0)) continue;
      for (Index i = 0; i < a.rows; ++i) column[static_cast<std::size_t>(i)] += a(i, k) * factor;
    }
    for (Index i = 0; i < c.rows; ++i) {
      T sum = 0;
      for (Index k = 0; k < a.rows; ++k) sum += element(op_l, l, i, k) * column[static_cast<std::size_t>(k)];
      c(i, j) = sum;
    }
  }
}

}  // namespace tessera::detail
