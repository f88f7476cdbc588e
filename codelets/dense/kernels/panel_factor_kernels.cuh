// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/codelets/dense/kernels/panel_tall_kernels.cuh>

/// The kernels in which one thread block factors the b x b matrices of a panel. It keeps a matrix in
/// registers: thread (tx, ty) of N x N holds the entries (ty + N r, tx + N c), r, c < E, of an (N E) x (N E)
/// matrix, whose leading b x b part is the matrix. S is the storage type, M a SmallMatrix that holds b x b.
namespace tessera::detail::panel_cuda {

using device::fast_reciprocal;

/// A class of matrices with b <= size.
template <class W, int size, int side>
struct SmallMatrix {
  static constexpr int n = side;         ///< threads in each direction
  static constexpr int e = size / side;  ///< entries of a thread in each direction
  static constexpr int threads = side * side;
  static constexpr int pitch = size + 1;
  using Entries = W[e][e];

  /// Shared memory.
  struct Shared {
    struct {
      W row[size], col[size];
      W next;  ///< the next entry on the diagonal
    } published[2];
    W pivot[size], inverse_pivot[size];
    double sign[size];  ///< signs, or other real factors of rows
    double sums[threads / 32];
    W left[side * pitch], right[side * size];
  };
  __device__ static int tx() { return threadIdx.x % side; }
  __device__ static int ty() { return threadIdx.x / side; }
  __device__ static int row(int r) { return ty() + side * r; }
  __device__ static int col(int c) { return tx() + side * c; }

  template <class F>
  __device__ static void for_each(F&& f) {
#pragma unroll
    for (int r = 0; r < e; ++r)
#pragma unroll
      for (int c = 0; c < e; ++c) f(r, c, row(r), col(c));
  }

  /// Elimination without row exchanges, M = L D U with unit triangles, in place: afterwards M holds L^-1
  /// strictly below the diagonal and U^-1 strictly above. Step k takes d = pivot(k, M_kk) and passes (D
  /// U)_kj, j >= k, to keep_row(k, j, x) and L_ik, i > k, to keep_col(i, k, x); the thread that holds the
  /// entry calls them (and, with other values, for some entries of the other triangle). The same update M_ij
  /// -= (M_ik / d) M_kj of all entries with i > k or j > k forms the inverses along with the factors; row and
  /// column k count as those of the unit vector once their old values are published. Each step synchronises
  /// once and inverts the next pivot before. If `inverses` is false, M is Hermitian, and only its upper
  /// triangle is updated.
  template <bool inverses, class Pivot, class KeepRow, class KeepCol>
  __device__ static void eliminate(Entries& m, int b, Shared& shared, Pivot&& pivot, KeepRow&& keep_row,
                                   KeepCol&& keep_col) {
    W d, inverse;
#pragma unroll
    for (int kr = 0; kr < e; ++kr) {
#pragma unroll 1
      for (int kk = 0; kk < n && kr * n + kk < b; ++kk) {
        const int k = kr * n + kk;
        auto& published = shared.published[k & 1];
        if (ty() == kk) {
#pragma unroll
          for (int c = inverses ? 0 : kr; c < e; ++c) {
            published.row[col(c)] = m[kr][c];
            if (inverses && (c > kr || (c == kr && tx() > kk))) m[kr][c] = W(0);
          }
        }
        if (inverses && tx() == kk) {
#pragma unroll
          for (int r = 0; r < e; ++r) {
            published.col[row(r)] = m[r][kr];
            if (r > kr || (r == kr && ty() > kk)) m[r][kr] = W(0);
          }
        }
        if (kk + 1 < n ? tx() == kk + 1 && ty() == kk + 1 : tx() == 0 && ty() == 0)
          published.next = kk + 1 < n ? m[kr][kr] : m[kr + 1 < e ? kr + 1 : kr][kr + 1 < e ? kr + 1 : kr];
        __syncthreads();
        if (k == 0) {
          d = pivot(0, published.row[0]);
          inverse = fast_reciprocal(d);
        }
        W multiplier[e], entry[e];
#pragma unroll
        for (int r = inverses ? 0 : kr; r < e; ++r) {
          entry[r] = published.row[col(r)];
          const W x = inverses ? published.col[row(r)] : device::conj(published.row[row(r)]);
          multiplier[r] = r == kr && ty() == kk ? inverse : x * inverse;
        }
        if (threadIdx.x == 0) shared.pivot[k] = d, shared.inverse_pivot[k] = inverse;
        W next_d = d, next_inverse = inverse;
        if (k + 1 < b) {
          const W corner = published.row[k + 1],
                  left = inverses ? published.col[k + 1] : device::conj(published.row[k + 1]);
          next_d = pivot(k + 1, published.next - left * inverse * corner);
          next_inverse = fast_reciprocal(next_d);
        }
        if (ty() == kk) {
#pragma unroll
          for (int c = kr; c < e; ++c)
            if (col(c) < b) keep_row(k, col(c), col(c) == k ? d : entry[c]);
        }
        if (inverses && tx() == kk) {
          entry[kr] = W(1);
#pragma unroll
          for (int r = kr; r < e; ++r)
            if (row(r) < b) keep_col(row(r), k, multiplier[r]);
        }
#pragma unroll
        for (int r = inverses ? 0 : kr; r < e; ++r)
#pragma unroll
          for (int c = inverses ? 0 : r; c < e; ++c) {
            if (inverses ? r > kr || c > kr : r > kr)
              m[r][c] -= multiplier[r] * entry[c];
            else if (inverses ? (r == kr && ty() > kk) || (c == kr && tx() > kk) : ty() > kk)
              m[r][c] -= multiplier[r] * entry[c];
          }
        d = next_d, inverse = next_inverse;
      }
    }
    __syncthreads();
  }

