// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/dense/panel_tall_kernels.cuh>

/// Work on the b x b matrices of a panel, by one thread block that keeps a matrix in registers: thread
/// (tx, ty) of N x N holds the entries (ty + N r, tx + N c), r, c < E, of an (N E) x (N E) matrix, of which
/// the leading b x b part counts.
namespace tessera::panel_cuda {

/// 1 / x to the last bit or two, without the branches for subnormal numbers.
__device__ inline double fast_reciprocal(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  y = fma(y, fma(-x, y, 1.), y);
  return fma(y, fma(-x, y, 1.), y);
}
__device__ inline device::Complex<double> fast_reciprocal(device::Complex<double> x) {
  const double scale = fast_reciprocal(device::norm(x));
  return {x.re * scale, -x.im * scale};
}

/// A size class: b <= size.
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
      W row[2][size], col[2][size];
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
  /// strictly below the diagonal and U^-1 strictly above. Step k takes d = pivot(k, M_kk), hands (D U)_kj,
  /// j >= k, to keep_row(k, j, x) and L_ik, i > k, to keep_col(i, k, x), each called by the thread that holds
  /// the entry. The inverses are formed along with the factors, by the same update
  /// M_ij -= (M_ik / d) M_kj of all entries with i > k or j > k, where row and column k count as the unit
  /// vector's once their old values are published. Two steps at a time, with one synchronisation.
  template <class Pivot, class KeepRow, class KeepCol>
  __device__ static void eliminate(Entries& m, int b, Shared& shared, Pivot&& pivot, KeepRow&& keep_row,
                                   KeepCol&& keep_col) {
#pragma unroll
    for (int kr = 0; kr < e; ++kr) {
#pragma unroll 1
      for (int kk = 0; kk < n && kr * n + kk < b; kk += 2) {
        const int k = kr * n + kk;
        auto& published = shared.published[kk / 2 % 2];
        const bool row0 = ty() == kk, row1 = ty() == kk + 1, col0 = tx() == kk, col1 = tx() == kk + 1;
        if (row0 || row1) {
#pragma unroll
          for (int c = 0; c < e; ++c) {
            published.row[row1][col(c)] = m[kr][c];
            if (c > kr || (c == kr && tx() > ty())) m[kr][c] = W(0);
          }
        }
        if (col0 || col1) {
#pragma unroll
          for (int r = 0; r < e; ++r) {
            // The thread that holds (k, k + 1) has just cleared it.
            if (r != kr || !(row0 && col1)) published.col[col1][row(r)] = m[r][kr];
            if (r > kr || (r == kr && ty() > tx())) m[r][kr] = W(0);
          }
        }
        __syncthreads();
        const W corner = published.row[0][k + 1];
        const W d0 = pivot(k, published.row[0][k]), inverse0 = fast_reciprocal(d0);
        const W l = published.row[1][k] * inverse0;
        const W d1 = pivot(k + 1, published.row[1][k + 1] - l * corner), inverse1 = fast_reciprocal(d1);
        if (threadIdx.x == 0) {
          shared.pivot[k] = d0, shared.inverse_pivot[k] = inverse0;
          shared.pivot[k + 1] = d1, shared.inverse_pivot[k + 1] = inverse1;
        }
        // Row and column k; row and column k + 1 as step k leaves them.
        W left0[e], left1[e], right0[e], right1[e];
#pragma unroll
        for (int r = 0; r < e; ++r) {
          const W x0 = published.col[0][row(r)], x1 = published.col[1][row(r)];
          const bool here = r == kr;
          left0[r] = here && row0 ? inverse0 : x0 * inverse0;
          left1[r] = here && row0 ? -(inverse0 * corner) : x1 - left0[r] * corner;
          left1[r] = here && row1 ? inverse1 : left1[r] * inverse1;
          const W y0 = published.row[0][col(r)], y1 = published.row[1][col(r)];
          right0[r] = y0;
          right1[r] = here && col0 ? -l : y1 - l * y0;
        }
        if (row0 || row1) {
          const int i = k + row1;
#pragma unroll
          for (int c = kr; c < e; ++c)
            if (col(c) >= i && col(c) < b)
              keep_row(i, col(c), col(c) == i ? (row1 ? d1 : d0) : row1 ? right1[c] : right0[c]);
        }
        if (col0 || col1) {
          const int j = k + col1;
#pragma unroll
          for (int r = kr; r < e; ++r)
            if (row(r) > j && row(r) < b) keep_col(row(r), j, col1 ? left1[r] : left0[r]);
        }
        if (col0) right0[kr] = W(1);
        if (col1) right1[kr] = W(1);
#pragma unroll
        for (int r = 0; r < e; ++r)
#pragma unroll
          for (int c = 0; c < e; ++c) {
            // In row and column k + 1 beyond the diagonal, step k has been applied to what was published.
            const bool both = !(r == kr && row1 && (c > kr || (c == kr && tx() > kk + 1))) &&
                              !(c == kr && col1 && (r > kr || (r == kr && ty() > kk + 1)));
            const bool beyond = r > kr || c > kr;
            if (both && (beyond || (r == kr && ty() > kk) || (c == kr && tx() > kk)))
              m[r][c] -= left0[r] * right0[c];
            if (beyond || (r == kr && ty() > kk + 1) || (c == kr && tx() > kk + 1))
              m[r][c] -= left1[r] * right1[c];
          }
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

  /// Sum over the threads; the same in all.
  __device__ static double sum(double x, Shared& shared) {
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(~0u, x, distance);
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
/// and, in `m`, R^-1 on and above the diagonal, zeros below. @return a positive definite, finite matrix.
template <class M, class S, class W>
__device__ bool cholesky(W (&m)[M::e][M::e], int b, typename M::Shared& shared, S* r) {
  bool good = true;
  M::eliminate(
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
    // Each thread reads back what it has stored itself.
    r[i + j * b] = i <= j ? narrow<S>(widen(r[i + j * b]) * shared.sign[i]) : S(0);
    m[p][q] = i < j ? m[p][q] * shared.sign[j] : W(i == j ? shared.sign[j] : 0.);
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
  M::eliminate(
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

/// The thread block that is the last to come here gets true; what the others wrote before is visible to it.
__device__ inline bool last_block(int* counter) {
  __shared__ int last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(counter, 1) == static_cast<int>(gridDim.x) - 1;
  __syncthreads();
  __threadfence();
  return last;
}

}  // namespace tessera::panel_cuda
