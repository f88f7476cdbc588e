// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/runtime/task.hpp>

/// Tasks of tiled Cholesky and of the reduction to standard form: products of parts of tiles; herk, her2k,
/// hemm, trsm and a pair of products on whole tiles, after BLAS 3; potrf and hegst, after LAPACK. Tiles are
/// column-major. A Hermitian tile is given by its lower triangle. A GPU may change the entries above the
/// diagonal of a Hermitian or triangular tile that it writes. Flops in brackets (complex: x 4).
namespace tessera::detail {

/// C := [C +] alpha op(A) op(B) on parts of three tiles, after BLAS gemm.       [2 m n k]
/// | operand | mode         | shape | what                                                                |
/// |---------|--------------|-------|---------------------------------------------------------------------|
/// | a, b    | read         | tiles |                                                                     |
/// | c       | write or add | tile  | the sequence's first task on the tile loses the rest of the tile    |
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
/// Work space of Potrf; an invalid handle if no GPU takes part.
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

// On a GPU, where it takes more than one call of cuBLAS: on device memory and the context's stream. Hermitian
// matrices are given by their lower triangles; entries above the diagonal of a written matrix may change.

/// C := C - A A^H. [n^2 k]
template <class T>
void launch_herk_subtract(const CudaContext& on, MatrixView<const T> a, MatrixView<T> c) noexcept;

/// C := C - A B^H - B A^H. [2 n^2 k]
template <class T>
void launch_her2k_subtract(const CudaContext& on, MatrixView<const T> a, MatrixView<const T> b,
                           MatrixView<T> c) noexcept;

/// Size of potrf's work space.
template <class T>
std::size_t potrf_bytes(Index n);

/// A := L with L L^H = A, by cuSOLVER, in `work` of potrf_bytes<T>(a.rows) bytes, aligned as by cudaMalloc.
/// `failure` is visible to the device; if it was 0, it becomes the order of the leading minor that is not
/// positive definite. False if cuSOLVER refuses the call. [n^3 / 3]
template <class T>
bool launch_potrf(const CudaContext& on, MatrixView<T> a, std::span<char> work, long long* failure);

/// Order up to which two triangular solves with the whole square are faster than LAPACK's hegst on blocks.
inline constexpr Index hegst_base = 4096;

/// A := L^-1 A L^-H, recursively on halves as LAPACK's hegst does it on blocks, down to order `base`. [n^3,
/// up to order `base` 2 n^3]
template <class T>
void launch_hegst(const CudaContext& on, MatrixView<T> a, MatrixView<const T> l,
                  Index base = hegst_base) noexcept;

}  // namespace tessera::detail
