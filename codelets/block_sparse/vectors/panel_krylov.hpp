// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/runtime/task.hpp>

/// Tasks that read a Hermitian block-sparse matrix whole, both halves, from its packed pattern: where one worker has all of it,
/// they need no lists of blocks. Vectors are in the order of the matrix. Sums go in one order: the same bits in every run on
/// the same kind of worker.
namespace tessera::detail {

/// The panels of a pattern that have blocks.
struct PanelsWithBlocks {
  std::vector<std::int32_t> numbers;
  std::int32_t panels = 0, row_panels = 0;  ///< of all
  std::int32_t most_rows = 0;               ///< blocks along the rows of the largest
};

/// Steps first, ..., first + steps - 1 of the Lanczos iteration with full reorthogonalisation of factor A: column k of the
/// basis is v_k; v_0 is made, of random numbers, by the task whose first step is 0.      [2 an element and step, and more]
/// | operand      | mode       | shape                      | what                                                      |
/// |--------------|------------|----------------------------|-----------------------------------------------------------|
/// | pattern      | read       | packed pattern             | both halves of A                                          |
/// | basis        | write or add | n x (first + steps + 1)    | at least; written with first = 0, else columns are added  |
/// | coefficients | write      | array of double            | of each step v_k^H factor A v_k, and the norm of what is v_{k+1} |
/// | work         | scratch    | array                      | lanczos_work(first + steps) elements                      |
/// | panels       | read       | arrays                     | values of the panels with blocks, by their numbers        |
/// Where that norm is zero, v_{k+1} is zero, too.
/// Source: Lanczos, J. Res. Nat. Bur. Stand. 45 (1950) 255.
template <class T>
struct ExtendKrylov {
  static constexpr const char* name = "extend_krylov";
  Read<Array<std::int32_t>> pattern;
  WriteOrAdd<Matrix<T>> basis;
  Write<Array<double>> coefficients;
  Scratch<Array<T>> work;
  ReadAll<Array<T>> panels;
  const PanelsWithBlocks* which = nullptr;
  Index n = 0, first = 0, steps = 0;
  RealOf<T> factor = 1;
  std::uint64_t seed = 0;
  double elements = 0;  ///< of A's blocks
  double flops() const noexcept { return 2 * elements * static_cast<double>(steps) * flop_factor<T>; }
  double seconds(WorkerKind kind, double bytes) const noexcept {
    return static_cast<double>(steps) * memory_seconds(kind, bytes);
  }
};

/// Of each row the sum of |a_ij|, in double, and the real part of a_ii.
/// | operand | mode  | shape           | what                                               |
/// |---------|-------|-----------------|----------------------------------------------------|
/// | pattern | read  | packed pattern  | both halves of A                                   |
/// | sums    | write | array of double | n sums, then the n elements of the diagonal        |
/// | panels  | read  | arrays          | values of the panels with blocks, by their numbers |
template <class T>
struct RowModuli {
  static constexpr const char* name = "row_moduli";
  Read<Array<std::int32_t>> pattern;
  Write<Array<double>> sums;
  ReadAll<Array<T>> panels;
  const PanelsWithBlocks* which = nullptr;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

}  // namespace tessera::detail
