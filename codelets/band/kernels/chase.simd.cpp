// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Body of chase_tile for one instruction set level (see dispatch.hpp and chase.hpp).
//
// Complex numbers are pairs of reals, and a product with a complex scalar is two real multiply-adds on whole
// registers without shuffles: the kernels keep i x beside x, so a x = Re(a) x + Im(a) (i x), and conj(x)^T y
// has the real part x.y and the imaginary part (i x).y, where the dot runs over the pairs as over plain
// reals. So every kernel below is real arithmetic on K companions of each vector: K = 1 for real types, K = 2
// (x and i x) for complex ones. Vectors in scratch are padded with zeros to whole registers. These zeros
// multiply the numbers that a kernel reads beyond the rows of a column (see BandLayout).
#include <complex>
#include <type_traits>
#include <utility>

#include <tessera/codelets/band/kernels/chase.hpp>

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
namespace {

#include <tessera/codelets/common/simd.inl>
// chase_columns.inl uses simd.inl.
#include <tessera/codelets/band/kernels/chase_columns.inl>

/// A reflector I - tau v v^H in scratch: v of `rows` elements with its companions, tau as K reals.
template <class R, int K>
struct Reflector {
  Companions<R, K> v;
  R tau[K];
  Index rows;
  bool trivial() const noexcept {
    bool zero = tau[0] == R(0);
    if (K == 2) zero = zero && tau[K - 1] == R(0);
    return zero;
  }
};

template <class R>
TESSERA_ALWAYS_INLINE R root(R x) noexcept {
  if constexpr (sizeof(R) == 4)
    return __builtin_sqrtf(x);
  else
    return __builtin_sqrt(x);
}
template <class R>
TESSERA_ALWAYS_INLINE R magnitude(R x) noexcept {
  return x < R(0) ? -x : x;
}

/// y = scalar x (K reals each), in place.
template <class R, int K>
TESSERA_ALWAYS_INLINE void multiply(R* x, const R* scalar) noexcept {
  if constexpr (K == 1) {
    x[0] *= scalar[0];
  } else {
    const R re = x[0] * scalar[0] - x[1] * scalar[1];
    x[1] = x[0] * scalar[1] + x[1] * scalar[0];
    x[0] = re;
  }
}

/// i x into the second companion, and zeros behind both.
template <class R, int K>
TESSERA_ALWAYS_INLINE void complete(Companions<R, K> x, Index rows) noexcept {
  if constexpr (K == 2)
    for (Index i = 0; i < rows; ++i) {
      x.part[1][2 * i] = -x.part[0][2 * i + 1];
      x.part[1][2 * i + 1] = x.part[0][2 * i];
    }
  for (int k = 0; k < K; ++k) store(x.part[k] + K * rows, Vector<R>{});
}

/// The band seen as reals, and one sweep's working state.
template <class R, int K>
class Chase {
 public:
  using Scalar =
      typename std::conditional_t<K == 1, std::type_identity<R>, std::type_identity<std::complex<R>>>::type;

  Chase(const BandView<Scalar>& band, R* workspace) noexcept : band_(band), n_(band.n), b_(band.bandwidth) {
    constexpr Index widest = 64 / Index(sizeof(R));
    const Index stride = ((K * b_ + widest - 1) / widest + 1) * widest;
    auto take = [&](Companions<R, K>& x) {
      for (int k = 0; k < K; ++k, workspace += stride) x.part[k] = workspace;
    };
    take(current_.v);
    take(next_.v);
    take(y_);
    take(w_);
  }

  void sweep(Index s, Index low, Index high, const Reflectors<Scalar>& keep) noexcept;

 private:
  TESSERA_ALWAYS_INLINE R* at(Index row, Index column) const noexcept {
    return reinterpret_cast<R*>(band_.column(column) + (row - column));
  }
  /// Scalars v_j or conj(v_j), times -1 where negative, of one element of a vector.
  static TESSERA_ALWAYS_INLINE void element(const R* v, bool conjugated, bool negative, R (&s)[K]) noexcept {
    s[0] = negative ? -v[0] : v[0];
    if constexpr (K == 2) s[1] = negative != conjugated ? -v[1] : v[1];
  }
  /// -conj(tau) (v^H a) from the dot products: the coefficients of the left application.
  static TESSERA_ALWAYS_INLINE void left_scalar(const Reflector<R, K>& h, R (&d)[K]) noexcept {
    const R conjugate_tau[2] = {-h.tau[0], K == 2 ? h.tau[K - 1] : R(0)};
    multiply<R, K>(d, conjugate_tau);
  }

