// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Body of the vector kernels for one instruction set level (see dispatch.hpp and vector_kernels.hpp). Complex
// numbers are interleaved reals: with a = (re, im) pairs and its pairwise swap, a product by a scalar is two
// real multiply-adds, and so is a term of an inner product.
#include <tessera/codelets/one_stage/kernels/vector_kernels.hpp>

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
namespace {

#include <tessera/codelets/common/simd.inl>

template <class V>
TESSERA_ALWAYS_INLINE V swap_pairs(V x) noexcept {
  constexpr int count = static_cast<int>(sizeof(V) / sizeof(x[0]));
  if constexpr (count == 2)
    return __builtin_shufflevector(x, x, 1, 0);
  else if constexpr (count == 4)
    return __builtin_shufflevector(x, x, 1, 0, 3, 2);
  else if constexpr (count == 8)
    return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
  else
    return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
}

/// (-1, 1, -1, 1, ...).
template <class R>
TESSERA_ALWAYS_INLINE Vector<R> alternating() noexcept {
  Vector<R> x;
  for (Index i = 0; i < lanes<R>; ++i) x[i] = i % 2 == 0 ? R(-1) : R(1);
  return x;
}

template <class T>
TESSERA_ALWAYS_INLINE const RealOf<T>* reals(const T* x) noexcept {
  return reinterpret_cast<const RealOf<T>*>(x);
}
template <class T>
TESSERA_ALWAYS_INLINE RealOf<T>* reals(T* x) noexcept {
  return reinterpret_cast<RealOf<T>*>(x);
}

/// A scalar, ready to multiply vectors of T.
template <class T>
struct Factor {
  using R = RealOf<T>;
  Vector<R> re{}, im{};
  TESSERA_ALWAYS_INLINE void set(const T& x) noexcept {
    re = broadcast<R>(reals(&x)[0]);
    if constexpr (is_complex<T>) im = alternating<R>() * reals(&x)[1];
  }
  TESSERA_ALWAYS_INLINE void add_product(Vector<R>& y, Vector<R> a, Vector<R> swapped) const noexcept {
    y += re * a;
    if constexpr (is_complex<T>) y += im * swapped;
  }
  TESSERA_ALWAYS_INLINE void subtract_product(Vector<R>& y, Vector<R> a, Vector<R> swapped) const noexcept {
    y -= re * a;
    if constexpr (is_complex<T>) y -= im * swapped;
  }
};

/// Sum of conj(a) x.
template <class T>
struct Dot {
  using R = RealOf<T>;
  Vector<R> re{}, im{};
  TESSERA_ALWAYS_INLINE void add(Vector<R> a, Vector<R> swapped, Vector<R> x) noexcept {
    re += a * x;
    if constexpr (is_complex<T>) im += swapped * x;
  }
  TESSERA_ALWAYS_INLINE void add_to(T& out) const noexcept {
    reals(&out)[0] += sum<R>(re);
    if constexpr (is_complex<T>) reals(&out)[1] += sum<R>(im * alternating<R>());
  }
};

template <class T>
TESSERA_ALWAYS_INLINE Vector<RealOf<T>> swapped_if_complex(Vector<RealOf<T>> a) noexcept {
  if constexpr (is_complex<T>)
    return swap_pairs(a);
  else
    return a;
}

/// A load that the compiler does not repeat as the memory operand of several instructions: the load ports
/// limit the speed here.
template <class R>
TESSERA_ALWAYS_INLINE Vector<R> load_once(const R* p) noexcept {
  Vector<R> x = load(p);
#if defined(__x86_64__)
  __asm__("" : "+v"(x));
#endif
  return x;
}

/// Reals in a cache line; row_granularity elements are whole lines.
template <class R>
constexpr Index line_reals = 64 / Index(sizeof(R));
/// The product prefetches memory this many columns ahead, in the order of the addresses, because hardware
/// prefetchers lose track of its four interleaved streams.
constexpr Index prefetch_columns = 16;

template <class T>
constexpr Index reals_per_element = is_complex<T> ? 2 : 1;

template <class T, int columns>
TESSERA_ALWAYS_INLINE void dot_columns(Index count, const RealOf<T>* v, Index ld, const RealOf<T>* x,
                                       T* out) noexcept {
  using R = RealOf<T>;
  Dot<T> dot[columns];
  for (Index i = 0; i < count; i += lanes<R>) {
    const Vector<R> xi = load(x + i);
    for (int c = 0; c < columns; ++c) {
      const Vector<R> a = load(v + i + c * ld);
      dot[c].add(a, swapped_if_complex<T>(a), xi);
    }
  }
  for (int c = 0; c < columns; ++c) {
    for (Index r = 0; r < reals_per_element<T>; ++r) reals(out + c)[r] = 0;
    dot[c].add_to(out[c]);
  }
}

template <class T, int columns, bool both>
TESSERA_ALWAYS_INLINE void subtract_columns(Index count, const RealOf<T>* v, Index ld, const T* s,
                                            RealOf<T>* y, const T* t, RealOf<T>* x) noexcept {
  using R = RealOf<T>;
  Factor<T> fs[columns], ft[columns];
  for (int c = 0; c < columns; ++c) {
    fs[c].set(s[c]);
    if constexpr (both) ft[c].set(t[c]);
  }
  for (Index i = 0; i < count; i += lanes<R>) {
    Vector<R> yi = load(y + i), xi{};
    if constexpr (both) xi = load(x + i);
    for (int c = 0; c < columns; ++c) {
      const Vector<R> a = load(v + i + c * ld), swapped = swapped_if_complex<T>(a);
      fs[c].subtract_product(yi, a, swapped);
      if constexpr (both) ft[c].subtract_product(xi, a, swapped);
    }
    store(y + i, yi);
    if constexpr (both) store(x + i, xi);
  }
}

template <class T, bool both>
void subtract_all(Index rows, Index k, const T* v, Index ldv, const T* s, T* y, const T* t, T* x) noexcept {
  const Index count = rows * reals_per_element<T>, ld = ldv * reals_per_element<T>;
  Index l = 0;
  for (; l + 4 <= k; l += 4)
    subtract_columns<T, 4, both>(count, reals(v + l * ldv), ld, s + l, reals(y), both ? t + l : t, reals(x));
  for (; l < k; ++l)
    subtract_columns<T, 1, both>(count, reals(v + l * ldv), ld, s + l, reals(y), both ? t + l : t, reals(x));
}

}  // namespace

