// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>

#include <tessera/runtime/task.hpp>
#include <tessera/types.hpp>

/// Steps of iterations with dense Hermitian matrices, each in tiles of its lower triangle or, one beside the other in one
/// piece, a batch of `count` whole matrices of one order n: n x (n count). Tiles on the diagonal are whole squares, of
/// which products give the lower triangle and the steps make both. Flops in brackets (complex: x 4). S, T: scalar types.
namespace tessera::detail {

/// C := [C +] op(A) op(B) of a sum that is Hermitian: the lower triangle; or all of it (`whole`), of any sum.
///                                                                       [n^2 k count; whole 2 n^2 k count]
/// | operand | mode         | shape         | what                                                              |
/// |---------|--------------|---------------|-------------------------------------------------------------------|
/// | a, b    | read         | tiles, batch  | the same piece: A A^H, A^H A, or (op none) X X of a Hermitian X   |
/// | c       | write or add | batch         | n x n each; entries above the diagonal change or not              |
/// | work    | scratch      | array         | split_work(): float, k = n, ops none: by pairs of half numbers    |
/// Source of the split: Ootomo and Yokota, Int. J. High Perform. Comput. Appl. 36 (2022) 475.
template <class T>
struct HermitianProduct {
  static constexpr const char* name = "hermitian_product";
  Read<Matrix<T>> a, b;
  WriteOrAdd<Matrix<T>> c;
  GpuScratch<Array<char>> work{};
  Op op_a = Op::none, op_b = Op::none;
  Index n = 0, k = 0, count = 1;
  bool whole = false;
  double flops() const noexcept {
    return (whole ? 2 : 1) * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(k) *
           static_cast<double>(count) * flop_factor<T>;
  }
  std::uint32_t footprint() const noexcept {
    return static_cast<std::uint32_t>((int(whole) * 256 + int(op_a)) * 256 + int(op_b));
  }
  /// In the body: A A^H or A^H A; a Hermitian X is its own adjoint.
  bool squares() const noexcept { return (*a).data == (*b).data && (op_a == Op::none || op_b == Op::none); }
};

/// Sums over a matrix X, over its first columns (`own`), or over a tile and its mirror image.
struct HermitianSums {
  double trace = 0;   ///< trace(X)
  double square = 0;  ///< ||X||_F^2
  double dot = 0;     ///< Re trace(X_before X) where X was there before, else 0
};

/// X := c0 I + c1 X + c2 Y, both triangles, and the sums of the new X.
/// | operand | mode       | shape                        | what                                     |
/// |---------|------------|------------------------------|------------------------------------------|
/// | x       | read-write | tile or batch                | of a tile beside the diagonal c0 is 0    |
/// | y       | read       | the same, or absent: c2 is 0 | of diagonal tiles the lower triangle     |
/// | sums    | write      | array of count HermitianSums |                                          |
/// | own     | read       | array of count Index         | columns that the sums are over; absent: all |
/// | work    | scratch    | array                        | sums_work(count)                         |
template <class T>
struct PolynomialStep {
  static constexpr const char* name = "polynomial_step";
  ReadWrite<Matrix<T>> x;
  Read<Matrix<T>> y{};
  Write<Array<HermitianSums>> sums;
  Read<Array<Index>> own{};
  GpuScratch<Array<char>> work{};
  double c0 = 0, c1 = 0, c2 = 0;
  Index count = 1;
  bool diagonal = true;
  std::uint32_t footprint() const noexcept { return diagonal ? 1 : 0; }
};

/// X := c0 I + c2 Y in another type, both triangles, and its sums.
/// | operand | mode    | shape                        | what                                              |
/// |---------|---------|------------------------------|---------------------------------------------------|
/// | x       | write   | tile or batch                | rows and columns that only X has are zero         |
/// | y       | read    | tile or batch                | those that only Y has are left out; triangle as in PolynomialStep |
/// | sums    | write   | array of count HermitianSums |                                                   |
/// | work    | scratch | array                        | sums_work(count)                                  |
template <class S, class T>
struct ShiftedCopy {
  static constexpr const char* name = "shifted_copy";
  Write<Matrix<T>> x;
  Read<Matrix<S>> y;
  Write<Array<HermitianSums>> sums;
  GpuScratch<Array<char>> work{};
  double c0 = 0, c2 = 0;
  Index count = 1;
  bool diagonal = true;
  std::uint32_t footprint() const noexcept { return diagonal ? 1 : 0; }
};

/// The pairs of types of ShiftedCopy.
#define TESSERA_FOR_HERMITIAN_COPIES(MACRO)         \
  MACRO(float, float)                               \
  MACRO(double, double)                             \
  MACRO(double, float)                              \
  MACRO(float, double)                              \
  MACRO(std::complex<float>, std::complex<float>)   \
  MACRO(std::complex<double>, std::complex<double>) \
  MACRO(std::complex<double>, std::complex<float>) MACRO(std::complex<float>, std::complex<double>)

/// Rows of the split matrices: tensor cores want columns that begin at multiples of 16 bytes.
constexpr Index split_rows(Index n) noexcept {
  return (n + 7) / 8 * 8;
}
/// Thread blocks that share a matrix in a step.
inline constexpr Index step_blocks = 512;
/// Work spaces on a GPU, in bytes.
/// `squares`: of squares of Hermitian matrices alone.
constexpr std::size_t split_work(Index n, Index count, bool squares = true) noexcept {
  return static_cast<std::size_t>((squares ? 3 * n : 4 * split_rows(n)) * 2 * split_rows(n) * count);
}
constexpr std::size_t sums_work(Index count) noexcept {
  return static_cast<std::size_t>(count * step_blocks) * sizeof(HermitianSums);
}

}  // namespace tessera::detail
