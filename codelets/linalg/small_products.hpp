// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/linalg/stack_entry.hpp>
#include <tessera/types.hpp>

/// Products of small blocks, C += sum_e A_e B_e, with C in registers from the first product to the last: for
/// what libxsmm does not do (complex numbers), and where it is not.
namespace tessera::kernels {

/// A block of C (m x n) and the entries of its run; A's blocks are m x k, B's k x n, all without gaps. Sums
/// are formed in the order of the entries.
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

}  // namespace tessera::kernels
