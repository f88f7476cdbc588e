// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The bodies of check.hpp that CPUs and GPUs share. The sums are loops on CPUs and kernels on GPUs.
#pragma once

#include <tessera/codelets/dense/check.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

template <class T, class Context>
void run(const Context& on, const HermitianTimesSlab<T>& task) {
  const auto a = *task.a, x = *task.x;
  const auto y = *task.y;
  if (y.rows == 0 || y.cols == 0) return;
  if (task.y.first()) la::set_zero(on, y);
  const Index i = task.row0, j = task.col0;
  const auto x_of_rows = x.block(i, 0, a.rows, x.cols), x_of_cols = x.block(j, 0, a.cols, x.cols);
  const auto y_of_rows = y.block(i, 0, a.rows, y.cols), y_of_cols = y.block(j, 0, a.cols, y.cols);
  if (i == j) {
    la::hemm(on, Side::left, Uplo::lower, 1, a, x_of_rows, 1, y_of_rows);
    return;
  }
  la::gemm(on, Op::none, Op::none, 1, a, x_of_cols, 1, y_of_rows);
  la::gemm(on, Op::adjoint, Op::none, 1, a, x_of_rows, 1, y_of_cols);
}

template <class T, class Context>
void run(const Context& on, const AbsoluteInnerSums<T>& task) {
  const auto x = *task.x, y = *task.y;
  const Index step = task.columns_at_once();
  for (Index first = 0; first < y.cols; first += step) {
    const Index count = std::min(step, y.cols - first);
    const MatrixView<T> product{task.work.view().data(), x.cols, count, x.cols};
    la::gemm(on, Op::adjoint, Op::none, 1, x, y.block(0, first, y.rows, count), 0, product);
    row_sums<T>(on, product, task.same, first, task.sums.view().data());
  }
}

}  // namespace tessera::detail
