// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Vectors of the widest registers of TESSERA_CPU_LEVEL, by the compiler's vector extension (GCC and Clang):
// included inside an anonymous namespace of a kernel's .inl, so that nothing here has a symbol.

#if TESSERA_CPU_LEVEL == 4
constexpr int vector_bytes = 64;
#elif TESSERA_CPU_LEVEL == 3
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <class R>
struct Simd;
template <>
struct Simd<float> {
  typedef float Vector __attribute__((vector_size(vector_bytes)));
  typedef float Unaligned __attribute__((vector_size(vector_bytes), aligned(4), may_alias));
};
template <>
struct Simd<double> {
  typedef double Vector __attribute__((vector_size(vector_bytes)));
  typedef double Unaligned __attribute__((vector_size(vector_bytes), aligned(8), may_alias));
};
template <class R>
using Vector = typename Simd<R>::Vector;
/// Lanes of a vector.
template <class R>
constexpr Index lanes = vector_bytes / Index(sizeof(R));

#define TESSERA_ALWAYS_INLINE inline __attribute__((always_inline))

template <class R>
TESSERA_ALWAYS_INLINE Vector<R> load(const R* p) noexcept {
  return *reinterpret_cast<const typename Simd<R>::Unaligned*>(p);
}
template <class R>
TESSERA_ALWAYS_INLINE void store(R* p, Vector<R> x) noexcept {
  *reinterpret_cast<typename Simd<R>::Unaligned*>(p) = x;
}
template <class R>
TESSERA_ALWAYS_INLINE Vector<R> broadcast(R x) noexcept {
  return x - Vector<R>{};  // exact, and folded away, where 0 + x is not (-0)
}
/// Sum of the lanes, in halves (a fixed order).
template <class R>
TESSERA_ALWAYS_INLINE R sum(Vector<R> x) noexcept {
  R part[lanes<R>];
  store(part, x);
  for (Index width = lanes<R> / 2; width > 0; width /= 2)
    for (Index i = 0; i < width; ++i) part[i] += part[i + width];
  return part[0];
}
template <class R>
TESSERA_ALWAYS_INLINE Index padded(Index count) noexcept {
  return (count + lanes<R> - 1) / lanes<R> * lanes<R>;
}
