// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime/task.hpp>
#include <tessera/types.hpp>

/// Steps with the inverse Z of a Cholesky factor L, each of a whole matrix of order n: general products of blocks in place
/// of substitutions, of which GPUs compute several times as many flops a second. Flops in brackets (complex: x 4).
namespace tessera::detail {

/// Z := L^{-1}, zero above the diagonal.                                             [n^3 / 3; on GPUs twice that]
/// | operand | mode    | shape | what                                   |
/// |---------|---------|-------|----------------------------------------|
/// | l       | read    | n x n | lower triangle                         |
/// | z       | write   | n x n |                                        |
/// | work    | scratch | array | inverse_work(n) elements               |
template <class T>
struct InvertTriangle {
  static constexpr const char* name = "invert_triangle";
  Read<Matrix<T>> l;
  Write<Matrix<T>> z;
  GpuScratch<Array<T>> work{};
  Index n = 0;
  double flops() const noexcept { return double(n) * double(n) * double(n) / 3 * flop_factor<T>; }
};

/// C := op(Z) B, Z lower triangular with zeros above, op none or adjoint.            [n^3]
/// | operand | mode  | shape | what |
/// |---------|-------|-------|------|
/// | z, b    | read  | n x n |      |
/// | c       | write | n x n |      |
template <class T>
struct TriangularProduct {
  static constexpr const char* name = "triangular_product";
  Read<Matrix<T>> z, b;
  Write<Matrix<T>> c;
  Op op = Op::none;
  Index n = 0;
  double flops() const noexcept { return double(n) * double(n) * double(n) * flop_factor<T>; }
  std::uint32_t footprint() const noexcept { return op == Op::none ? 0 : 1; }
};

/// C := B Z^H, Z lower triangular with zeros above, a Hermitian product: the lower triangle.  [n^3 / 3]
/// | operand | mode  | shape | what                                              |
/// |---------|-------|-------|---------------------------------------------------|
/// | z, b    | read  | n x n |                                                   |
/// | c       | write | n x n | entries above the diagonal have no meaning        |
template <class T>
struct LowerTriangularProduct {
  static constexpr const char* name = "lower_triangular_product";
  Read<Matrix<T>> z, b;
  Write<Matrix<T>> c;
  Index n = 0;
  double flops() const noexcept { return double(n) * double(n) * double(n) / 3 * flop_factor<T>; }
};

/// Order of the diagonal blocks that GPUs invert directly.
inline constexpr Index inverted_block = 32;
/// Elements of the work space of InvertTriangle: products of the blocks of one level, a quarter of the matrix.
constexpr Index inverse_work(Index n) noexcept {
  return (n / 2 + inverted_block) * (n / 2 + inverted_block);
}

}  // namespace tessera::detail
