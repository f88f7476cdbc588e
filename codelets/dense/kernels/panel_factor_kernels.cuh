// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/dense/kernels/small_matrix.cuh>

/// The kernels in which one thread block factors the b x b matrices of a panel. It keeps a matrix in
/// registers. S is the storage type, M a SmallMatrix that holds b x b; the matrix is the leading b x b part.
namespace tessera::detail::panel_cuda {

/// The pieces of PanelFactor<T> on the device, ld = b.
template <class S>
struct DeviceFactor {
  std::int32_t* fallback;
  S *r1, *r2, *r, *v1, *x, *band, *work;
  int b;
};

/// The thread's entries of a Hermitian matrix given by its upper triangle; the identity beyond b.
template <class M, class Load>
__device__ void load_hermitian(typename M::Entries& m, int b, Load&& load) {
  using W = M::Scalar;
  M::for_each([&](int r, int c, int i, int j) {
    const W x = i < b && j < b ? load(min(i, j), max(i, j)) : W(i == j ? 1 : 0);
    m[r][c] = i < j ? x : i == j ? W(device::real(x)) : device::conj(x);
  });
}

/// Cholesky factorisation of the Hermitian matrix in `m`, as L D L^H: R (S, ld = b, zeros below the diagonal)
/// and, if `inverse`, in `m` R^-1 on and above the diagonal, zeros below. @return the matrix is positive
/// definite and finite.
template <class M, bool inverse, class S>
__device__ bool cholesky(typename M::Entries& m, int b, typename M::Shared& shared, S* r) {
  using W = M::Scalar;
  M::template eliminate<inverse>(
      m, b, shared, [](int, W x) { return W(device::real(x)); },
      [&](int i, int j, W x, W d) { r[i + j * b] = narrow<S>(x * rsqrt(device::real(d))); },
      [](int, int, W) {});
  bool good = true;
  for (int k = threadIdx.x; k < b; k += M::threads) {
    const double d = device::real(shared.pivot[k]);
    good = d > 0 && isfinite(d);
    shared.sign[k] = rsqrt(d);
  }
  good = __syncthreads_and(good);
  M::for_each([&](int p, int q, int i, int j) {
    if (i >= b || j >= b) return;
    if (i > j) r[i + j * b] = S(0);
    if (inverse) m[p][q] = i < j ? m[p][q] * shared.sign[j] : W(i == j ? shared.sign[j] : 0.);
  });
  return good;
}

/// ||G - I||_F from the thread's entries of the whole Hermitian matrix.
template <class M>
__device__ double distance_from_identity(const typename M::Entries& m, int b, typename M::Shared& shared) {
  using W = M::Scalar;
  double sum = 0;
  M::for_each([&](int r, int c, int i, int j) {
    if (i < b && j < b) sum += device::norm(i == j ? m[r][c] - W(1) : m[r][c]);
  });
  return sqrt(M::sum(sum, shared));
}

/// kernels::reconstruct_householder. q: the thread's entries of Q's top, zeros beyond b; afterwards those of
/// X = U^-1, zeros below the diagonal. Leaves v1, t (ld_t) and the signs S.
template <class M, class S>
__device__ void reconstruct(typename M::Entries& q, const DeviceFactor<S>& f, typename M::Shared& shared,
                            S* t, long long ld_t) {
  using W = M::Scalar;
  const int b = f.b;
  // U lies in x until its inverse takes the place.
  M::template eliminate<true>(
      q, b, shared,
      [&](int k, W x) {
        const double sign = device::real(x) >= 0 ? -1. : 1.;
        if (threadIdx.x % 32 == 0) shared.sign[k] = sign;
        return x - W(sign);
      },
      [&](int i, int j, W x, W) { f.x[i + j * b] = narrow<S>(x); },
      [&](int i, int j, W x) { f.v1[i + j * b] = narrow<S>(x); });
  // T = -U S V1^-H; V1^-1 lies below the diagonal of q.
  typename M::Entries product;
  M::template multiply<true, true, true>(
      product, b, shared,
      [&](int, int, int i, int j) {
        return i <= j && j < b ? widen(f.x[i + j * b]) * -shared.sign[j] : W(0);
      },
      [&](int r, int c, int i, int j) { return i > j ? q[r][c] : W(i == j ? 1 : 0); });
  M::for_each([&](int r, int c, int i, int j) {
    if (i < b && j < b) {
      t[i + j * ld_t] = i <= j ? narrow<S>(product[r][c]) : S(0);
      if (i <= j) f.v1[i + j * b] = S(i == j ? 1 : 0);
      q[r][c] = i < j ? q[r][c] * shared.inverse_pivot[j] : i == j ? shared.inverse_pivot[j] : W(0);
    } else {
      q[r][c] = W(0);
    }
  });
}

/// True in the last thread block that calls it, which sees all that the others wrote before.
__device__ inline bool last_block(int* counter) {
  __shared__ int last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(counter, 1) == static_cast<int>(gridDim.x) - 1;
  __syncthreads();
  __threadfence();
  return last;
}

// ---- the kernels: each ends a reduction or stands alone ----

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
__global__ void __launch_bounds__(M::threads, 1)
    first_factor_kernel(const Wide<S>* partials, int count, Wide<S>* gram, int* counter, DeviceFactor<S> f) {
  if (!add_partials<M>(partials, count, gram, f.b, counter)) return;
  typename M::Entries m;
  load_hermitian<M>(m, f.b, [&](int i, int j) { return gram[i + j * f.b]; });
  const bool good = cholesky<M, false>(m, f.b, shared_of<M>(), f.r1);
  if (threadIdx.x == 0) *f.fallback = !good;
}

/// r := r2 r1, and band := S r if `band`.
template <class S, class M>
__device__ void multiply_triangles(const DeviceFactor<S>& f, typename M::Shared& shared, bool band) {
  const int b = f.b;
  const auto entries = [b](const S* r) {
    return [=](int, int, int i, int j) { return i <= j && j < b ? widen(r[i + j * b]) : Wide<S>(0); };
  };
  typename M::Entries product;
  M::template multiply<true, true>(product, b, shared, entries(f.r2), entries(f.r1));
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

/// Within this distance the square of G - I is below working precision.
template <class S>
inline constexpr double first_order_distance = sizeof(Real<S>) == 4 ? 2e-4 : 1e-8;

/// Cholesky factor r = I + U and, in `m`, its inverse I - U of the Hermitian matrix in `m`, which is within
/// first_order_distance of I: U is the strict upper triangle of m - I and half of its diagonal.
template <class M, class S>
__device__ void first_order_cholesky(typename M::Entries& m, int b, S* r) {
  using W = M::Scalar;
  M::for_each([&](int p, int q, int i, int j) {
    if (i >= b || j >= b) return;
    const W u = i < j ? m[p][q] : i == j ? (m[p][q] - W(1)) * W(0.5) : W(0), one(i == j ? 1. : 0.);
    r[i + j * b] = narrow<S>(one + u);
    m[p][q] = one - u;
  });
}

/// The second Cholesky factorisation where G, in `gram`, is not that near to I: r2, and r2^-1 in `gram`. It
/// is rare: a function of its own keeps it out of the way of the rest. @return as cholesky.
template <class S, class M>
__device__ __noinline__ bool second_cholesky(Wide<S>* gram, int b, S* r2) {
  typename M::Entries m;
  load_hermitian<M>(m, b, [&](int i, int j) { return gram[i + j * b]; });
  const bool good = cholesky<M, true>(m, b, shared_of<M>(), r2);
  M::for_each([&](int r, int c, int i, int j) {
    if (i < b && j < b) gram[i + j * b] = m[r][c];
  });
  return good;
}

/// Second factorisation of a panel in one piece and everything that follows from the top of Q1 (`q1`, ld_q):
/// r2, r, v1, band, T; x := r2^-1 X, so that V is Q1 x below v1.
template <class S, class M>
__global__ void __launch_bounds__(M::threads, 1)
    second_factor_kernel(const Wide<S>* partials, int count, Wide<S>* gram, int* counter, DeviceFactor<S> f,
                         const S* q1, long long ld_q, S* t, long long ld_t) {
  using W = Wide<S>;
  if (*f.fallback) return;
  const int b = f.b;
  if (!add_partials<M>(partials, count, gram, b, counter)) return;
  auto& shared = shared_of<M>();
  typename M::Entries q, inverse;
  load_hermitian<M>(inverse, b, [&](int i, int j) { return gram[i + j * b]; });
  const double distance = distance_from_identity<M>(inverse, b, shared);
  // r2^-1 waits in `gram`: registers are scarce in the elimination.
  const auto waiting = [=](int, int, int i, int j) { return i < b && j < b ? gram[i + j * b] : W(0); };
  if (distance <= first_order_distance<S>) {
    first_order_cholesky<M>(inverse, b, f.r2);
    M::for_each([&](int r, int c, int i, int j) {
      if (i < b && j < b) gram[i + j * b] = inverse[r][c];
    });
  } else if (distance <= safe_distance && second_cholesky<S, M>(gram, b, f.r2)) {
    M::for_each([&](int r, int c, int i, int j) { inverse[r][c] = waiting(r, c, i, j); });
  } else {  // or NaN
    if (threadIdx.x == 0) *f.fallback = 1;
    return;
  }
  M::template multiply<false, true>(
      q, b, shared, [&](int, int, int i, int j) { return i < b && j < b ? widen(q1[i + j * ld_q]) : W(0); },
      [&](int r, int c, int, int) { return inverse[r][c]; });
  reconstruct<M>(q, f, shared, t, ld_t);
  M::template multiply<true, true>(q, b, shared, waiting, [&](int r, int c, int, int) { return q[r][c]; });
  M::for_each([&](int r, int c, int i, int j) {
    if (i < b && j < b) f.x[i + j * b] = i <= j ? narrow<S>(q[r][c]) : S(0);
  });
  multiply_triangles<S, M>(f, shared, true);
}

/// r1 and the flag from factor.work.
template <class S, class M>
__global__ void __launch_bounds__(M::threads, 1) cholesky_kernel(DeviceFactor<S> f) {
  typename M::Entries m;
  load_hermitian<M>(m, f.b, [&](int i, int j) { return widen(f.work[i + j * f.b]); });
  const bool good = cholesky<M, false>(m, f.b, shared_of<M>(), f.r1);
  if (threadIdx.x == 0) *f.fallback = !good;
}

/// r2, r and the flag from factor.work.
template <class S, class M>
__global__ void __launch_bounds__(M::threads, 1) check_kernel(DeviceFactor<S> f) {
  if (*f.fallback) return;
  auto& shared = shared_of<M>();
  typename M::Entries m;
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
__global__ void __launch_bounds__(M::threads, 1)
    reconstruct_kernel(const S* top, long long ld_q, DeviceFactor<S> f, S* t, long long ld_t) {
  const int b = f.b;
  auto& shared = shared_of<M>();
  typename M::Entries q;
  M::for_each(
      [&](int r, int c, int i, int j) { q[r][c] = i < b && j < b ? widen(top[i + j * ld_q]) : Wide<S>(0); });
  reconstruct<M>(q, f, shared, t, ld_t);
  M::for_each([&](int r, int c, int i, int j) {
    if (i >= b || j >= b) return;
    f.x[i + j * b] = narrow<S>(q[r][c]);
    f.band[i + j * b] = f.r[i + j * b] * Real<S>(shared.sign[i]);
  });
}

}  // namespace tessera::detail::panel_cuda
