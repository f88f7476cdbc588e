// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera {

/// C := alpha op(A) op(B) + beta C on parts of three tiles, after BLAS gemm.   [2 m n k, complex: x 4]
/// | operand | mode                | shape | what                                                              |
/// |---------|---------------------|-------|-------------------------------------------------------------------|
/// | a, b    | read                | tiles |                                                                   |
/// | sum     | write or read-write | tile  | C as a sum: beta is 0 for the first task of the sequence that     |
/// |         |                     |       | writes it (what is beside the part is lost then), 1 for the others |
/// | c       | read-write          | tile  | C with a beta of its own; just one of sum and c is there          |
template <class T>
struct Gemm {
  static constexpr const char* name = "gemm";
  Read<Matrix<T>> a, b;
  WriteOrAdd<Matrix<T>> sum{};
  ReadWrite<Matrix<T>> c{};
  Op op_a = Op::none, op_b = Op::none;
  T alpha = 1, beta = 1;            ///< beta: of c
  TilePart part_a, part_b, part_c;  ///< none is empty

  Index depth() const noexcept { return op_a == Op::none ? part_a.cols : part_a.rows; }
  double flops() const noexcept {
    return 2.0 * flop_factor<T> * double(part_c.rows) * double(part_c.cols) * double(depth());
  }
  std::uint32_t footprint() const noexcept {
    return footprint_of(int(op_a), int(op_b), part_c.rows, part_c.cols, depth());
  }
  // In the body:
  MatrixView<T> result() const noexcept { return part_c.of(sum ? *sum : *c); }
  T factor_of_result() const noexcept { return sum ? T(sum.first() ? 0 : 1) : beta; }
};

}  // namespace tessera
