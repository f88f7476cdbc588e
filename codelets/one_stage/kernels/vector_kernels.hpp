// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

/// Matrix-vector kernels of the one-stage tridiagonalisation, compiled for each instruction set and chosen at
/// run time. Memory limits their speed: each reads its matrix once. The number of rows is always a multiple
/// of `row_granularity` (tiles and vectors are padded with zeros), so that no kernel has a remainder loop.
/// Pointers need no alignment.
namespace tessera::detail::kernels {

inline constexpr Index row_granularity = 16;

/// y_i := y_i + A v_j and y_j := y_j + A^H v_i, in one pass over A (rows x cols, cols a multiple of 4). y_i
/// and y_j may be parts of one vector and may overlap, so that a diagonal tile that holds its strict lower
/// triangle and half its diagonal gives A v. [4 rows cols flops, complex x 4]
template <class T>
void two_sided_tile_product(Index rows, Index cols, const T* a, Index lda, const T* v_i, const T* v_j, T* y_i,
                            T* y_j) noexcept;

/// out_l := V_l^H x for the k columns of V. [2 rows k]
template <class T>
void adjoint_times_vector(Index rows, Index k, const T* v, Index ldv, const T* x, T* out) noexcept;

/// y := y - V s and, unless x is null, x := x - V t, in one pass over V (rows x k). [4 rows k]
template <class T>
void subtract_combinations(Index rows, Index k, const T* v, Index ldv, const T* s, T* y, const T* t,
                           T* x) noexcept;

#define TESSERA_DECLARE(LEVEL)                                                                     \
  namespace LEVEL {                                                                                \
  template <class T>                                                                               \
  void two_sided_tile_product(Index, Index, const T*, Index, const T*, const T*, T*, T*) noexcept; \
  template <class T>                                                                               \
  void adjoint_times_vector(Index, Index, const T*, Index, const T*, T*) noexcept;                 \
  template <class T>                                                                               \
  void subtract_combinations(Index, Index, const T*, Index, const T*, T*, const T*, T*) noexcept;  \
  }
TESSERA_DECLARE(level2)
TESSERA_DECLARE(level3)
TESSERA_DECLARE(level4)
#undef TESSERA_DECLARE

}  // namespace tessera::detail::kernels
