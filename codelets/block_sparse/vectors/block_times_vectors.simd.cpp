// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Bodies of add_block_product and add_image_product for one instruction set level (see dispatch.hpp). Complex
// numbers are pairs of reals, so that nothing of the standard library is called.
#include <complex>

#include <tessera/codelets/block_sparse/vectors/multiply_vectors.hpp>

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {

template <class T>
void add_block_product(Index m, Index n, const T* b, [[maybe_unused]] bool conjugated, T factor, Index width,
                       const T* x, Index ldx, T* y, Index ldy) noexcept {
  using R = RealOf<T>;
  for (Index k = 0; k < width; ++k)
    for (Index j = 0; j < n; ++j) {
      if constexpr (is_complex<T>) {
        const R* const f = reinterpret_cast<const R*>(&factor);
        const R* const at = reinterpret_cast<const R*>(x + j + k * ldx);
        const R* const column = reinterpret_cast<const R*>(b + j * m);
        R* const to = reinterpret_cast<R*>(y + k * ldy);
        const R re = f[0] * at[0] - f[1] * at[1], im = f[0] * at[1] + f[1] * at[0],
                sign = conjugated ? R(-1) : R(1);
#pragma omp simd
        for (Index i = 0; i < m; ++i) {
          const R real = column[2 * i], imaginary = sign * column[2 * i + 1];
          to[2 * i] += real * re - imaginary * im;
          to[2 * i + 1] += real * im + imaginary * re;
        }
      } else {
        const T* const column = b + j * m;
        T* const to = y + k * ldy;
        const T f = factor * x[j + k * ldx];
#pragma omp simd
        for (Index i = 0; i < m; ++i) to[i] += column[i] * f;
      }
    }
}

template <class T>
void add_image_product(Index m, Index n, const T* b, [[maybe_unused]] bool conjugated, T factor, Index width,
                       const T* x, Index ldx, T* y, Index ldy) noexcept {
  using R = RealOf<T>;
  for (Index k = 0; k < width; ++k)
    for (Index j = 0; j < n; ++j) {
      if constexpr (is_complex<T>) {
        const R* const column = reinterpret_cast<const R*>(b + j * m);
        const R* const from = reinterpret_cast<const R*>(x + k * ldx);
        const R sign = conjugated ? R(-1) : R(1);
        R re = 0, im = 0;
#pragma omp simd reduction(+ : re, im)
        for (Index i = 0; i < m; ++i) {
          const R real = column[2 * i], imaginary = sign * column[2 * i + 1];
          re += real * from[2 * i] - imaginary * from[2 * i + 1];
          im += real * from[2 * i + 1] + imaginary * from[2 * i];
        }
        const R* const f = reinterpret_cast<const R*>(&factor);
        R* const to = reinterpret_cast<R*>(y + j + k * ldy);
        to[0] += f[0] * re - f[1] * im;
        to[1] += f[0] * im + f[1] * re;
      } else {
        const T* const column = b + j * m;
        const T* const from = x + k * ldx;
        T sum = 0;
#pragma omp simd reduction(+ : sum)
        for (Index i = 0; i < m; ++i) sum += column[i] * from[i];
        y[j + k * ldy] += factor * sum;
      }
    }
}

#define TESSERA_INSTANTIATE(T)                                                                    \
  template void add_block_product<T>(Index, Index, const T*, bool, T, Index, const T*, Index, T*, \
                                     Index) noexcept;                                             \
  template void add_image_product<T>(Index, Index, const T*, bool, T, Index, const T*, Index, T*, \
                                     Index) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