  void generate(Index row, Index column, Index rows, Reflector<R, K>& h) noexcept;
  template <int NC>
  void left_panel(const Reflector<R, K>& h, Index row, Index column) noexcept;
  void apply_left(const Reflector<R, K>& h, Index row, Index first, Index last) noexcept;
  template <int NC>
  void diagonal_product_panel(const Reflector<R, K>& h, Index row, Index j) noexcept;
  template <int NC>
  void diagonal_update_panel(const Reflector<R, K>& h, Index row, Index j) noexcept;
  void apply_diagonal(const Reflector<R, K>& h, Index row) noexcept;
  void block_product(const Reflector<R, K>& h, Index row, Index rows, Index column) noexcept;
  template <int NC>
  void right_panel(const Reflector<R, K>& h, Index row, Index rows, Index first, Index j) noexcept;
  template <int NC>
  void right_left_panel(const Reflector<R, K>& h, const Reflector<R, K>& g, Index row, Index first,
                        Index j) noexcept;
  void apply_right(const Reflector<R, K>& h, Index row, Index rows, Index column) noexcept;
  void apply_right_then_left(const Reflector<R, K>& h, Reflector<R, K>& g, Index row, Index rows,
                             Index column) noexcept;

  BandView<Scalar> band_;
  Index n_, b_;
  Reflector<R, K> current_, next_;
  Companions<R, K> y_, w_;
};

/// LAPACK's larfg on the rows of a column: makes v with zeros behind it, and puts the real beta in the
/// matrix.
template <class R, int K>
void Chase<R, K>::generate(Index row, Index column, Index rows, Reflector<R, K>& h) noexcept {
  R* const a = at(row, column);
  R* const v = h.v.part[0];
  const Index count = K * rows;
  h.rows = rows;
  for (int k = 0; k < K; ++k) h.tau[k] = R(0);
  for (Index i = 0; i < count; ++i) v[i] = a[i];
  store(v + count, Vector<R>{});
  // If the squares might over- or underflow, the column is scaled first.
  Vector<R> squares = {};
  for (Index i = 0; i < count; i += lanes<R>) {
    const Vector<R> x = load(v + i);
    squares += x * x;
  }
  constexpr R tiny = sizeof(R) == 4 ? R(1e-26) : R(1e-270);
  constexpr R huge = sizeof(R) == 4 ? R(1e34) : R(1e300);
  const R total = sum<R>(squares);
  R scale = R(1);
  if (!(total > tiny && total < huge)) {
    scale = R(0);
    for (Index i = 0; i < count; ++i) scale = magnitude(v[i]) > scale ? magnitude(v[i]) : scale;
    if (scale > R(0))
      for (Index i = 0; i < count; ++i) v[i] /= scale;
  }
  R tail = R(0);
  {
    const R head = v[0], head_imaginary = K == 2 ? v[K - 1] : R(0);
    v[0] = R(0);
    if (K == 2) v[K - 1] = R(0);
    Vector<R> part = {};
    for (Index i = 0; i < count; i += lanes<R>) {
      const Vector<R> x = load(v + i);
      part += x * x;
    }
    tail = sum<R>(part);
    v[0] = head;
    if (K == 2) v[K - 1] = head_imaginary;
  }
  const R re = v[0], im = K == 2 ? v[K - 1] : R(0);
  if (tail == R(0) && (im == R(0) || scale == R(0))) {
    // The column is in its final form, or negligibly close: H = I.
    for (Index i = 0; i < count; ++i) v[i] = R(0);
    for (Index i = 1; i < count; ++i) a[i] = R(0);
  } else {
    const R norm = root(re * re + im * im + tail);
    const R beta = re > R(0) ? -norm : norm;
    h.tau[0] = (beta - re) / beta;
    if (K == 2) h.tau[K - 1] = -im / beta;
    const R d = re - beta, square = d * d + im * im;
    const R inverse[2] = {d / square, -im / square};
    for (Index i = 1; i < rows; ++i) multiply<R, K>(v + K * i, inverse);
    for (Index i = 1; i < count; ++i) a[i] = R(0);
    a[0] = beta * scale;
  }
  v[0] = R(1);
  if (K == 2) v[K - 1] = R(0);
  complete<R, K>(h.v, rows);
}

template <class R, int K>
template <int NC>
void Chase<R, K>::left_panel(const Reflector<R, K>& h, Index row, Index column) noexcept {
  R* a[NC];
  R d[NC][K];
  for (int c = 0; c < NC; ++c) a[c] = at(row, column + c);
  dot_columns<R, K, NC>(K * h.rows, a, h.v, d);
  for (int c = 0; c < NC; ++c) left_scalar(h, d[c]);
  update_columns<R, K, NC>(K * h.rows, a, h.v, d);
}

/// Columns first..last-1 of the rows of h := H^H times them.
template <class R, int K>
void Chase<R, K>::apply_left(const Reflector<R, K>& h, Index row, Index first, Index last) noexcept {
  constexpr int NC = K == 1 ? 4 : 2;
  Index j = first;
  for (; j + NC <= last; j += NC) left_panel<NC>(h, row, j);
  for (; j < last; ++j) left_panel<1>(h, row, j);
}

/// A few columns of y = D v from the lower triangle of the diagonal block D: the columns times elements of v,
/// and the rows of the upper triangle by dot products. The columns form a full rectangle from their first
/// row: the elements above the diagonal are zeros of the padding, and the diagonal, which is added twice, is
/// subtracted once.
template <class R, int K>
template <int NC>
void Chase<R, K>::diagonal_product_panel(const Reflector<R, K>& h, Index row, Index j) noexcept {
  R* a[NC];
  R s[NC][K], d[NC][K];
  Companions<R, K> y, x;
  for (int k = 0; k < K; ++k) {
    y.part[k] = y_.part[k] + K * j;
    x.part[k] = h.v.part[k] + K * j;
  }
  for (int c = 0; c < NC; ++c) {
    a[c] = at(row + j, row + j + c);
    element(x.part[0] + K * c, false, false, s[c]);
  }
  combine_and_dot<R, K, NC>(K * (h.rows - j), a, s, y, x, d);
  for (int c = 0; c < NC; ++c) {
    const R diagonal = a[c][K * c];
    y.part[0][K * c] += d[c][0] - diagonal * s[c][0];
    if constexpr (K == 2) y.part[0][K * c + 1] -= d[c][1] + diagonal * s[c][1];
  }
}

/// A few columns of D -= v w^H + w v^H. The elements above the diagonal are padding, which is set to zero
/// again.
template <class R, int K>
template <int NC>
void Chase<R, K>::diagonal_update_panel(const Reflector<R, K>& h, Index row, Index j) noexcept {
  R* a[NC];
  R s[NC][K], t[NC][K];
  Companions<R, K> v, w;
  for (int k = 0; k < K; ++k) {
    v.part[k] = h.v.part[k] + K * j;
    w.part[k] = w_.part[k] + K * j;
  }
  for (int c = 0; c < NC; ++c) {
    a[c] = at(row + j, row + j + c);
    element(w.part[0] + K * c, true, true, s[c]);
    element(v.part[0] + K * c, true, true, t[c]);
  }
  update_twice<R, K, NC>(K * (h.rows - j), a, v, s, w, t);
  for (int c = 0; c < NC; ++c) {
    for (int i = 0; i < K * c; ++i) a[c][i] = R(0);
    if constexpr (K == 2) a[c][K * c + 1] = R(0);
  }
}

/// D := H^H D H for the diagonal block at `row`: x = tau D v, w = x - tau/2 (x^H v) v, D -= v w^H + w v^H
/// (hetd2).
template <class R, int K>
void Chase<R, K>::apply_diagonal(const Reflector<R, K>& h, Index row) noexcept {
  constexpr int NC = K == 1 ? 4 : 2;
  const Index rows = h.rows;
  for (int k = 0; k < K; ++k)
    for (Index i = 0; i < K * rows + lanes<R>; i += lanes<R>) store(y_.part[k] + i, Vector<R>{});
  Index j = 0;
  for (; j + NC <= rows; j += NC) diagonal_product_panel<NC>(h, row, j);
  for (; j < rows; ++j) diagonal_product_panel<1>(h, row, j);

  R dot[2] = {R(0), R(0)};  // x^H v
  const R* const v = h.v.part[0];
  R* const w = w_.part[0];
  for (Index i = 0; i < rows; ++i) {
    R x[K];
    if constexpr (K == 1) {
      x[0] = y_.part[0][i];
    } else {
      x[0] = y_.part[0][2 * i] - y_.part[1][2 * i + 1];
      x[1] = y_.part[0][2 * i + 1] + y_.part[1][2 * i];
    }
    multiply<R, K>(x, h.tau);
    for (int k = 0; k < K; ++k) w[K * i + k] = x[k];
  }
  if constexpr (K == 1) {
    store(w + rows, Vector<R>{});
    Vector<R> acc = {};
    for (Index i = 0; i < rows; i += lanes<R>) acc += load(w + i) * load(v + i);
    dot[0] = sum<R>(acc);
  } else {
    for (Index i = 0; i < rows; ++i) {
      dot[0] += w[2 * i] * v[2 * i] + w[2 * i + 1] * v[2 * i + 1];
      dot[1] += w[2 * i] * v[2 * i + 1] - w[2 * i + 1] * v[2 * i];
    }
  }
  R alpha[2] = {R(-0.5) * h.tau[0], K == 2 ? R(-0.5) * h.tau[K - 1] : R(0)};
  multiply<R, K>(alpha, dot);
  for (Index i = 0; i < rows; ++i) {
    R x[K];
    for (int k = 0; k < K; ++k) x[k] = v[K * i + k];
    multiply<R, K>(x, alpha);
    for (int k = 0; k < K; ++k) w[K * i + k] += x[k];
  }
  complete<R, K>(w_, rows);

  for (j = 0; j + NC <= rows; j += NC) diagonal_update_panel<NC>(h, row, j);
  for (; j < rows; ++j) diagonal_update_panel<1>(h, row, j);
}

/// w := tau B v for the block B below the diagonal block (`rows` rows from `row`, the columns of h from
/// `column`).
template <class R, int K>
void Chase<R, K>::block_product(const Reflector<R, K>& h, Index row, Index rows, Index column) noexcept {
  constexpr int NC = 4;
  for (int k = 0; k < K; ++k)
    for (Index i = 0; i < K * rows + lanes<R>; i += lanes<R>) store(y_.part[k] + i, Vector<R>{});
  const R* const v = h.v.part[0];
  Index j = 0;
  for (; j + NC <= h.rows; j += NC) {
    R* a[NC];
    R s[NC][K];
    for (int c = 0; c < NC; ++c) {
      a[c] = at(row, column + j + c);
      element(v + K * (j + c), false, false, s[c]);
    }
    combine_columns<R, K, NC>(K * rows, a, s, y_);
  }
  for (; j < h.rows; ++j) {
    R* a[1] = {at(row, column + j)};
    R s[1][K];
    element(v + K * j, false, false, s[0]);
    combine_columns<R, K, 1>(K * rows, a, s, y_);
  }
  for (Index i = 0; i < rows; ++i) {
    R x[K];
    if constexpr (K == 1) {
      x[0] = y_.part[0][i];
    } else {
      x[0] = y_.part[0][2 * i] - y_.part[1][2 * i + 1];
      x[1] = y_.part[0][2 * i + 1] + y_.part[1][2 * i];
    }
    multiply<R, K>(x, h.tau);
    for (int k = 0; k < K; ++k) w_.part[0][K * i + k] = x[k];
  }
  complete<R, K>(w_, rows);
}

template <class R, int K>
template <int NC>
void Chase<R, K>::right_panel(const Reflector<R, K>& h, Index row, Index rows, Index first,
                              Index j) noexcept {
  R* a[NC];
  R s[NC][K];
  for (int c = 0; c < NC; ++c) {
    a[c] = at(row, first + j + c);
    element(h.v.part[0] + K * (j + c), true, true, s[c]);
  }
  update_columns<R, K, NC>(K * rows, a, w_, s);
}

template <class R, int K>
template <int NC>
void Chase<R, K>::right_left_panel(const Reflector<R, K>& h, const Reflector<R, K>& g, Index row, Index first,
                                   Index j) noexcept {
  R* a[NC];
  R s[NC][K], d[NC][K];
  for (int c = 0; c < NC; ++c) {
    a[c] = at(row, first + j + c);
    element(h.v.part[0] + K * (j + c), true, true, s[c]);
  }
  update_and_dot<R, K, NC>(K * g.rows, a, w_, s, g.v, d);
  for (int c = 0; c < NC; ++c) left_scalar(g, d[c]);
  update_columns<R, K, NC>(K * g.rows, a, g.v, d);
}

/// B := B H.
template <class R, int K>
void Chase<R, K>::apply_right(const Reflector<R, K>& h, Index row, Index rows, Index column) noexcept {
  constexpr int NC = K == 1 ? 4 : 2;
  block_product(h, row, rows, column);
  right_panel<1>(h, row, rows, column, 0);
  Index j = 1;
  for (; j + NC <= h.rows; j += NC) right_panel<NC>(h, row, rows, column, j);
  for (; j < h.rows; ++j) right_panel<1>(h, row, rows, column, j);
}

/// B := B H, then generates g from B's first column and applies it from the left, in two passes over B
/// instead of four.
template <class R, int K>
void Chase<R, K>::apply_right_then_left(const Reflector<R, K>& h, Reflector<R, K>& g, Index row, Index rows,
                                        Index column) noexcept {
  constexpr int NC = K == 1 ? 4 : 2;
  block_product(h, row, rows, column);
  right_panel<1>(h, row, rows, column, 0);
  generate(row, column, rows, g);
  // Backwards: the end of B is still in the nearest cache.
  Index j = 1 + (h.rows - 1) / NC * NC;
  for (Index k = h.rows - 1; k >= j; --k) right_left_panel<1>(h, g, row, column, k);
  for (j -= NC; j >= 1; j -= NC) right_left_panel<NC>(h, g, row, column, j);
}

/// The hops of sweep s with source columns in [low, high).
template <class R, int K>
void Chase<R, K>::sweep(Index s, Index low, Index high, const Reflectors<Scalar>& keep) noexcept {
  Index hop = low <= s ? 0 : 1 + (low - s - 1 + b_ - 1) / b_;
  bool generated = false;
  for (Index row = s + 1 + hop * b_; row < n_; row += b_, ++hop) {
    const Index column = hop == 0 ? s : row - b_;
    if (column >= high) break;
    if (!generated) {
      generate(row, column, b_ < n_ - row ? b_ : n_ - row, current_);
      if (!current_.trivial()) apply_left(current_, row, column + 1, row);
    }
    generated = false;
    if (keep.data != nullptr) {
      R* const to = reinterpret_cast<R*>(keep.vector(s, hop));
      for (Index i = 0; i < K * current_.rows; ++i) to[i] = current_.v.part[0][i];
      for (Index i = K * current_.rows; i < K * b_; ++i) to[i] = R(0);
      for (int k = 0; k < K; ++k) to[K * b_ + k] = current_.tau[k];
    }
    if (current_.trivial()) continue;
    apply_diagonal(current_, row);
    const Index below = row + b_;
    if (below >= n_) continue;
    const Index rows = b_ < n_ - below ? b_ : n_ - below;
    if (row < high) {
      apply_right_then_left(current_, next_, below, rows, row);
      const Reflector<R, K> done = current_;
      current_ = next_;
      next_ = done;
      generated = true;
    } else {
      apply_right(current_, below, rows, row);
    }
  }
}

}  // namespace

template <class T>
void chase_tile(const BandView<T>& band, Index first_sweep, Index sweeps, Index column_begin,
                Index column_end, const Reflectors<T>& reflectors, RealOf<T>* workspace) noexcept {
  Chase<RealOf<T>, is_complex<T> ? 2 : 1> chase(band, workspace);
  for (Index j = 0; j < sweeps && first_sweep + j + 1 < band.n; ++j) {
    const Index shift = 2 * band.bandwidth * j;
    chase.sweep(first_sweep + j, column_begin - shift, column_end - shift, reflectors);
  }
}

#define TESSERA_INSTANTIATE(T)                                                                      \
  template void chase_tile<T>(const BandView<T>&, Index, Index, Index, Index, const Reflectors<T>&, \
                              RealOf<T>*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
