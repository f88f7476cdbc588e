// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/linalg/split_products.hpp>

/// Products Y = A W of a Hermitian matrix with few columns, several with the same matrix, on a GPU's tensor cores: A is
/// split into two halves once (split_products.hpp), so that each product reads as many bytes as A itself has, and
/// does not wait for single precision's arithmetic. Float and complex<float>.
///
/// With the columns of A as they lie in memory, complex numbers as pairs of reals, and A = A^H,
///   re Y = A^T [re W, im W in pairs],  im Y = A^T [im W, -re W in pairs]
/// are products of reals, and Y = H_A H_W + (H_A L_W + L_A H_W) two of them, one for each half of A. Sums are cut at
/// split_products::longest_sum and added in float. Error and scales: as in split_products.hpp.
namespace tessera::detail {

/// Whether a product with m rows is faster by a split matrix, and makes up for the splitting.
template <class T>
constexpr bool worth_splitting_hermitian(Index m) noexcept {
  return splittable<T> && m * split_products::reals<T> >= 3072;
}

/// Where what belongs to a split matrix lies in its work space, in bytes from its beginning. The rows count as reals;
/// the halves have rows of zeros behind them, because all sums have the same length.
template <class T>
struct SplitHermitianLayout {
  Index rows, sums, ld, columns;  ///< columns: of W, as reals

  constexpr SplitHermitianLayout(Index n, Index w_columns) noexcept
      : rows(split_products::reals<T> * n),
        sums(ceil_div(std::max<Index>(rows, 1), split_products::longest_sum)),
        ld(split_products::padded(rows) + split_products::alignment * (sums + 1)),
        columns(split_products::reals<T> * w_columns) {}

  constexpr std::size_t half() const noexcept {
    return 2 * static_cast<std::size_t>(ld * (rows / split_products::reals<T>));
  }
  constexpr std::size_t high() const noexcept { return split_products::header_bytes; }
  constexpr std::size_t low() const noexcept { return high() + half(); }
  constexpr std::size_t w() const noexcept { return low() + half(); }
  constexpr std::size_t results() const noexcept {
    return w() + 2 * static_cast<std::size_t>(ld * 2 * columns);
  }
  constexpr std::size_t bytes() const noexcept {
    return results() + 4 * static_cast<std::size_t>(sums * 2 * columns * (rows / split_products::reals<T>));
  }
};

/// Splits A, n x n, both triangles. space: SplitHermitianLayout(n, columns).bytes() or more; it holds the split matrix
/// and its scale until the next.
template <class T>
void split_hermitian(const CudaContext& on, MatrixView<const T> a, Index columns,
                     std::span<char> space) noexcept;

/// Y := A(first:n, first:n) W for the matrix that was split with this n and number of columns.
///                                                    [2 m^2 columns, in hardware 6 m^2 columns; complex: x 4]
template <class T>
void split_hermitian_product(const CudaContext& on, Index n, Index first, MatrixView<const T> w,
                             MatrixView<T> y, std::span<char> space) noexcept;

}  // namespace tessera::detail