  /// product := A B. load_left(r, c), load_right(r, c) give the thread's own entries of A and B;
  /// `upper_left`, `upper_right`: the matrix is upper triangular (its other entries are zero all the same).
  template <bool upper_left, bool upper_right, class Left, class Right>
  __device__ static void multiply(Entries& product, Shared& shared, Left&& load_left, Right&& load_right) {
#pragma unroll
    for (int r = 0; r < e; ++r)
#pragma unroll
      for (int c = 0; c < e; ++c) product[r][c] = W(0);
#pragma unroll
    for (int k = 0; k < e; ++k) {
      __syncthreads();
#pragma unroll
      for (int r = 0; r < e; ++r) {
        shared.left[tx() * pitch + row(r)] = load_left(r, k);
        shared.right[ty() * size + col(r)] = load_right(k, r);
      }
      __syncthreads();
#pragma unroll 2
      for (int kk = 0; kk < n; ++kk) {
        W right[e];
#pragma unroll
        for (int c = 0; c < e; ++c) right[c] = shared.right[kk * size + col(c)];
#pragma unroll
        for (int r = 0; r < e; ++r) {
          if (upper_left && r > k) continue;
          const W left = shared.left[kk * pitch + row(r)];
#pragma unroll
          for (int c = 0; c < e; ++c)
            if (!upper_right || c >= k) product[r][c] += left * right[c];
        }
      }
    }
    __syncthreads();
  }

