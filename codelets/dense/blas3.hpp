// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/runtime/task.hpp>

/// Products of parts of tiles, and tasks on whole tiles, as tiled Cholesky and the reduction to standard form
/// need them: herk, her2k, hemm, trsm, and their product-pair, after BLAS 3; potrf and hegst after LAPACK.
/// Tiles are column-major; of a Hermitian tile the lower triangle counts. On a GPU, what is above the diagonal
/// of a Hermitian or triangular tile that is written may change. Flops in brackets (complex: x 4).
namespace tessera {

/// C := [C +] alpha op(A) op(B) on parts of three tiles, after BLAS gemm.       [2 m n k]
/// | operand | mode         | shape | what                                                                |
/// |---------|--------------|-------|---------------------------------------------------------------------|
/// | a, b    | read         | tiles |                                                                     |
/// | c       | write or add | tile  | what is beside the part is lost with the sequence's first task      |
template <class T>
struct Gemm {
  static constexpr const char* name = "gemm";
  Read<Matrix<T>> a, b;
  WriteOrAdd<Matrix<T>> c;
  Op op_a = Op::none, op_b = Op::none;
  T alpha = 1;
  TilePart part_a, part_b, part_c;  ///< none is empty

  Index depth() const noexcept { return op_a == Op::none ? part_a.cols : part_a.rows; }
  double flops() const noexcept {
    return 2.0 * flop_factor<T> * double(part_c.rows) * double(part_c.cols) * double(depth());
  }
  std::uint32_t footprint() const noexcept {
    return footprint_of(int(op_a), int(op_b), part_c.rows, part_c.cols, depth());
  }
};

/// C := C - A A^H, lower triangle.                                              [n^2 k]
/// | operand | mode       | shape                  |
/// |---------|------------|------------------------|
/// | a       | read       | n x k                  |
/// | c       | read-write | n x n, lower triangle  |
template <class T>
struct HerkSubtract {
  static constexpr const char* name = "herk";
  Read<Matrix<T>> a;
  ReadWrite<Matrix<T>> c;
  Index n = 0, k = 0;
  double flops() const noexcept { return double(n) * n * k * flop_factor<T>; }
};

/// C := C - A B^H - B A^H, lower triangle.                                      [2 n^2 k]
/// | operand | mode       | shape                  |
/// |---------|------------|------------------------|
/// | a, b    | read       | n x k                  |
/// | c       | read-write | n x n, lower triangle  |
template <class T>
struct Her2kSubtract {
  static constexpr const char* name = "her2k";
  Read<Matrix<T>> a, b;
  ReadWrite<Matrix<T>> c;
  Index n = 0, k = 0;
  double flops() const noexcept { return 2.0 * double(n) * n * k * flop_factor<T>; }
};

/// C := C - A1 B1^H - A2 B2^H: the off-diagonal tile of the same update.        [4 m n k]
/// | operand | mode       | shape |
/// |---------|------------|-------|
/// | a1      | read       | m x k |
/// | b1      | read       | n x k |
/// | a2      | read       | m x k |
/// | b2      | read       | n x k |
/// | c       | read-write | m x n |
template <class T>
struct GemmPairSubtract {
  static constexpr const char* name = "gemm_pair";
  Read<Matrix<T>> a1, b1, a2, b2;
  ReadWrite<Matrix<T>> c;
  Index m = 0, n = 0, k = 0;
  double flops() const noexcept { return 4.0 * double(m) * n * k * flop_factor<T>; }
};

/// C := C + alpha B A, A Hermitian, on the right.                               [2 m n^2]
/// | operand | mode       | shape                 |
/// |---------|------------|-----------------------|
/// | a       | read       | n x n, lower triangle |
/// | b       | read       | m x n                 |
/// | c       | read-write | m x n                 |
template <class T>
struct HemmRight {
  static constexpr const char* name = "hemm_right";
  Read<Matrix<T>> a, b;
  ReadWrite<Matrix<T>> c;
  T alpha = 1;
  Index m = 0, n = 0;
  double flops() const noexcept { return 2.0 * double(m) * n * n * flop_factor<T>; }
};

/// B := op(L)^-1 B (left) or B op(L)^-1 (right), L lower triangular.            [m^2 n or m n^2]
/// | operand | mode       | shape                                |
/// |---------|------------|--------------------------------------|
/// | l       | read       | of order m or n, lower triangle      |
/// | b       | read-write | m x n                                |
template <class T>
struct Trsm {
  static constexpr const char* name = "trsm";
  Read<Matrix<T>> l;
  ReadWrite<Matrix<T>> b;
  Side side = Side::left;
  Op op = Op::none;
  Index m = 0, n = 0;
  double flops() const noexcept {
    const double order = side == Side::left ? double(m) : double(n);
    return double(m) * n * order * flop_factor<T>;
  }
  std::uint32_t footprint() const noexcept { return footprint_of(int(side), int(op)); }
};

/// A := L with L L^H = A.                                                       [n^3 / 3]
/// | operand | mode       | shape                 | what               |
/// |---------|------------|-----------------------|--------------------|
/// | a       | read-write | n x n, lower triangle |                    |
/// | work    | scratch    | array                 | potrf_work<T>(n)   |
/// Errors: not_positive_definite with index = first_row + order of the leading minor in the tile.
template <class T>
struct Potrf {
  static constexpr const char* name = "potrf";
  ReadWrite<Matrix<T>> a;
  GpuScratch<Array<char>> work{};
  Index n = 0, first_row = 0;
  double flops() const noexcept { return double(n) * n * n / 3 * flop_factor<T>; }
};
/// Work space of Potrf: none (not valid) where no GPU takes part.
template <class T>
Data potrf_work(Runtime& runtime, Index n);

/// A := L^-1 A L^-H.                                                            [n^3]
/// | operand | mode       | shape                 |
/// |---------|------------|-----------------------|
/// | a       | read-write | n x n, lower triangle |
/// | l       | read       | n x n, lower triangle |
template <class T>
struct Hegst {
  static constexpr const char* name = "hegst";
  ReadWrite<Matrix<T>> a;
  Read<Matrix<T>> l;
  Index n = 0;
  double flops() const noexcept { return double(n) * n * n * flop_factor<T>; }
};

}  // namespace tessera
