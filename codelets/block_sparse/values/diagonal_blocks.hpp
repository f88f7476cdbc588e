// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/runtime/matrix/panel_block.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera::detail {

/// What becomes of a square block A.
enum class DiagonalFactor {
  inverse,          ///< A^-1
  cholesky,         ///< L, A = L L^H, zero above the diagonal
  inverse_cholesky  ///< L^-1, zero above the diagonal
};

/// Real flops of a block of order n.
constexpr double factor_flops(DiagonalFactor factor, double n) noexcept {
  return factor == DiagonalFactor::inverse    ? 2 * n * n * n
         : factor == DiagonalFactor::cholesky ? n * n * n / 3
                                              : 2 * n * n * n / 3;
}

/// Bytes of work space for blocks of an order up to `largest`, `blocks` of them: pivots and a matrix of one
/// block on CPUs, a flag for each block on GPUs.
constexpr std::size_t factor_work_bytes(Index largest, Index blocks, std::size_t element_bytes) noexcept {
  const auto n = static_cast<std::size_t>(largest);
  const std::size_t of_cpu = n * (element_bytes + sizeof(int)), of_gpu = std::size_t(blocks) * sizeof(int);
  return std::max({of_cpu, of_gpu, std::size_t(8)});
}

/// Every block of the panel := its inverse, its Cholesky factor or the inverse of that. All are square, on the
/// diagonal of the matrix.                  [a block of order n: 2 n^3, n^3 / 3, 2 n^3 / 3; complex: times 4]
/// | operand | mode       | shape                      | what                                        |
/// |---------|------------|----------------------------|---------------------------------------------|
/// | blocks  | read       | array of PanelBlock        | the panel's                                 |
/// | values  | read-write | array                      | the panel's                                 |
/// | work    | scratch    | bytes: factor_work_bytes   |                                             |
/// Cholesky factors look at the lower triangles and the real parts on the diagonals alone. The inverse is by
/// LU factorisation with partial pivoting on CPUs (LAPACK's getrf and getri), by Gauss-Jordan elimination with
/// the same choice of pivots on GPUs (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., Sec.
/// 14.4); with a symmetry its upper triangle is the mirror image of the lower one. On a GPU a thread block
/// takes a block, in shared memory if it fits. Predicted by the flops.
/// Errors: block_not_positive_definite, block_singular (a pivot that is zero or not finite) with index = the
/// lowest such block of the panel, by its number in the matrix, from 1. What the panel holds then is undefined.
template <class T>
struct FactorBlocks {
  static constexpr const char* name = "factor_blocks";
  Read<Array<PanelBlock>> blocks;
  ReadWrite<Array<T>> values;
  Scratch<Array<char>> work;
  DiagonalFactor factor;
  Symmetry symmetry = Symmetry::none;  ///< of the matrix, for the inverse
  Index largest = 0;                   ///< order of the largest block
  double real_flops = 0;               ///< the sum of factor_flops

  double flops() const noexcept { return flop_factor<T> * real_flops; }
  double seconds(WorkerKind kind, double bytes) const noexcept {
    return memory_seconds(kind, bytes) +
           (kind == WorkerKind::gpu ? 1e-6 * static_cast<double>(largest) + flops() / 1e11 : flops() / 3e9);
  }
};

}  // namespace tessera::detail
