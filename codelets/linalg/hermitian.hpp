// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/runtime/task.hpp>

/// Hermitian matrices given by their lower triangles, by context: completion of the upper triangle, and on a
/// GPU updates by general products in block columns, because cuBLAS' triangular product is much slower than
/// its general one.
namespace tessera::detail {

/// Upper triangle := adjoint of the lower one, diagonal := its real part; A is square. [no flops, reads and
/// writes n^2 / 2]
template <class T>
void mirror_lower(const HostContext&, MatrixView<T> a) noexcept {
  constexpr Index square = 32;  // rows and columns at a time: both triangles stay in the cache
  for (Index j = 0; j < a.cols; ++j) a(j, j) = T(real_part(a(j, j)));
  for (Index j0 = 0; j0 < a.cols; j0 += square)
    for (Index i0 = j0; i0 < a.rows; i0 += square)
      for (Index j = j0; j < std::min(j0 + square, a.cols); ++j)
        for (Index i = std::max(i0, j + 1); i < std::min(i0 + square, a.rows); ++i)
          a(j, i) = conjugate(a(i, j));
}
template <class T>
void mirror_lower(const CudaContext& on, MatrixView<T> a) noexcept;

/// The products that make the lower triangle of an n x n result: product(row, column, m, width, count, step)
/// is the block of m x width elements at (row, column), and count - 1 more, each `step` rows and columns on.
template <class Product>
void for_each_lower_product(Index n, const Product& product) noexcept {
  // First the blocks on the diagonal, half of whose work is wasted; then the squares below them, which double
  // at each level. An incomplete block is a product of its own.
  constexpr Index width = 512;
  product(0, 0, width, width, n / width, width);
  if (const Index first = n / width * width; first < n) product(first, first, n - first, n - first, 1, 0);
  for (Index size = width; size < n; size *= 2) {
    product(size, 0, size, size, n / (2 * size), 2 * size);
    const Index col = n / (2 * size) * 2 * size, row = col + size;
    if (row < n) product(row, col, n - row, size, 1, 0);
  }
}

/// C := C - X Y^H for the lower triangle of C (n x n), X and Y n x k. Entries just above the diagonal change
/// as well. [n^2 k]
template <class T>
void subtract_lower_product(const CudaContext& on, MatrixView<const T> x, MatrixView<const T> y,
                            MatrixView<T> c) noexcept;

}  // namespace tessera::detail
