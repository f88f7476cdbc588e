// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/linalg/stack_entry.hpp>
#include <tessera/types.hpp>

namespace tessera::detail::kernels {

/// C (m x n) += A (m x k) B (k x n), column-major: called with A, B, C.
template <class T>
using BlockKernel = void (*)(const T*, const T*, T*, ...);

/// The kernel that libxsmm compiles for a shape; null for complex numbers, for large blocks, and without
/// libxsmm. Kernels live as long as the process. Thread-safe.
template <class T>
BlockKernel<T> find_block_kernel(Index m, Index n, Index k, Index lda, Index ldb, Index ldc) noexcept;
/// For blocks without gaps.
template <class T>
BlockKernel<T> find_block_kernel(Index m, Index n, Index k) noexcept {
  return find_block_kernel<T>(m, n, k, m, k, m);
}

/// Beyond this size of m n k a BLAS, which packs its operands, is faster than a kernel for small blocks.
inline constexpr double small_block_limit = 64.0 * 64.0 * 64.0;

/// The same product for a shape without a kernel.
template <class T>
void multiply_blocks(Index m, Index n, Index k, const T* a, const T* b, T* c) noexcept;

/// C (m x n) := A (m x k) op(B) + beta C, beta 0 or 1; column-major with leading dimensions: by libxsmm's
/// kernel for the shape, or else by BLAS. T: float or double.
/// @param op_b none, B is k x n; or adjoint, B is n x k
template <class T>
void multiply_small(Index m, Index n, Index k, const T* a, Index lda, Op op_b, const T* b, Index ldb,
                    int beta, T* c, Index ldc) noexcept;

/// C += sum_e A_e B_e with C in registers from the first product to the last, for complex numbers, which
/// libxsmm does not take, and without libxsmm. C is one block (m x n), the entries are those of its run; A's
/// blocks are m x k, B's k x n, all without gaps. Sums are formed in the order of the entries.
template <class T>
void small_products(Index m, Index n, Index k, const T* a, const T* b, const StackEntry* entries, Index count,
                    T* c) noexcept;

#define TESSERA_DECLARE_SMALL_PRODUCTS(LEVEL)                                                       \
  namespace LEVEL {                                                                                 \
  template <class T>                                                                                \
  void small_products(Index m, Index n, Index k, const T* a, const T* b, const StackEntry* entries, \
                      Index count, T* c) noexcept;                                                  \
  }
TESSERA_DECLARE_SMALL_PRODUCTS(level2)
TESSERA_DECLARE_SMALL_PRODUCTS(level3)
TESSERA_DECLARE_SMALL_PRODUCTS(level4)
#undef TESSERA_DECLARE_SMALL_PRODUCTS

}  // namespace tessera::detail::kernels