  /// The sum over the threads, in all of them.
  __device__ static double sum(double x, Shared& shared) {
    x = device::warp_sum(x);
    if (threadIdx.x % 32 == 0) shared.sums[threadIdx.x / 32] = x;
    __syncthreads();
    double total = 0;
    for (int w = 0; w < threads / 32; ++w) total += shared.sums[w];
    __syncthreads();
    return total;
  }
};

/// The pieces of PanelFactor<T> on the device, ld = b.
template <class S>
struct DeviceFactor {
  std::int32_t* fallback;
  S *r1, *r2, *r, *v1, *x, *band, *work;
  int b;
};

/// The thread's entries of a Hermitian matrix given by its upper triangle; the identity beyond b.
template <class M, class W, class Load>
__device__ void load_hermitian(W (&m)[M::e][M::e], int b, Load&& load) {
  M::for_each([&](int r, int c, int i, int j) {
    if (i >= b || j >= b)
      m[r][c] = W(i == j ? 1 : 0);
    else
      m[r][c] = i < j ? load(i, j) : i == j ? W(device::real(load(i, i))) : device::conj(load(j, i));
  });
}

/// Cholesky factorisation of the Hermitian matrix in `m`, as L D L^H: R (S, ld = b, zeros below the diagonal)
/// and, if `inverse`, in `m` R^-1 on and above the diagonal, zeros below. @return the matrix is positive
/// definite and finite.
template <class M, bool inverse, class S, class W>
__device__ bool cholesky(W (&m)[M::e][M::e], int b, typename M::Shared& shared, S* r) {
  bool good = true;
  M::template eliminate<inverse>(
      m, b, shared,
      [&](int, W x) {
        const double d = device::real(x);
        good = good && d > 0 && isfinite(d);
        return W(d);
      },
      [&](int i, int j, W x) { r[i + j * b] = narrow<S>(x); }, [](int, int, W) {});
  for (int k = threadIdx.x; k < b; k += M::threads) shared.sign[k] = rsqrt(device::real(shared.pivot[k]));
  __syncthreads();
  M::for_each([&](int p, int q, int i, int j) {
    if (i >= b || j >= b) return;
    // Each thread reads what it has stored itself.
    r[i + j * b] = i <= j ? narrow<S>(widen(r[i + j * b]) * shared.sign[i]) : S(0);
    if (inverse) m[p][q] = i < j ? m[p][q] * shared.sign[j] : W(i == j ? shared.sign[j] : 0.);
  });
  __syncthreads();
  return good;
}

/// ||G - I||_F from the thread's entries of the whole Hermitian matrix.
template <class M, class W>
__device__ double distance_from_identity(const W (&m)[M::e][M::e], int b, typename M::Shared& shared) {
  double sum = 0;
  M::for_each([&](int r, int c, int i, int j) {
    if (i < b && j < b) sum += device::norm(i == j ? m[r][c] - W(1) : m[r][c]);
  });
  return sqrt(M::sum(sum, shared));
}

/// kernels::reconstruct_householder. q: the thread's entries of Q's top; afterwards those of X = U^-1, zeros
/// below the diagonal. Leaves v1, t (ld_t) and the signs S.
template <class M, class S, class W>
__device__ void reconstruct(W (&q)[M::e][M::e], const DeviceFactor<S>& f, typename M::Shared& shared, S* t,
                            long long ld_t) {
  const int b = f.b;
  M::for_each([&](int r, int c, int i, int j) {
    if (i >= b || j >= b) q[r][c] = W(0);
  });
  // U lies in x until its inverse takes the place.
  M::template eliminate<true>(
      q, b, shared,
      [&](int k, W x) {
        const double sign = device::real(x) >= 0 ? -1. : 1.;
        if (threadIdx.x == 0) shared.sign[k] = sign;
        return x - W(sign);
      },
      [&](int i, int j, W x) { f.x[i + j * b] = narrow<S>(x); },
      [&](int i, int j, W x) { f.v1[i + j * b] = narrow<S>(x); });
  // T = -U S V1^-H; V1^-H is the adjoint of what lies below the diagonal of q.
  W product[M::e][M::e];
  {
    W inverse_adjoint[M::e][M::e];
#pragma unroll
    for (int p = 0; p < M::e; ++p) {
      // Transposition of a block row through shared memory.
#pragma unroll
      for (int c = 0; c < M::e; ++c) shared.left[M::tx() * M::pitch + M::row(c)] = q[c][p];
      __syncthreads();
#pragma unroll
      for (int c = 0; c < M::e; ++c)
        inverse_adjoint[p][c] = device::conj(shared.left[M::ty() * M::pitch + M::col(c)]);
      __syncthreads();
    }
    W u[M::e][M::e];
    M::for_each([&](int r, int c, int i, int j) {
      u[r][c] = i <= j && j < b ? widen(f.x[i + j * b]) * -shared.sign[j] : W(0);
    });
    M::template multiply<true, true>(
        product, shared, [&](int r, int c) { return u[r][c]; },
        [&](int r, int c) {
          const int i = M::row(r), j = M::col(c);
          return i < j ? inverse_adjoint[r][c] : W(i == j ? 1 : 0);
        });
  }
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

/// Within this distance the square of G - I is below working precision.
template <class S>
inline constexpr double first_order_distance = sizeof(Real<S>) == 4 ? 2e-4 : 1e-8;

/// Cholesky factor r = I + U and, in `m`, its inverse I - U of the Hermitian matrix in `m`, which is within
/// first_order_distance of I: U is the strict upper triangle of m - I and half of its diagonal.
template <class M, class S, class W>
__device__ void first_order_cholesky(W (&m)[M::e][M::e], int b, S* r) {
  M::for_each([&](int p, int q, int i, int j) {
    if (i >= b || j >= b) return;
    const W u = i < j ? m[p][q] : i == j ? (m[p][q] - W(1)) * W(0.5) : W(0), one(i == j ? 1. : 0.);
    r[i + j * b] = narrow<S>(one + u);
    m[p][q] = one - u;
  });
}

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
  if (distance <= first_order_distance<S>) {
    first_order_cholesky<M>(inverse, b, f.r2);
  } else if (!(cholesky<M, true>(inverse, b, shared, f.r2) && distance <= safe_distance)) {  // or NaN
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

}  // namespace tessera::detail::panel_cuda
