// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Vectors of the widest registers of TESSERA_CPU_LEVEL, by the compiler's vector extension (GCC and Clang):
// included inside an anonymous namespace of a kernel's .simd.cpp, so that nothing here has a symbol.

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
template <class R, Index half, std::size_t... lane>
TESSERA_ALWAYS_INLINE Vector<R> add_halves(Vector<R> x, std::index_sequence<lane...>) noexcept {
  return x + __builtin_shufflevector(x, x, ((lane + half) % (2 * half))...);
}
/// Sum of the lanes, in halves (a fixed order).
template <class R>
TESSERA_ALWAYS_INLINE R sum(Vector<R> x) noexcept {
  constexpr auto all = std::make_index_sequence<lanes<R>>();
  if constexpr (lanes<R> >= 16) x = add_halves<R, 8>(x, all);
  if constexpr (lanes<R> >= 8) x = add_halves<R, 4>(x, all);
  if constexpr (lanes<R> >= 4) x = add_halves<R, 2>(x, all);
  x = add_halves<R, 1>(x, all);
  return x[0];
}
template <class R>
TESSERA_ALWAYS_INLINE Index padded(Index count) noexcept {
  return (count + lanes<R> - 1) / lanes<R> * lanes<R>;
}
