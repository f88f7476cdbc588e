// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/batch/kernels/batch_parts.cuh>

/// What several kernels of the reduction to tridiagonal form do. A team of threads has a matrix: a thread
/// block, or half a warp (width 16) for orders up to 16. It is made of rows of `width` lanes.
namespace tessera::detail::kernels::batch {

/// Where a thread is in its team.
template <int width>
struct Team {
  int thread, threads, lane, row, rows;
  __device__ Team()
      : thread(width < 32 ? threadIdx.x % width : threadIdx.x),
        threads(width < 32 ? width : blockDim.x),
        lane(threadIdx.x % width),
        row(width < 32 ? 0 : threadIdx.x / 32),
        rows(width < 32 ? 1 : blockDim.x / 32) {}
};

/// 1 / x to about one unit in the last place, for normal x.
__device__ inline double reciprocal(double x) {
  return fast_reciprocal(x);
}
__device__ inline float reciprocal(float x) {
  return 1 / x;
}

template <int width, class S>
__device__ S row_sum(S x) {
  for (int mask = width / 2; mask > 0; mask /= 2) x += exchange(x, mask);
  return x;
}

template <class S>
__device__ Real<S> largest_part(S x) {
  return fmax(fabs(real(x)), fabs(imag(x)));
}

/// Squares below this have lost digits to underflow; numbers of that size do not matter beside a matrix of size one.
template <class R>
inline constexpr R smallest_square = sizeof(R) == 8 ? R(1e-280) : R(1e-31);

/// What the threads of a team tell each other.
template <class R>
struct ReductionShared {
  R largest[32];
  int first_bad;
};

/// Sums of four numbers over a row: a lane gets that of number lane / (width / 4); of two, lane / (width / 2).
template <int width, class S>
__device__ S row_sums(const S (&sum)[4]) {
  const bool high = threadIdx.x & (width / 2), odd = threadIdx.x & (width / 4);
  S a = high ? sum[2] : sum[0], b = high ? sum[3] : sum[1];
  a += exchange(high ? sum[0] : sum[2], width / 2);
  b += exchange(high ? sum[1] : sum[3], width / 2);
  S one = odd ? b : a;
  one += exchange(odd ? a : b, width / 4);
  return row_sum<width / 4>(one);
}
template <int width, class S>
__device__ S row_sums(const S (&sum)[2]) {
  const bool high = threadIdx.x & (width / 2);
  S one = high ? sum[1] : sum[0];
  one += exchange(high ? sum[0] : sum[1], width / 2);
  return row_sum<width / 2>(one);
}

/// Both triangles of A to `to`, scaled by a power of two so that the largest part lies in [1/2, 1). Returns the
/// exponent; zeros if A is not finite (shared.first_bad < n then). All threads of the block call it.
template <int width, class S>
__device__ int load_scaled(const Reduction<S>& reduction, const S* a, S* to, Index ld,
                           ReductionShared<Real<S>>& shared) {
  using R = Real<S>;
  const Team<width> team;
  const int n = reduction.n;
  if (team.thread == 0) shared.first_bad = n;
  __syncthreads();
  R largest = 0;
  int bad = n;
  for (int c = team.row; c < n; c += team.rows) {
    const int begin = reduction.upper ? 0 : c, end = reduction.upper ? c + 1 : n;
    for (int r = begin + team.lane; r < end; r += width) {
      S x = a[r + c * reduction.lda];
      if (r == c) x = S(real(x));
      if (!finite(x)) bad = min(bad, c);
      largest = fmax(largest, largest_part(x));
      to[r + c * ld] = x;
      if (r != c) to[c + r * ld] = conj(x);
    }
  }
  if (bad < n) atomicMin(&shared.first_bad, bad);
  for (int mask = width / 2; mask > 0; mask /= 2) largest = fmax(largest, exchange(largest, mask));
  if (team.lane == 0) shared.largest[team.row] = largest;
  __syncthreads();
  for (int i = 0; i < team.rows; ++i) largest = fmax(largest, shared.largest[i]);
  const bool good = shared.first_bad == n;
  int power = 0;
  if (good && largest > 0) frexp(largest, &power);
  // In two steps, since 2^-power alone may be no number.
  const R half = good ? ldexp(R(1), -(power / 2)) : R(0),
          rest = good ? ldexp(R(1), -(power - power / 2)) : R(0);
  for (int c = team.row; c < n; c += team.rows)
    for (int r = team.lane; r < n; r += width) to[r + c * ld] = good ? half * to[r + c * ld] * rest : S(0);
  __syncthreads();
  return power;
}

/// H = I - tau v v^H, v = (1, x scale), takes (alpha, x) to (beta, 0).
template <class S>
struct Reflector {
  S tau = 0, scale = 0;
  Real<S> beta = 0;
  /// @param square of the length of x
  __device__ Reflector(S alpha, Real<S> square) {
    using R = Real<S>;
    const R total = square + norm(alpha);
    if (square == 0 && imag(alpha) == 0) {
      beta = real(alpha);
    } else if (total >= smallest_square<R>) {
      const R inverse = real(alpha) > 0 ? -reciprocal_root(total) : reciprocal_root(total),
              b = total * inverse;
      tau = (S(b) - alpha) * inverse;
      const S difference = alpha - S(b);
      if constexpr (is_complex_scalar<S>)
        scale = conj(difference) * reciprocal(norm(difference));
      else
        scale = reciprocal(difference);
      beta = b;
    }
  }
};

/// The reflector of column x of rows [first, n): v, from row `first` on; returns tau, and the entry that remains in
/// *beta. One row of a team.
template <int width, class S>
__device__ S make_reflector(int first, int n, const S* x, S* v, Real<S>* beta) {
  const int lane = threadIdx.x % width;
  Real<S> square = 0;
  for (int r = first + 1 + lane; r < n; r += width) square += norm(x[r]);
  const Reflector<S> reflector(x[first], row_sum<width>(square));
  *beta = reflector.beta;
  for (int r = first + 1 + lane; r < n; r += width) v[r] = x[r] * reflector.scale;
  if (lane == 0) v[first] = 1;
  return reflector.tau;
}

}  // namespace tessera::detail::kernels::batch
