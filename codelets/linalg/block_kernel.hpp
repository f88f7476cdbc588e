// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

namespace tessera::kernels {

/// C (m x n) += A (m x k) B (k x n), column-major: called with A, B, C.
template <class T>
using BlockKernel = void (*)(const T*, const T*, T*, ...);

/// The kernel that libxsmm compiles for a shape, or null if it declines (complex numbers, large blocks) or is
/// not there. Kernels live as long as the process. Thread-safe.
template <class T>
BlockKernel<T> find_block_kernel(Index m, Index n, Index k, Index lda, Index ldb, Index ldc) noexcept;
/// For blocks without gaps.
template <class T>
BlockKernel<T> find_block_kernel(Index m, Index n, Index k) noexcept {
  return find_block_kernel<T>(m, n, k, m, k, m);
}

/// Beyond this size of m n k a BLAS, which packs its operands, is faster than kernels for small blocks.
inline constexpr double small_block_limit = 64.0 * 64.0 * 64.0;

/// The same product of a shape for which there is no kernel.
template <class T>
void multiply_blocks(Index m, Index n, Index k, const T* a, const T* b, T* c) noexcept;

/// C (m x n) := A (m x k) op(B) + beta C, beta 0 or 1; column-major with leading dimensions: by libxsmm's
/// kernel for the shape, or by BLAS where there is none. T: float or double.
/// @param op_b none, B is k x n; or adjoint, B is n x k
template <class T>
void multiply_small(Index m, Index n, Index k, const T* a, Index lda, Op op_b, const T* b, Index ldb,
                    int beta, T* c, Index ldc) noexcept;

}  // namespace tessera::kernels
