// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#if TESSERA_HAVE_LIBXSMM
#include <libxsmm.h>
#endif

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/linalg/block_kernel.hpp>

namespace tessera::detail::kernels {

namespace {

/// libxsmm's kernel for C := A op(B) + beta C; null if there is none.
template <class T>
BlockKernel<T> dispatch([[maybe_unused]] Index m, [[maybe_unused]] Index n, [[maybe_unused]] Index k,
                        [[maybe_unused]] Index lda, [[maybe_unused]] Op op_b, [[maybe_unused]] Index ldb,
                        [[maybe_unused]] int factor, [[maybe_unused]] Index ldc) noexcept {
#if TESSERA_HAVE_LIBXSMM
  const T one(1), beta = T(factor);
  const int rows = static_cast<int>(m), cols = static_cast<int>(n), inner = static_cast<int>(k),
            of_a = static_cast<int>(lda), of_b = static_cast<int>(ldb), of_c = static_cast<int>(ldc);
  const int flags = op_b == Op::none ? LIBXSMM_GEMM_FLAG_NONE : LIBXSMM_GEMM_FLAG_TRANS_B;
  if (double(m) * double(n) * double(k) > small_block_limit) return nullptr;
  if constexpr (std::is_same_v<T, double>)
    return libxsmm_dmmdispatch(rows, cols, inner, &of_a, &of_b, &of_c, &one, &beta, &flags, nullptr);
  else if constexpr (std::is_same_v<T, float>)
    return libxsmm_smmdispatch(rows, cols, inner, &of_a, &of_b, &of_c, &one, &beta, &flags, nullptr);
#endif
  return nullptr;
}

}  // namespace

template <class T>
BlockKernel<T> find_block_kernel(Index m, Index n, Index k, Index lda, Index ldb, Index ldc) noexcept {
  return dispatch<T>(m, n, k, lda, Op::none, ldb, 1, ldc);
}

template <class T>
void multiply_blocks(Index m, Index n, Index k, const T* a, const T* b, T* c) noexcept {
  const StackEntry entry{0, 0};
  if (double(m) * double(n) * double(k) <= small_block_limit)
    small_products<T>(m, n, k, a, b, &entry, 1, c);
  else
    blas::gemm<T>(Op::none, Op::none, m, n, k, T(1), a, m, b, k, T(1), c, m);
}

template <class T>
void multiply_small(Index m, Index n, Index k, const T* a, Index lda, Op op_b, const T* b, Index ldb,
                    int beta, T* c, Index ldc) noexcept {
  if (const BlockKernel<T> kernel = dispatch<T>(m, n, k, lda, op_b, ldb, beta, ldc)) return kernel(a, b, c);
  blas::gemm<T>(Op::none, op_b, m, n, k, T(1), a, lda, b, ldb, T(beta), c, ldc);
}

#define TESSERA_INSTANTIATE_REAL(T)                                                                   \
  template void multiply_small<T>(Index, Index, Index, const T*, Index, Op, const T*, Index, int, T*, \
                                  Index) noexcept;
TESSERA_FOR_REALS(TESSERA_INSTANTIATE_REAL)

#define TESSERA_INSTANTIATE(T)                                                                     \
  template BlockKernel<T> find_block_kernel<T>(Index, Index, Index, Index, Index, Index) noexcept; \
  template void multiply_blocks<T>(Index, Index, Index, const T*, const T*, T*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
