// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/one_stage/kernels/vector_kernels.hpp>

namespace tessera::detail::kernels {

template <class T>
void two_sided_tile_product(Index rows, Index cols, const T* a, Index lda, const T* v_i, const T* v_j, T* y_i,
                            T* y_j) noexcept {
  TESSERA_DISPATCH(cpu_level(), two_sided_tile_product<T>(rows, cols, a, lda, v_i, v_j, y_i, y_j));
}

template <class T>
void adjoint_times_vector(Index rows, Index k, const T* v, Index ldv, const T* x, T* out) noexcept {
  TESSERA_DISPATCH(cpu_level(), adjoint_times_vector<T>(rows, k, v, ldv, x, out));
}

template <class T>
void subtract_combinations(Index rows, Index k, const T* v, Index ldv, const T* s, T* y, const T* t,
                           T* x) noexcept {
  TESSERA_DISPATCH(cpu_level(), subtract_combinations<T>(rows, k, v, ldv, s, y, t, x));
}

#define TESSERA_INSTANTIATE(T)                                                                   \
  template void two_sided_tile_product<T>(Index, Index, const T*, Index, const T*, const T*, T*, \
                                          T*) noexcept;                                          \
  template void adjoint_times_vector<T>(Index, Index, const T*, Index, const T*, T*) noexcept;   \
  template void subtract_combinations<T>(Index, Index, const T*, Index, const T*, T*, const T*, T*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
