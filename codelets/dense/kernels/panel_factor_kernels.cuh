// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/dense/kernels/panel_small_kernels.cuh>

/// The kernels in which one thread block factors small matrices. Each is the end of a reduction or stands
/// alone; S is the storage type, M a SmallMatrix that holds b x b.
namespace tessera::panel_cuda {

template <class M>
__device__ typename M::Shared& shared_of() {
  extern __shared__ double2 shared_memory[];
  return *reinterpret_cast<typename M::Shared*>(shared_memory);
}

/// gram := sum of the partial Gram matrices, by all thread blocks. @return true in the last.
template <class M, class W>
__device__ bool add_partials(const W* partials, int count, W* gram, int b, int* counter) {
  extern __shared__ double2 shared_memory[];
  int entry;
  W sum;
  if (sum_partials(partials, count, b, reinterpret_cast<W*>(shared_memory), entry, sum)) gram[entry] = sum;
  return last_block(counter);
}

/// First factorisation of a panel in one piece: sum of the partial Gram matrices, r1, the flag.
template <class S, class M>
__global__ void __launch_bounds__(M::threads)
    first_factor_kernel(const Wide<S>* partials, int count, Wide<S>* gram, int* counter, DeviceFactor<S> f) {
  if (!add_partials<M>(partials, count, gram, f.b, counter)) return;
  Wide<S> m[M::e][M::e];
  load_hermitian<M>(m, f.b, [&](int i, int j) { return gram[i + j * f.b]; });
  const bool good = cholesky<M, false>(m, f.b, shared_of<M>(), f.r1);
  if (threadIdx.x == 0) *f.fallback = !good;
}

/// r := r2 r1, and band := S r if `band`.
template <class S, class M>
__device__ void multiply_triangles(const DeviceFactor<S>& f, typename M::Shared& shared, bool band) {
  const int b = f.b;
  Wide<S> left[M::e][M::e], right[M::e][M::e], product[M::e][M::e];
  M::for_each([&](int r, int c, int i, int j) {
    const bool inside = i <= j && j < b;
    left[r][c] = inside ? widen(f.r2[i + j * b]) : Wide<S>(0);
    right[r][c] = inside ? widen(f.r1[i + j * b]) : Wide<S>(0);
  });
  M::template multiply<true, true>(
      product, shared, [&](int r, int c) { return left[r][c]; }, [&](int r, int c) { return right[r][c]; });
  M::for_each([&](int r, int c, int i, int j) {
    if (i >= b || j >= b) return;
    const S value = i <= j ? narrow<S>(product[r][c]) : S(0);
    f.r[i + j * b] = value;
    if (band) f.band[i + j * b] = value * Real<S>(shared.sign[i]);
  });
}

/// Within this distance of the second Gram matrix from I, the second Cholesky QR is orthogonal to working
/// precision.
inline constexpr double safe_distance = 0.1;

/// Second factorisation of a panel in one piece and everything that follows from the top of Q1 (`q1`, ld_q):
/// r2, r, v1, band, T; x := r2^-1 X, so that V is Q1 x below v1.
template <class S, class M>
__global__ void __launch_bounds__(M::threads)
    second_factor_kernel(const Wide<S>* partials, int count, Wide<S>* gram, int* counter, DeviceFactor<S> f,
                         const S* q1, long long ld_q, S* t, long long ld_t) {
  if (*f.fallback) return;
  const int b = f.b;
  if (!add_partials<M>(partials, count, gram, b, counter)) return;
  auto& shared = shared_of<M>();
  Wide<S> inverse[M::e][M::e], q[M::e][M::e];
  load_hermitian<M>(inverse, b, [&](int i, int j) { return gram[i + j * b]; });
  const double distance = distance_from_identity<M>(inverse, b, shared);
  // Written so that NaN fails.
  const bool good = cholesky<M, true>(inverse, b, shared, f.r2) && distance <= safe_distance;
  if (!good) {
    if (threadIdx.x == 0) *f.fallback = 1;
    return;
  }
  Wide<S> product[M::e][M::e];
  M::for_each([&](int r, int c, int i, int j) {
    product[r][c] = i < b && j < b ? widen(q1[i + j * ld_q]) : Wide<S>(0);
  });
  M::template multiply<false, true>(
      q, shared, [&](int r, int c) { return product[r][c]; }, [&](int r, int c) { return inverse[r][c]; });
  reconstruct<M>(q, f, shared, t, ld_t);
  M::template multiply<true, true>(
      product, shared, [&](int r, int c) { return inverse[r][c]; }, [&](int r, int c) { return q[r][c]; });
  M::for_each([&](int r, int c, int i, int j) {
    if (i < b && j < b) f.x[i + j * b] = i <= j ? narrow<S>(product[r][c]) : S(0);
  });
  multiply_triangles<S, M>(f, shared, true);
}

/// r1 and the flag from factor.work.
template <class S, class M>
__global__ void __launch_bounds__(M::threads) cholesky_kernel(DeviceFactor<S> f) {
  Wide<S> m[M::e][M::e];
  load_hermitian<M>(m, f.b, [&](int i, int j) { return widen(f.work[i + j * f.b]); });
  const bool good = cholesky<M, false>(m, f.b, shared_of<M>(), f.r1);
  if (threadIdx.x == 0) *f.fallback = !good;
}

/// r2, r and the flag from factor.work.
template <class S, class M>
__global__ void __launch_bounds__(M::threads) check_kernel(DeviceFactor<S> f) {
  if (*f.fallback) return;
  auto& shared = shared_of<M>();
  Wide<S> m[M::e][M::e];
  load_hermitian<M>(m, f.b, [&](int i, int j) { return widen(f.work[i + j * f.b]); });
  const double distance = distance_from_identity<M>(m, f.b, shared);
  const bool good = cholesky<M, false>(m, f.b, shared, f.r2) && distance <= safe_distance;
  if (!good) {
    if (threadIdx.x == 0) *f.fallback = 1;
    return;
  }
  multiply_triangles<S, M>(f, shared, false);
}

/// v1, x, T, band from the top of Q and factor.r.
template <class S, class M>
__global__ void __launch_bounds__(M::threads)
    reconstruct_kernel(const S* top, long long ld_q, DeviceFactor<S> f, S* t, long long ld_t) {
  const int b = f.b;
  auto& shared = shared_of<M>();
  Wide<S> q[M::e][M::e];
  M::for_each(
      [&](int r, int c, int i, int j) { q[r][c] = i < b && j < b ? widen(top[i + j * ld_q]) : Wide<S>(0); });
  reconstruct<M>(q, f, shared, t, ld_t);
  M::for_each([&](int r, int c, int i, int j) {
    if (i >= b || j >= b) return;
    f.x[i + j * b] = narrow<S>(q[r][c]);
    f.band[i + j * b] = f.r[i + j * b] * Real<S>(shared.sign[i]);
  });
}

}  // namespace tessera::panel_cuda
