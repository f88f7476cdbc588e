// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include <tessera/codelets/linalg/blas.hpp>

/// Products of float and complex<float> on a GPU's tensor cores, from operands that are split into two parts
/// of half precision.
///
/// An operand X is scaled by a power of two, so that its largest part lies below 2^14, and written as the sum
/// of two matrices of half precision, X = H + L: together they have 22 bits, for numbers above 2^-17 of the
/// largest one. Then
///   X Y = L_X H_Y + H_X L_Y + H_X H_Y = [L_X H_X H_X] [H_Y; L_Y; H_Y]
/// up to L_X L_Y, 2^-22 of it: one product of half precision with a sum of thrice the length, accumulated in
/// float. A complex product is the real one of matrices of 2 x 2 blocks [re, -im; im, re], of whose second
/// operand, and of the result, the first column of each block is enough, which is how they are stored.
///
/// An element that is not finite makes all of the result NaN: it would leave no bits for the others.
///
/// Error: about 2^-21 max|X| max|Y| for each product, and what a sum of float loses, up to a few times as much,
/// because tensor cores round towards zero. All elements of an operand share one scale: small ones beside large ones
/// have fewer correct bits than in float's own product. The product of the largest elements is above 2^-120.
/// Source: Markidis et al., NVIDIA Tensor Core Programmability, IPDPSW 2018; Ootomo and Yokota, Recovering
/// single precision accuracy from Tensor Cores, Int. J. High Perf. Comput. Appl. 36 (2022).
namespace tessera::detail {

/// Whether products of T can be split.
template <class T>
inline constexpr bool splittable = std::is_same_v<RealOf<T>, float>;
/// Whether products of T are made by three real products instead of four, with the same functions: those of
/// complex<double>, X Y = P1 - P2 + i (P3 - P1 - P2) with P1 = Re X Re Y, P2 = Im X Im Y and
/// P3 = (Re X + Im X) (Re Y + Im Y). Each part of the result has the error of the larger one.
template <class T>
inline constexpr bool by_three_products = std::is_same_v<T, std::complex<double>>;

/// The shape of a product: op(A) is m x k, op(B) k x n.
struct ProductShape {
  Index m = 0, n = 0, k = 0;
};

namespace split_products {

/// Tensor cores round their sums towards zero, which makes all results too small, the more the longer the sum: long
/// ones are cut, and added in float.
inline constexpr Index longest_sum = 2048;
/// Rows and leading dimensions are multiples of it: 16 bytes.
inline constexpr Index alignment = 8;
inline constexpr std::size_t header_bytes = 256;

template <class T>
inline constexpr Index reals = is_complex<T> ? 2 : 1;
constexpr Index padded(Index rows) noexcept {
  return ceil_div(rows, alignment) * alignment;
}

}  // namespace split_products

namespace three_products {

/// Rows of the planes are multiples of it: 128 bytes.
inline constexpr Index alignment = 16;
/// Columns of the result at a time that are worth it.
inline constexpr Index fewest_columns = 256;
constexpr Index padded_rows(Index rows) noexcept {
  return ceil_div(rows, alignment) * alignment;
}
/// Of the planes of the first operand, of some columns of the second and of the result. Below 2^36 products cuBLAS'
/// own three products are about as fast and need none; a few bytes tell a task that they are wanted.
constexpr std::size_t bytes(Index m, Index n, Index k) noexcept {
  if (double(m) * double(n) * double(k) < 0x1p36) return split_products::header_bytes;
  const Index columns = std::min(padded_rows(n), std::max<Index>(padded_rows(n / 8), 1024));
  return 3 * sizeof(double) *
         static_cast<std::size_t>(padded_rows(m) * padded_rows(k) + columns * (m + padded_rows(k)) +
                                  alignment * k);
}

/// The columns of the result that the work space has room for at a time, of A with `rows_a` x `cols_a` elements as it is
/// stored; at most 0 if it has none.
constexpr Index columns_at_once(std::size_t work_bytes, Index rows_a, Index cols_a, Index m,
                                Index k) noexcept {
  // Rows of an adjoint B are padded, too.
  const Index room =
      static_cast<Index>(work_bytes / sizeof(double)) - 3 * padded_rows(rows_a) * cols_a - 3 * alignment * k;
  return room / std::max<Index>(3 * (m + padded_rows(k)), 1) / alignment * alignment;
}

}  // namespace three_products

/// Bytes of work space for products of up to this shape; 0 if they are not split. Up to a quarter of the
/// largest matrix, more only where that would cut the operands to small pieces; complex<double>: see
/// three_products::bytes.
template <class T>
constexpr std::size_t split_product_bytes(const ProductShape& largest) noexcept {
  using namespace split_products;
  if constexpr (by_three_products<T>) return three_products::bytes(largest.m, largest.n, largest.k);
  if constexpr (!splittable<T>) return 0;
  const auto& [m, n, k] = largest;
  const Index sum = std::min(padded(reals<T> * k), longest_sum), left = padded(reals<T> * m);
  const Index whole = 3 * sum * (left + padded(n));
  const Index least = 3 * sum * (left + std::min<Index>(padded(n), 2048));
  const Index quarter = std::max({m * n, m * k, k * n}) * reals<T> / 2;
  return header_bytes + 2 * static_cast<std::size_t>(std::min(whole, std::max(quarter, least)));
}

/// Whether a product of this shape gains by it: its operands are read twice more, and written.
template <class T>
constexpr bool worth_splitting(const ProductShape& shape) noexcept {
  if constexpr (by_three_products<T>) return std::min({shape.m, shape.n, shape.k}) >= 512;
  return splittable<T> && std::min(shape.m, shape.n) >= 256 && shape.k >= 128 &&
         2. * double(shape.m) * double(shape.n) * double(shape.k) * flop_factor<T> >= 4e9;
}

/// C := alpha op(A) op(B) + beta C by split operands; op: none or adjoint. work: split_product_bytes of the
/// product's shape or more. [2 m n k, in hardware 6 m n k; complex: x 4]
template <class T>
void split_gemm(const CudaContext& on, Op op_a, Op op_b, RealOf<T> alpha, la::Factor<T> a, la::Factor<T> b,
                RealOf<T> beta, MatrixView<T> c, std::span<char> work) noexcept;

/// subtract_lower_product (hermitian.hpp) by split operands: C := C - X Y^H for the lower triangle of C.
/// Elements just above the diagonal change as well. work: split_product_bytes of n x n x k; complex<double> needs none.
/// [n^2 k; complex: x 4]
template <class T>
void split_subtract_lower_product(const CudaContext& on, la::Factor<T> x, la::Factor<T> y, MatrixView<T> c,
                                  std::span<char> work) noexcept;

/// la::gemm, on a GPU by split operands where there is work space and the product is worth it.
template <class T>
void gemm_or_split(const HostContext& on, Op op_a, Op op_b, RealOf<T> alpha, la::Factor<T> a, la::Factor<T> b,
                   RealOf<T> beta, MatrixView<T> c, std::span<char>) noexcept {
  la::gemm(on, op_a, op_b, T(alpha), a, b, T(beta), c);
}
template <class T>
void gemm_or_split(const CudaContext& on, Op op_a, Op op_b, RealOf<T> alpha, la::Factor<T> a, la::Factor<T> b,
                   RealOf<T> beta, MatrixView<T> c, std::span<char> work) noexcept {
  if constexpr (splittable<T> || by_three_products<T>) {
    if (!work.empty() && worth_splitting<T>({c.rows, c.cols, la::inner_size(op_a, a)}))
      return split_gemm<T>(on, op_a, op_b, alpha, a, b, beta, c, work);
  }
  la::gemm(on, op_a, op_b, T(alpha), a, b, T(beta), c);
}

}  // namespace tessera::detail
