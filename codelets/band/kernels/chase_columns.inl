// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One-pass operations on a few columns at a time, the inner loops of chase.simd.cpp (included in its
// anonymous namespace).

/// The K companions of a vector.
template <class R, int K>
struct Companions {
  R* part[K];
};

/// y_k += sum_c a_c s_ck over `count` reals, rounded up to whole registers.
template <class R, int K, int NC>
TESSERA_ALWAYS_INLINE void combine_columns(Index count, R* const (&a)[NC], const R (&s)[NC][K],
                                           Companions<R, K> y) noexcept {
  for (Index i = 0; i < count; i += lanes<R>) {
    Vector<R> acc[K];
    for (int k = 0; k < K; ++k) acc[k] = load(y.part[k] + i);
    for (int c = 0; c < NC; ++c) {
      const Vector<R> column = load(a[c] + i);
      for (int k = 0; k < K; ++k) acc[k] += column * s[c][k];
    }
    for (int k = 0; k < K; ++k) store(y.part[k] + i, acc[k]);
  }
}

/// d_ck = x_k . a_c.
template <class R, int K, int NC>
TESSERA_ALWAYS_INLINE void dot_columns(Index count, R* const (&a)[NC], Companions<R, K> x,
                                       R (&d)[NC][K]) noexcept {
  Vector<R> acc[NC][K];
  for (int c = 0; c < NC; ++c)
    for (int k = 0; k < K; ++k) acc[c][k] = Vector<R>{};
  for (Index i = 0; i < count; i += lanes<R>) {
    Vector<R> factor[K];
    for (int k = 0; k < K; ++k) factor[k] = load(x.part[k] + i);
    for (int c = 0; c < NC; ++c) {
      const Vector<R> column = load(a[c] + i);
      for (int k = 0; k < K; ++k) acc[c][k] += column * factor[k];
    }
  }
  for (int c = 0; c < NC; ++c)
    for (int k = 0; k < K; ++k) d[c][k] = sum<R>(acc[c][k]);
}

/// a_c += sum_k x_k s_ck.
template <class R, int K, int NC>
TESSERA_ALWAYS_INLINE void update_columns(Index count, R* const (&a)[NC], Companions<R, K> x,
                                          const R (&s)[NC][K]) noexcept {
  for (Index i = 0; i < count; i += lanes<R>) {
    Vector<R> factor[K];
    for (int k = 0; k < K; ++k) factor[k] = load(x.part[k] + i);
    for (int c = 0; c < NC; ++c) {
      Vector<R> column = load(a[c] + i);
      for (int k = 0; k < K; ++k) column += factor[k] * s[c][k];
      store(a[c] + i, column);
    }
  }
}

/// update_columns with w, then dot_columns with x, in one pass.
template <class R, int K, int NC>
TESSERA_ALWAYS_INLINE void update_and_dot(Index count, R* const (&a)[NC], Companions<R, K> w,
                                          const R (&s)[NC][K], Companions<R, K> x, R (&d)[NC][K]) noexcept {
  Vector<R> acc[NC][K];
  for (int c = 0; c < NC; ++c)
    for (int k = 0; k < K; ++k) acc[c][k] = Vector<R>{};
  for (Index i = 0; i < count; i += lanes<R>) {
    Vector<R> factor[K], other[K];
    for (int k = 0; k < K; ++k) {
      factor[k] = load(w.part[k] + i);
      other[k] = load(x.part[k] + i);
    }
    for (int c = 0; c < NC; ++c) {
      Vector<R> column = load(a[c] + i);
      for (int k = 0; k < K; ++k) column += factor[k] * s[c][k];
      for (int k = 0; k < K; ++k) acc[c][k] += column * other[k];
      store(a[c] + i, column);
    }
  }
  for (int c = 0; c < NC; ++c)
    for (int k = 0; k < K; ++k) d[c][k] = sum<R>(acc[c][k]);
}

/// combine_columns and dot_columns in one pass over the columns.
template <class R, int K, int NC>
TESSERA_ALWAYS_INLINE void combine_and_dot(Index count, R* const (&a)[NC], const R (&s)[NC][K],
                                           Companions<R, K> y, Companions<R, K> x, R (&d)[NC][K]) noexcept {
  Vector<R> acc[NC][K];
  for (int c = 0; c < NC; ++c)
    for (int k = 0; k < K; ++k) acc[c][k] = Vector<R>{};
  for (Index i = 0; i < count; i += lanes<R>) {
    Vector<R> out[K], factor[K];
    for (int k = 0; k < K; ++k) {
      out[k] = load(y.part[k] + i);
      factor[k] = load(x.part[k] + i);
    }
    for (int c = 0; c < NC; ++c) {
      const Vector<R> column = load(a[c] + i);
      for (int k = 0; k < K; ++k) {
        out[k] += column * s[c][k];
        acc[c][k] += column * factor[k];
      }
    }
    for (int k = 0; k < K; ++k) store(y.part[k] + i, out[k]);
  }
  for (int c = 0; c < NC; ++c)
    for (int k = 0; k < K; ++k) d[c][k] = sum<R>(acc[c][k]);
}

/// a_c += sum_k v_k s_ck + w_k t_ck.
template <class R, int K, int NC>
TESSERA_ALWAYS_INLINE void update_twice(Index count, R* const (&a)[NC], Companions<R, K> v,
                                        const R (&s)[NC][K], Companions<R, K> w,
                                        const R (&t)[NC][K]) noexcept {
  for (Index i = 0; i < count; i += lanes<R>) {
    Vector<R> first[K], second[K];
    for (int k = 0; k < K; ++k) {
      first[k] = load(v.part[k] + i);
      second[k] = load(w.part[k] + i);
    }
    for (int c = 0; c < NC; ++c) {
      Vector<R> column = load(a[c] + i);
      for (int k = 0; k < K; ++k) column += first[k] * s[c][k];
      for (int k = 0; k < K; ++k) column += second[k] * t[c][k];
      store(a[c] + i, column);
    }
  }
}
