// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Body of small_products for one instruction set level (see dispatch.hpp).
//
// Complex numbers are pairs of reals: with p = sum_k a_k Re(b_k) and q = sum_k a_k Im(b_k), taken over the
// reals of a, the product is p + i q, and the multiplication by i (a swap and a sign) is done once, at the
// end. A tile of C is a few registers high, registers narrowing down to one number at the lower edge, so that
// nothing beyond a block is touched.
#include <complex>
#include <type_traits>
#include <utility>

#include <tessera/codelets/linalg/block_kernel.hpp>

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
namespace {

#define TESSERA_ALWAYS_INLINE inline __attribute__((always_inline))

#if TESSERA_CPU_LEVEL == 4
constexpr int register_bytes = 64, tile_height = 3, tile_width = 4;
#elif TESSERA_CPU_LEVEL == 3
constexpr int register_bytes = 32, tile_height = 3, tile_width = 4;
#else
constexpr int register_bytes = 16, tile_height = 2, tile_width = 4;
#endif

/// `lanes` reals, at any address.
template <class R, int lanes>
struct Lanes {
  typedef R Vector __attribute__((vector_size(lanes * sizeof(R))));
  typedef R Unaligned __attribute__((vector_size(lanes * sizeof(R)), aligned(sizeof(R)), may_alias));
  static TESSERA_ALWAYS_INLINE Vector load(const R* p) noexcept {
    return *reinterpret_cast<const Unaligned*>(p);
  }
  static TESSERA_ALWAYS_INLINE void store(R* p, Vector x) noexcept { *reinterpret_cast<Unaligned*>(p) = x; }
};
/// A single number; the compiler has no vectors of one.
template <class R>
struct Lanes<R, 1> {
  typedef R Vector;
  static TESSERA_ALWAYS_INLINE R load(const R* p) noexcept { return *p; }
  static TESSERA_ALWAYS_INLINE void store(R* p, R x) noexcept { *p = x; }
};

/// i x, for pairs (re, im).
template <class R, int lanes, std::size_t... lane>
TESSERA_ALWAYS_INLINE typename Lanes<R, lanes>::Vector times_i(typename Lanes<R, lanes>::Vector x,
                                                               std::index_sequence<lane...>) noexcept {
  const typename Lanes<R, lanes>::Vector sign = {(lane % 2 == 0 ? R(-1) : R(1))...};
  return __builtin_shufflevector(x, x, (lane ^ 1)...) * sign;
}

template <class R>
struct Run {
  Index lda, ldb, k;  // reals in a column of A (and C), and of B; columns of A
  const R *a, *b;
  const StackEntry* entries;
  Index count;
};

/// One tile of C, `height` registers of `lanes` reals by `width` columns. K: reals in a number.
template <class R, int K, int lanes, int height, int width>
TESSERA_ALWAYS_INLINE void tile(const Run<R>& run, Index row, Index col, R* c) noexcept {
  using L = Lanes<R, lanes>;
  typename L::Vector sum[K][height][width] = {};
  for (Index e = 0; e < run.count; ++e) {
    const R* a = run.a + K * Index(run.entries[e].a) + row;
    const R* b = run.b + K * Index(run.entries[e].b) + col * run.ldb;
    for (Index l = 0; l < run.k; ++l, a += run.lda, b += K) {
      typename L::Vector left[height];
#pragma GCC unroll 8
      for (int h = 0; h < height; ++h) left[h] = L::load(a + h * lanes);
#pragma GCC unroll 8
      for (int w = 0; w < width; ++w)
#pragma GCC unroll 2
        for (int part = 0; part < K; ++part)
#pragma GCC unroll 8
          for (int h = 0; h < height; ++h) sum[part][h][w] += left[h] * b[w * run.ldb + part];
    }
  }
#pragma GCC unroll 8
  for (int w = 0; w < width; ++w)
#pragma GCC unroll 8
    for (int h = 0; h < height; ++h) {
      R* const target = c + row + h * lanes + (col + w) * run.lda;
      typename L::Vector value = sum[0][h][w];
      if constexpr (K == 2) value += times_i<R, lanes>(sum[K - 1][h][w], std::make_index_sequence<lanes>());
      L::store(target, L::load(target) + value);
    }
}

/// All columns of `height` registers of rows.
template <class R, int K, int lanes, int height>
TESSERA_ALWAYS_INLINE void rows(const Run<R>& run, Index row, Index n, R* c) noexcept {
  constexpr int width = tile_width / K;
  Index col = 0;
  for (; col + width <= n; col += width) tile<R, K, lanes, height, width>(run, row, col, c);
  if constexpr (width > 2)
    for (; col + 2 <= n; col += 2) tile<R, K, lanes, height, 2>(run, row, col, c);
  for (; col < n; ++col) tile<R, K, lanes, height, 1>(run, row, col, c);
}

/// The remaining rows, fewer than 2 * lanes, with registers of decreasing width.
template <class R, int K, int lanes>
TESSERA_ALWAYS_INLINE void last_rows(const Run<R>& run, Index row, Index n, R* c) noexcept {
  if (row + lanes <= run.lda) {
    rows<R, K, lanes, 1>(run, row, n, c);
    row += lanes;
  }
  if constexpr (lanes > K) last_rows<R, K, lanes / 2>(run, row, n, c);
}

}  // namespace

template <class T>
void small_products(Index m, Index n, Index k, const T* a, const T* b, const StackEntry* entries, Index count,
                    T* c) noexcept {
  using R = RealOf<T>;
  constexpr int K = is_complex<T> ? 2 : 1;
  constexpr int lanes = register_bytes / static_cast<int>(sizeof(R));
  const Run<R> run{K * m,   K * k, k, reinterpret_cast<const R*>(a), reinterpret_cast<const R*>(b),
                   entries, count};
  R* const target = reinterpret_cast<R*>(c);
  Index row = 0;
  for (; row + tile_height * lanes <= run.lda; row += tile_height * lanes)
    rows<R, K, lanes, tile_height>(run, row, n, target);
  if (tile_height > 2 && row + 2 * lanes <= run.lda) {
    rows<R, K, lanes, 2>(run, row, n, target);
    row += 2 * lanes;
  }
  last_rows<R, K, lanes>(run, row, n, target);
}

#define TESSERA_INSTANTIATE(T)                                                                       \
  template void small_products<T>(Index, Index, Index, const T*, const T*, const StackEntry*, Index, \
                                  T*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