template <class T>
void two_sided_tile_product(Index rows, Index cols, const T* a, Index lda, const T* v_i, const T* v_j, T* y_i,
                            T* y_j) noexcept {
  using R = RealOf<T>;
  constexpr int columns = 4;
  const Index count = rows * reals_per_element<T>, ld = lda * reals_per_element<T>;
  const R* x = reals(v_i);
  R* y = reals(y_i);
  for (Index j = 0; j < cols; j += columns) {
    const R* column = reals(a + j * lda);
    Factor<T> factor[columns];
    Dot<T> dot[columns];
    for (int c = 0; c < columns; ++c) factor[c].set(v_j[j + c]);
    for (Index line = 0; line < count; line += line_reals<R>) {
      for (int c = 0; c < columns; ++c)
        __builtin_prefetch(column + columns * line + c * line_reals<R> + prefetch_columns * ld, 0, 1);
      for (Index i = line; i < line + line_reals<R>; i += lanes<R>) {
        const Vector<R> xi = load(x + i);
        Vector<R> yi = load(y + i);
        for (int c = 0; c < columns; ++c) {
          const Vector<R> aic = load_once(column + i + c * ld), swapped = swapped_if_complex<T>(aic);
          factor[c].add_product(yi, aic, swapped);
          dot[c].add(aic, swapped, xi);
        }
        store(y + i, yi);
      }
    }
    for (int c = 0; c < columns; ++c) dot[c].add_to(y_j[j + c]);
  }
}

template <class T>
void adjoint_times_vector(Index rows, Index k, const T* v, Index ldv, const T* x, T* out) noexcept {
  const Index count = rows * reals_per_element<T>, ld = ldv * reals_per_element<T>;
  Index l = 0;
  for (; l + 4 <= k; l += 4) dot_columns<T, 4>(count, reals(v + l * ldv), ld, reals(x), out + l);
  for (; l < k; ++l) dot_columns<T, 1>(count, reals(v + l * ldv), ld, reals(x), out + l);
}

template <class T>
void subtract_combinations(Index rows, Index k, const T* v, Index ldv, const T* s, T* y, const T* t,
                           T* x) noexcept {
  if (x)
    subtract_all<T, true>(rows, k, v, ldv, s, y, t, x);
  else
    subtract_all<T, false>(rows, k, v, ldv, s, y, t, x);
}

#define TESSERA_INSTANTIATE(T)                                                                   \
  template void two_sided_tile_product<T>(Index, Index, const T*, Index, const T*, const T*, T*, \
                                          T*) noexcept;                                          \
  template void adjoint_times_vector<T>(Index, Index, const T*, Index, const T*, T*) noexcept;   \
  template void subtract_combinations<T>(Index, Index, const T*, Index, const T*, T*, const T*, T*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
