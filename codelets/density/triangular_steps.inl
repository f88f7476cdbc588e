// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/density/triangular_steps.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

/// Width of the strips into which products are cut: what is computed with zeros grows with it, narrow products are slow.
inline Index triangular_strip(Index n) noexcept {
  return std::clamp<Index>(ceil_div(n, 6), 512, 1024);
}

template <class T, class Context>
void run(const Context& on, const TriangularProduct<T>& task) {
  const MatrixView<const T> z = *task.z, b = *task.b;
  const MatrixView<T> c = *task.c;
  const Index n = task.n, width = triangular_strip(n);
  for (Index i = 0; i < n; i += width) {
    const Index rows = std::min(width, n - i), end = i + rows;
    const MatrixView<T> strip = c.block(i, 0, rows, n);
    if (task.op == Op::none)
      la::gemm<T>(on, Op::none, Op::none, 1, z.block(i, 0, rows, end), b.block(0, 0, end, n), 0, strip);
    else
      la::gemm<T>(on, Op::adjoint, Op::none, 1, z.block(i, i, n - i, rows), b.block(i, 0, n - i, n), 0,
                  strip);
  }
}

template <class T, class Context>
void run(const Context& on, const LowerTriangularProduct<T>& task) {
  const MatrixView<const T> z = *task.z, b = *task.b;
  const MatrixView<T> c = *task.c;
  const Index n = task.n, width = triangular_strip(n);
  for (Index j = 0; j < n; j += width) {
    const Index cols = std::min(width, n - j), end = j + cols;
    la::gemm<T>(on, Op::none, Op::adjoint, 1, b.block(j, 0, n - j, end), z.block(j, 0, cols, end), 0,
                c.block(j, j, n - j, cols));
  }
}

}  // namespace tessera::detail
