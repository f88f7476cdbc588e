// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

/// The two real matrix products of the WY blocks, compiled per instruction set level. Both skip the zeros of
/// the parallelogram: `height` is the number of nonzeros of a column of V, `step` the rows by which the next
/// (group of `step`) columns is shifted (1 for real types, 2 for complex ones in real storage).
namespace tessera::kernels {

template <class R>
struct WyBlock {
  const R* vh;    ///< V^H, columns x rows, leading dimension columns
  const R* w;     ///< W, rows x columns, leading dimension rows
  Index rows;     ///< a multiple of 16
  Index columns;  ///< a multiple of 64 bytes
  Index used;     ///< columns that are not padding
  Index height;
  Index step;
};

#define TESSERA_DECLARE_WY(LEVEL)                                                              \
  namespace LEVEL {                                                                            \
  /* X := V^H C for `count` columns of C; X has leading dimension block.columns. */            \
  template <class R>                                                                           \
  void wy_project(const WyBlock<R>& block, const R* c, Index ldc, Index count, R* x) noexcept; \
  /* C := C + W X. */                                                                          \
  template <class R>                                                                           \
  void wy_update(const WyBlock<R>& block, const R* x, R* c, Index ldc, Index count) noexcept;  \
  /* C := C + W (V^H C), some columns after the other; x is scratch of 16 block.columns. */    \
  template <class R>                                                                           \
  void wy_apply(const WyBlock<R>& block, R* c, Index ldc, Index count, R* x) noexcept;         \
  }
TESSERA_DECLARE_WY(level2)
TESSERA_DECLARE_WY(level3)
TESSERA_DECLARE_WY(level4)
#undef TESSERA_DECLARE_WY

}  // namespace tessera::kernels
