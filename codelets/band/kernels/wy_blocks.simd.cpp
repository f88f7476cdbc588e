// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Body of the WY block products for one instruction set level (see dispatch.hpp and wy_blocks.hpp): register
// tiles of two vectors by as many columns as the registers hold.
#include <utility>

#include <tessera/codelets/band/kernels/wy_blocks.hpp>

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
namespace {

#include <tessera/codelets/common/simd.inl>

/// Columns of C that a register tile covers.
constexpr int tile_columns = TESSERA_CPU_LEVEL == 4 ? 8 : 6;

/// X(i0 .., 0 .. NC-1) = V^H C for MV vectors of rows of X.
template <class R, int MV, int NC>
TESSERA_ALWAYS_INLINE void project_tile(const WyBlock<R>& block, Index i0, const R* c, Index ldc,
                                        R* x) noexcept {
  Vector<R> acc[NC][MV];
  for (int j = 0; j < NC; ++j)
    for (int v = 0; v < MV; ++v) acc[j][v] = Vector<R>{};
  const Index end = i0 + MV * lanes<R> - 1 + block.height;
  const Index last = end < block.rows ? end : block.rows;
  const R* vh = block.vh + i0 + i0 * block.columns;
  for (Index k = i0; k < last; ++k, vh += block.columns) {
    Vector<R> a[MV];
    for (int v = 0; v < MV; ++v) a[v] = load(vh + v * lanes<R>);
    for (int j = 0; j < NC; ++j) {
      const Vector<R> b = broadcast(c[k + j * ldc]);
      for (int v = 0; v < MV; ++v) acc[j][v] += a[v] * b;
    }
  }
  for (int j = 0; j < NC; ++j)
    for (int v = 0; v < MV; ++v) store(x + i0 + v * lanes<R> + j * block.columns, acc[j][v]);
}

/// C(i0 .., 0 .. NC-1) += W X for MV vectors of rows of C.
template <class R, int MV, int NC>
TESSERA_ALWAYS_INLINE void update_tile(const WyBlock<R>& block, Index i0, const R* x, R* c,
                                       Index ldc) noexcept {
  Vector<R> acc[NC][MV];
  for (int j = 0; j < NC; ++j)
    for (int v = 0; v < MV; ++v) acc[j][v] = load(c + i0 + v * lanes<R> + j * ldc);
  // Columns k of W end before row height + step * (k / step).
  const Index skipped = (i0 - block.height + block.step) / block.step * block.step;
  const Index first = i0 >= block.height ? skipped : 0;
  const R* w = block.w + i0 + first * block.rows;
  for (Index k = first; k < block.used; ++k, w += block.rows) {
    Vector<R> a[MV];
    for (int v = 0; v < MV; ++v) a[v] = load(w + v * lanes<R>);
    for (int j = 0; j < NC; ++j) {
      const Vector<R> b = broadcast(x[k + j * block.columns]);
      for (int v = 0; v < MV; ++v) acc[j][v] += a[v] * b;
    }
  }
  for (int j = 0; j < NC; ++j)
    for (int v = 0; v < MV; ++v) store(c + i0 + v * lanes<R> + j * ldc, acc[j][v]);
}

template <class R, int NC>
void project(const WyBlock<R>& block, const R* c, Index ldc, R* x) noexcept {
  Index i = 0;
  for (; i + 2 * lanes<R> <= block.columns; i += 2 * lanes<R>) project_tile<R, 2, NC>(block, i, c, ldc, x);
  if (i < block.columns) project_tile<R, 1, NC>(block, i, c, ldc, x);
}

template <class R, int NC>
void update(const WyBlock<R>& block, const R* x, R* c, Index ldc) noexcept {
  Index i = 0;
  for (; i + 2 * lanes<R> <= block.rows; i += 2 * lanes<R>) update_tile<R, 2, NC>(block, i, x, c, ldc);
  if (i < block.rows) update_tile<R, 1, NC>(block, i, x, c, ldc);
}

}  // namespace

template <class R>
void wy_project(const WyBlock<R>& block, const R* c, Index ldc, Index count, R* x) noexcept {
  Index j = 0;
  for (; j + tile_columns <= count; j += tile_columns)
    project<R, tile_columns>(block, c + j * ldc, ldc, x + j * block.columns);
  for (; j + 2 <= count; j += 2) project<R, 2>(block, c + j * ldc, ldc, x + j * block.columns);
  if (j < count) project<R, 1>(block, c + j * ldc, ldc, x + j * block.columns);
}

template <class R>
void wy_update(const WyBlock<R>& block, const R* x, R* c, Index ldc, Index count) noexcept {
  Index j = 0;
  for (; j + tile_columns <= count; j += tile_columns)
    update<R, tile_columns>(block, x + j * block.columns, c + j * ldc, ldc);
  for (; j + 2 <= count; j += 2) update<R, 2>(block, x + j * block.columns, c + j * ldc, ldc);
  if (j < count) update<R, 1>(block, x + j * block.columns, c + j * ldc, ldc);
}

template <class R>
void wy_apply(const WyBlock<R>& block, R* c, Index ldc, Index count, R* x) noexcept {
  Index j = 0;
  for (; j + tile_columns <= count; j += tile_columns) {
    project<R, tile_columns>(block, c + j * ldc, ldc, x);
    update<R, tile_columns>(block, x, c + j * ldc, ldc);
  }
  for (; j + 2 <= count; j += 2) {
    project<R, 2>(block, c + j * ldc, ldc, x);
    update<R, 2>(block, x, c + j * ldc, ldc);
  }
  if (j < count) {
    project<R, 1>(block, c + j * ldc, ldc, x);
    update<R, 1>(block, x, c + j * ldc, ldc);
  }
}

#define TESSERA_INSTANTIATE(R)                                                         \
  template void wy_project<R>(const WyBlock<R>&, const R*, Index, Index, R*) noexcept; \
  template void wy_update<R>(const WyBlock<R>&, const R*, R*, Index, Index) noexcept;  \
  template void wy_apply<R>(const WyBlock<R>&, R*, Index, Index, R*) noexcept;
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
